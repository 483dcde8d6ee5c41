#pragma once

namespace capstan {

/// Prints the broken invariant and aborts. Out of line, so that the failing path never blocks inlining.
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);

}  // namespace capstan

/// A broken invariant of ours, never a user's mistake. Stays in release builds.
#define CAPSTAN_ASSERT(condition) \
  (static_cast<bool>(condition) ? void(0) : ::capstan::assertion_failed(#condition, __FILE__, __LINE__))
