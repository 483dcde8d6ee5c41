#include "manifest/utf8.h"

#include <gtest/gtest.h>

namespace capstan::manifest {
namespace {

TEST(Utf8Length, CountsTheBytesOfACharacter) {
  EXPECT_EQ(utf8_length("ä"), 2u);
  EXPECT_EQ(utf8_length("€ and more"), 3u);
  EXPECT_EQ(utf8_length("🚀"), 4u);
  EXPECT_EQ(utf8_length("\xc2\x85"), 2u) << "NEL, a line break that YAML allows";
}

TEST(Utf8Length, IsNothingForWhatYamlForbids) {
  EXPECT_EQ(utf8_length("\x80"), 0u) << "begins in the middle";
  EXPECT_EQ(utf8_length("\xc3"), 0u) << "ends in the middle";
  EXPECT_EQ(utf8_length("\xc3("), 0u) << "goes on with another character";
  EXPECT_EQ(utf8_length("\xc0\x80"), 0u) << "NUL in two bytes";
  EXPECT_EQ(utf8_length("\xe0\x80\x80"), 0u) << "in three";
  EXPECT_EQ(utf8_length("\xf0\x80\x80\x80"), 0u) << "in four";
  EXPECT_EQ(utf8_length("\xed\xa0\x80"), 0u) << "half of a surrogate pair";
  EXPECT_EQ(utf8_length("\xf4\x90\x80\x80"), 0u) << "beyond the last code";
  EXPECT_EQ(utf8_length("\xc2\x80"), 0u) << "a control character";
}

}  // namespace
}  // namespace capstan::manifest
