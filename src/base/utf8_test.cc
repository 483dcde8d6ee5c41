#include "base/utf8.h"

#include <gtest/gtest.h>

namespace capstan {
namespace {

TEST(Utf8, EachLengthHasItsLowestAndHighestCharacter) {
  const struct {
    std::uint32_t code;
    std::string bytes;
  } rows[] = {{0x41, "A"},
              {0x7f, "\x7f"},
              {0x80, "\xc2\x80"},
              {0x7ff, "\xdf\xbf"},
              {0x800, "\xe0\xa0\x80"},
              {0xffff, "\xef\xbf\xbf"},
              {0x10000, "\xf0\x90\x80\x80"},
              {0x10ffff, "\xf4\x8f\xbf\xbf"}};
  for (const auto& row : rows) {
    std::string out;
    append_utf8(out, row.code);
    EXPECT_EQ(out, row.bytes) << row.code;
  }
}

}  // namespace
}  // namespace capstan
