#include "base/assert.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "base/assertion_message.h"

namespace capstan {
namespace {

std::atomic<void (*)()> before_message = nullptr;

}  // namespace

void set_assertion_hook(void (*function)()) { before_message = function; }

void assertion_failed(const char* expression, const char* file, int line) {
  if (void (*const function)() = before_message) function();
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, expression);
  std::abort();
}

}  // namespace capstan
