#include "promql/parser.h"

#include <gtest/gtest.h>

#include "promql/function.h"

namespace capstan::promql {
namespace {

using namespace std::chrono_literals;

std::string reformatted(std::string_view text) {
  const Result<ExpressionPtr> parsed = parse(text, "q");
  return parsed ? to_text(**parsed) : parsed.error().text();
}

TEST(PromqlParser, ReadsQueriesThatScalersUse) {
  const Result<ExpressionPtr> parsed = parse(
      "sum(rate(vllm:request_success_total{model_name=\"m\", namespace=~\"a|b\",}[5m] offset 1m)) by (model_name)"
      " / on (model_name) group_left count(vllm:num_requests_running) by (model_name) > bool 2");
  ASSERT_TRUE(parsed.has_value()) << parsed.error().text();
  const auto& comparison = std::get<Binary>((*parsed)->node);
  EXPECT_EQ(comparison.op, Binary::Op::greater);
  EXPECT_TRUE(comparison.returns_bool);
  const auto& quotient = std::get<Binary>(comparison.left->node);
  EXPECT_EQ(quotient.group, Binary::Group::left);
  const auto& sum = std::get<Aggregation>(quotient.left->node);
  EXPECT_EQ(sum.labels, std::vector<std::string>{"model_name"});
  const auto& rate = std::get<Call>(sum.operand->node);
  EXPECT_EQ(rate.function->name, "rate");
  const auto& selector = std::get<Selector>(rate.arguments[0]->node);
  EXPECT_EQ(selector.metric, "vllm:request_success_total");
  EXPECT_EQ(selector.range, 5min);
  EXPECT_EQ(selector.shift.offset, 1min);
  ASSERT_EQ(selector.matchers.size(), 2u);
  EXPECT_EQ(selector.matchers[1].op, LabelMatcher::Op::matches);
  EXPECT_EQ(selector.matchers[1].span.begin.column, 53u);
}

TEST(PromqlParser, BindsAsPrometheusDoes) {
  EXPECT_EQ(reformatted("1 + 2 * 3 ^ 2 ^ 2"), "(1) + ((2) * ((3) ^ ((2) ^ (2))))");
  EXPECT_EQ(reformatted("-a ^ 2 * b"), "(-(a ^ (2))) * b");
  EXPECT_EQ(reformatted("a - b - c"), "(a - b) - c");
  EXPECT_EQ(reformatted("a or b and c unless d == e"), "a or ((b and c) unless (d == e))");
  EXPECT_EQ(reformatted("and and or + offset offset 5m"), "and and (or + offset offset 300000ms)");
  EXPECT_EQ(reformatted("2 ^ -1 * 3"), "((2) ^ (-1)) * (3)");
  EXPECT_EQ(reformatted("SUM BY (le) (a)"), "sum by (le) (a)");
  EXPECT_EQ(reformatted("topk without (pod) (3, a)"), "topk without (pod) (3, a)");
  EXPECT_EQ(reformatted("max_over_time(rate(a[1m])[1h:30s] @ end() offset -5m)"),
            "max_over_time((rate(a[60000ms]))[3600000ms:30000ms] @ end() offset -300000ms)");
}

TEST(PromqlParser, ReadsKeywordsAsMetricNamesInExpressions) {
  EXPECT_EQ(reformatted("sum"), "sum");
  EXPECT_EQ(reformatted("by + offset"), "by + offset");
  EXPECT_EQ(reformatted("sum by (by, on) (offset)"), "sum by (by,on) (offset)");
  EXPECT_EQ(reformatted("{__name__=\"and\"}"), "{__name__=\"and\"}");
}

struct ErrorCase {
  const char* text;
  const char* error;
};

class PromqlErrors : public testing::TestWithParam<ErrorCase> {};

TEST_P(PromqlErrors, NamePlaceAndReason) { EXPECT_EQ(reformatted(GetParam().text), GetParam().error); }

INSTANTIATE_TEST_SUITE_P(
    All, PromqlErrors,
    testing::Values(ErrorCase{"", "q:1:1: found no expression"}, ErrorCase{" # nothing", "q:1:11: found no expression"},
                    ErrorCase{"sum(", "q:1:5: found the end, expected an expression"},
                    ErrorCase{"a b", "q:1:3: found \"b\", expected an operator or the end"},
                    ErrorCase{"increas(a[5m])", "q:1:1: there is no function \"increas\", did you mean \"increase\"?"},
                    ErrorCase{"a + bool b", "q:1:5: bool must follow a comparison"},
                    ErrorCase{"+bool + 1", "q:1:2: found \"bool\", expected an expression"},
                    ErrorCase{"a * on (b) + On", "q:1:14: found \"On\", expected an expression"},
                    ErrorCase{"a{b=1}", "q:1:5: found \"1\", expected a value in quotes"},
                    ErrorCase{"a{b:c=\"d\"}", "q:1:3: found \"b:c\", expected a label"},
                    ErrorCase{"a[5]m", "q:1:5: found \"m\", expected an operator or the end"},
                    ErrorCase{"a[5x]", "q:1:3: found \"5x\", expected a range such as 5m"},
                    ErrorCase{"a[0s]", "q:1:3: found \"0s\", expected more than 0"},
                    ErrorCase{"a[1s1m]", "q:1:3: found \"1s1m\", expected a range such as 5m"},
                    ErrorCase{".9tile", "q:1:1: found \".9tile\", expected an expression"},
                    ErrorCase{"a[5m][5m]", "q:1:6: found a second range, expected one"},
                    ErrorCase{"(a)[5m]",
                              "q:1:4: a range must follow a selector; use a subquery, [5m:], for another expression"},
                    ErrorCase{"a offset 5m[5m]", "q:1:12: the range must come before offset and @"},
                    ErrorCase{"(a) offset 5m", "q:1:5: offset must follow a selector or a subquery"},
                    ErrorCase{"a offset 1m offset 2m", "q:1:13: found a second offset, expected one"},
                    ErrorCase{"a and on (b) group_left c", "q:1:14: \"and\" takes no group_left or group_right"},
                    ErrorCase{"a + on (b) group_left (b) c", "q:1:12: label \"b\" is both in on and in the group"},
                    ErrorCase{"topk(a)", "q:1:1: topk takes 2 arguments, found 1"},
                    ErrorCase{"\"a", "q:1:1: the string has no closing quote"},
                    ErrorCase{"\"\\q\"", "q:1:1: found an invalid escape in \"\"\\q\"\""},
                    ErrorCase{"a $ b", "q:1:3: found a character that PromQL does not use here"}));

TEST(PromqlParser, LimitsNestingAndSize) {
  const Result<ExpressionPtr> deep = parse(std::string(5000, '(') + "1" + std::string(5000, ')'));
  ASSERT_FALSE(deep.has_value());
  EXPECT_NE(deep.error().text().find("nested too deeply"), std::string::npos);
  std::string chain = "a";
  for (int i = 0; i < 5000; ++i) chain += "+a";
  EXPECT_FALSE(parse(chain).has_value());
  EXPECT_FALSE(parse(std::string(100'000, ' ')).has_value());
}

}  // namespace
}  // namespace capstan::promql
