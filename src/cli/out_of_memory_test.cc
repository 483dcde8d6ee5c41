#include "cli/out_of_memory.h"

#include <gtest/gtest.h>

#include <limits>
#include <new>
#include <thread>

namespace capstan::cli {
namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

/// Asks for more memory than any machine has, in a function that may not throw.
void ask_for_everything() noexcept {
  end_when_out_of_memory();
  volatile std::size_t everything = std::numeric_limits<std::size_t>::max() / 4;
  ::operator delete(::operator new(everything));
}

constexpr const char* kOneLine =
    "^capstan: out of memory, expected more memory, a smaller input or fewer jobs at once\n$";

TEST(OutOfMemoryDeathTest, EndsWithOneLineInAnyThread) {
  if (kSanitized) GTEST_SKIP() << "the address sanitizer ends the program itself when memory runs out";
  EXPECT_EXIT(ask_for_everything(), ::testing::ExitedWithCode(1), kOneLine);
  EXPECT_EXIT(std::jthread(ask_for_everything).join(), ::testing::ExitedWithCode(1), kOneLine);
}

}  // namespace
}  // namespace capstan::cli
