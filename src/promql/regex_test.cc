#include "promql/regex.h"

#include <gtest/gtest.h>

namespace capstan::promql {
namespace {

TEST(PromqlRegex, TakesAWholeText) {
  const Regex regex("a|b.*");
  EXPECT_TRUE(regex.takes("a"));
  EXPECT_TRUE(regex.takes("bcd"));
  EXPECT_FALSE(regex.takes("ab"));
  EXPECT_FALSE(regex.takes("cb"));
}

TEST(PromqlRegex, SaysWhatIsWrongWithAPattern) {
  EXPECT_FALSE(Regex("a").fault().has_value());
  EXPECT_EQ(Regex("a**").fault(), "bad repetition operator: **");
  EXPECT_TRUE(Regex("(?<=a)b").fault().has_value()) << "no look-behind, as in Prometheus";
}

TEST(PromqlRegex, PutsGroupsInTheirPlace) {
  const Regex regex("(?P<first>[^-]+)-(.*)");
  EXPECT_EQ(regex.replaced("chat-0", "$2/${first}"), "0/chat");
  EXPECT_EQ(regex.replaced("chat-0", "$$2 ${3} $2x $"), "$2   $");
  EXPECT_FALSE(regex.replaced("chat", "$1").has_value());
}

TEST(PromqlRegex, MatchersAskOneLabel) {
  using Op = LabelMatcher::Op;
  const auto holds = [](Op op, std::string_view value) {
    return LabelTest({.name = "pod", .op = op, .value = "a.", .span = {}}).holds(value);
  };
  EXPECT_TRUE(holds(Op::equal, "a."));
  EXPECT_FALSE(holds(Op::equal, "ab"));
  EXPECT_TRUE(holds(Op::not_equal, ""));
  EXPECT_TRUE(holds(Op::matches, "ab"));
  EXPECT_FALSE(holds(Op::not_matches, "ab"));
  EXPECT_TRUE(holds(Op::not_matches, "abc"));
}

}  // namespace
}  // namespace capstan::promql
