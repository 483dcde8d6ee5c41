#include "base/ascii.h"

#include <gtest/gtest.h>

namespace capstan {
namespace {

TEST(AsciiLower, ChangesOnlyAsciiLetters) {
  EXPECT_EQ(ascii_lower('A'), 'a');
  EXPECT_EQ(ascii_lower('Z'), 'z');
  for (const char c : {'a', 'z', '0', '@', '[', ' ', '\xc4', '\0'}) EXPECT_EQ(ascii_lower(c), c);
}

}  // namespace
}  // namespace capstan
