#include "cli/terminal.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace capstan::cli {
namespace {

TEST(Terminal, ColoursCanBeTurnedOff) {
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(wants_color());
  unsetenv("NO_COLOR");
  EXPECT_TRUE(output_is_terminal() || !wants_color());
}

TEST(Terminal, TimeGoesOn) {
  const Stopwatch watch;
  const Duration first = watch.elapsed();
  EXPECT_GE(watch.elapsed(), first);
}

}  // namespace
}  // namespace capstan::cli
