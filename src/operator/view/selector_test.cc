#include "operator/view/selector.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace capstan::op {
namespace {

/// Returns the matchers in the form of PromQL.
std::string shown(std::string_view text) {
  const Result<std::vector<signals::Matcher>> matchers = read_matchers(text);
  if (!matchers) return matchers.error().text();
  std::string out;
  for (const signals::Matcher& matcher : *matchers) out += (out.empty() ? "" : ",") + signals::promql(matcher);
  return out;
}

TEST(Selector, ReadsMatchersAndRefusesInvalidTexts) {
  struct Row {
    std::string_view text;
    std::string shown;
  };
  const Row rows[] = {
      {"", ""},
      {R"(job="chat")", R"(job="chat")"},
      {R"( job = "chat" , pod=~"chat-.*",)", R"(job="chat",pod=~"chat-.*")"},
      {R"(a!="b",c!~"d")", R"(a!="b",c!~"d")"},
      {R"(a="say \"hi\" \\ and\n")", R"(a="say \"hi\" \\ and\n")"},
      {R"(job)", "1:4: it ends, expected =, !=, =~ or !~"},
      {R"(job=chat)", "1:5: found 'c', expected a value in double quotes"},
      {R"(="chat")", "1:1: found '=', expected the name of a label"},
      {R"(job="chat)", "1:10: it ends, expected a double quote at the end of the value"},
      {R"(job="chat" pod="x")", "1:12: found 'p', expected ',' and another matcher, or the end"},
  };
  for (const Row& row : rows) EXPECT_EQ(shown(row.text), row.shown) << row.text;
}

TEST(Selector, AnEscapedBackslashEscapesNothing) {
  const auto read = read_matchers(R"(pod="a\\n", job="b\n")");
  ASSERT_TRUE(read.has_value()) << read.error().text();
  EXPECT_EQ(read->at(0).value, R"(a\n)");
  EXPECT_EQ(read->at(1).value, "b\n");
}

RC_GTEST_PROP(Selector, EveryValueIsReadBack, (const std::string& value)) {
  RC_PRE(value.find('\0') == value.npos);
  const signals::Matcher matcher{"pod", signals::Matcher::Op::equal, value};
  const auto again = read_matchers(signals::promql(matcher));
  RC_ASSERT(again.has_value());
  RC_ASSERT(again->at(0).value == value);
}

}  // namespace
}  // namespace capstan::op
