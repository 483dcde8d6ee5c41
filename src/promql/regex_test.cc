#include "promql/regex.h"

#include <gtest/gtest.h>

namespace capstan::promql {
namespace {

TEST(PromqlRegex, MatchesWholeTexts) {
  const Regex regex("a|b.*");
  EXPECT_TRUE(regex.matches("a"));
  EXPECT_TRUE(regex.matches("bcd"));
  EXPECT_FALSE(regex.matches("ab"));
  EXPECT_FALSE(regex.matches("cb"));
}

TEST(PromqlRegex, ReportsInvalidPatterns) {
  EXPECT_FALSE(Regex("a").fault().has_value());
  EXPECT_EQ(Regex("a**").fault(), "bad repetition operator: **");
  EXPECT_TRUE(Regex("(?<=a)b").fault().has_value()) << "no look-behind, as in Prometheus";
}

TEST(PromqlRegex, ExpandsGroups) {
  const Regex regex("(?P<first>[^-]+)-(.*)");
  EXPECT_EQ(regex.replaced("chat-0", "$2/${first}"), "0/chat");
  EXPECT_EQ(regex.replaced("chat-0", "$$2 ${3} $2x $"), "$2   $");
  EXPECT_FALSE(regex.replaced("chat", "$1").has_value());
}

TEST(PromqlRegex, MatchersTestOneLabel) {
  using Op = LabelMatcher::Op;
  const auto matches = [](Op op, std::string_view value) {
    return LabelTest({.name = "pod", .op = op, .value = "a.", .span = {}}).matches(value);
  };
  EXPECT_TRUE(matches(Op::equal, "a."));
  EXPECT_FALSE(matches(Op::equal, "ab"));
  EXPECT_TRUE(matches(Op::not_equal, ""));
  EXPECT_TRUE(matches(Op::matches, "ab"));
  EXPECT_FALSE(matches(Op::not_matches, "ab"));
  EXPECT_TRUE(matches(Op::not_matches, "abc"));
}

}  // namespace
}  // namespace capstan::promql
