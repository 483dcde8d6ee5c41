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

TEST(Utf8Length, IsZeroForCharactersThatYamlForbids) {
  EXPECT_EQ(utf8_length("\x80"), 0u) << "starts with a continuation byte";
  EXPECT_EQ(utf8_length("\xc3"), 0u) << "cut off";
  EXPECT_EQ(utf8_length("\xc3("), 0u) << "the second byte is not a continuation byte";
  EXPECT_EQ(utf8_length("\xc0\x80"), 0u) << "overlong NUL in two bytes";
  EXPECT_EQ(utf8_length("\xe0\x80\x80"), 0u) << "overlong NUL in three bytes";
  EXPECT_EQ(utf8_length("\xf0\x80\x80\x80"), 0u) << "overlong NUL in four bytes";
  EXPECT_EQ(utf8_length("\xed\xa0\x80"), 0u) << "half of a surrogate pair";
  EXPECT_EQ(utf8_length("\xf4\x90\x80\x80"), 0u) << "beyond the last code";
  EXPECT_EQ(utf8_length("\xc2\x80"), 0u) << "a control character";
}

}  // namespace
}  // namespace capstan::manifest
