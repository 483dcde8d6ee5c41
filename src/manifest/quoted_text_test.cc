#include "manifest/quoted_text.h"

#include <gtest/gtest.h>

namespace capstan::manifest {
namespace {

TEST(QuotedText, DecodesQuotesAndJoinsLines) {
  EXPECT_EQ(single_quoted_text(""), "");
  EXPECT_EQ(single_quoted_text(" a "), " a ");
  EXPECT_EQ(single_quoted_text("it''s"), "it's");
  EXPECT_EQ(single_quoted_text("a  \n   b"), "a b");
  EXPECT_EQ(single_quoted_text("a\n\n\n  b ''c''"), "a\n\nb 'c'");
  EXPECT_EQ(single_quoted_text("\n  a\n"), " a ");
  EXPECT_EQ(single_quoted_text("a\r\n  b"), "a b");
}

}  // namespace
}  // namespace capstan::manifest
