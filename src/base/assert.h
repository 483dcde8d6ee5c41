#pragma once

namespace capstan {

/// Prints the broken invariant and aborts. It is not inline, so that the failing path does not prevent inlining of
/// callers.
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);

}  // namespace capstan

/// Checks an invariant of Capstan itself, never an input. It stays in release builds.
#define CAPSTAN_ASSERT(condition) \
  (static_cast<bool>(condition) ? void(0) : ::capstan::assertion_failed(#condition, __FILE__, __LINE__))
