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

TEST(Terminal, TheFirstSetLocaleVariableDecidesTheCharacterSet) {
  setenv("LC_ALL", "", 1);
  setenv("LC_CTYPE", "de_DE.utf8", 1);
  setenv("LANG", "C", 1);
  EXPECT_TRUE(locale_is_utf8());
  setenv("LC_ALL", "POSIX", 1);
  EXPECT_FALSE(locale_is_utf8());
  setenv("LC_ALL", "C.UTF-8", 1);
  EXPECT_TRUE(locale_is_utf8());
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) unsetenv(variable);
  EXPECT_FALSE(locale_is_utf8());
}

TEST(Terminal, TheStopwatchAdvances) {
  const Stopwatch watch;
  const Duration first = watch.elapsed();
  EXPECT_GE(watch.elapsed(), first);
}

}  // namespace
}  // namespace capstan::cli
