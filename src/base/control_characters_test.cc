#include "base/control_characters.h"

#include <gtest/gtest.h>

namespace capstan {
namespace {

TEST(ControlCharacters, IncludeInvisibleFormattingOfALine) {
  for (const char* shown : {"a", " ", "ä", "–", "▶", "\u2027", "\u2030", "日", "\x80"}) {
    EXPECT_EQ(control_length(shown), 0u) << shown;
  }
  for (const char* control : {"\x1b[31m", "\n", "\x7f"}) EXPECT_EQ(control_length(control), 1u);
  for (const char* two : {"\u009b31m", "\u0085", "\u061c"}) EXPECT_EQ(control_length(two), 2u);
  for (const char* formatting : {"\u200b", "\u200e", "\u202a", "\u202ex", "\u2066", "\ufeff"}) {
    EXPECT_EQ(control_length(formatting), 3u);
  }
}

}  // namespace
}  // namespace capstan
