#include "base/trimmed.h"

#include <gtest/gtest.h>

namespace capstan {
namespace {

TEST(Trimmed, OnlyTheEndsLoseCharacters) {
  EXPECT_EQ(trimmed("\t a b \t"), "a b");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(" \t "), "");
  EXPECT_EQ(trimmed(""), "");
  EXPECT_EQ(trimmed("\ta\r\n"), "a\r\n");
  EXPECT_EQ(trimmed("\ta\r\n", "\r\n"), "\ta");
}

}  // namespace
}  // namespace capstan
