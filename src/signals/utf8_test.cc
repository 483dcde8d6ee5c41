#include "signals/utf8.h"

#include <gtest/gtest.h>

namespace capstan::signals {
namespace {

TEST(Utf8, AcceptsValidUtf8) {
  for (const char* text : {"", "plain", "\xc3\xa9", "\xe2\x82\xac", "\xed\x9f\xbf", "\xee\x80\x80", "\xf0\x90\x80\x80",
                           "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
}

TEST(Utf8, RefusesInvalidUtf8) {
  const struct {
    const char* text;
    const char* why;
  } rows[] = {{"\xff", "not a lead byte"},
              {"\x80", "a continuation byte without a lead byte"},
              {"\xc3", "cut off"},
              {"\xc0\x80", "overlong NUL"},
              {"\xe0\x9f\xbf", "overlong"},
              {"\xed\xa0\x80", "a surrogate"},
              {"\xe2\x82", "cut off"},
              {"\xf4\x90\x80\x80", "beyond U+10FFFF"},
              {"\xf0\x8f\xbf\xbf", "overlong"},
              {"\xf0\x90\x80z", "cut off"},
              {"\xf5\x80\x80\x80", "not a lead byte"}};
  for (const auto& row : rows) EXPECT_FALSE(is_utf8(row.text)) << row.why;
}

}  // namespace
}  // namespace capstan::signals
