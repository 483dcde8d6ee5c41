#include "promql/parser.h"

#include <gtest/gtest.h>

#include "promql/function.h"

namespace capstan::promql {
namespace {

using namespace std::chrono_literals;

std::string again(std::string_view text) {
  const Result<ExpressionPtr> parsed = parse(text, "q");
  return parsed ? to_text(**parsed) : parsed.error().text();
}

TEST(PromqlParser, ReadsWhatScalersAsk) {
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
  const auto& rate = std::get<Call>(sum.of->node);
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
  EXPECT_EQ(again("1 + 2 * 3 ^ 2 ^ 2"), "(1) + ((2) * ((3) ^ ((2) ^ (2))))");
  EXPECT_EQ(again("-a ^ 2 * b"), "(-(a ^ (2))) * b");
  EXPECT_EQ(again("a - b - c"), "(a - b) - c");
  EXPECT_EQ(again("a or b and c unless d == e"), "a or ((b and c) unless (d == e))");
  EXPECT_EQ(again("and and or + offset offset 5m"), "and and (or + offset offset 300000ms)");
  EXPECT_EQ(again("2 ^ -1 * 3"), "((2) ^ (-1)) * (3)");
  EXPECT_EQ(again("SUM BY (le) (a)"), "sum by (le) (a)");
  EXPECT_EQ(again("topk without (pod) (3, a)"), "topk without (pod) (3, a)");
  EXPECT_EQ(again("max_over_time(rate(a[1m])[1h:30s] @ end() offset -5m)"),
            "max_over_time((rate(a[60000ms]))[3600000ms:30000ms] @ end() offset -300000ms)");
}

TEST(PromqlParser, WordsThatMeanSomethingElsewhereAreMetricsToo) {
  EXPECT_EQ(again("sum"), "sum");
  EXPECT_EQ(again("by + offset"), "by + offset");
  EXPECT_EQ(again("sum by (by, on) (offset)"), "sum by (by,on) (offset)");
  EXPECT_EQ(again("{__name__=\"and\"}"), "{__name__=\"and\"}");
}

struct Refusal {
  const char* text;
  const char* error;
};

class PromqlRefusals : public testing::TestWithParam<Refusal> {};

TEST_P(PromqlRefusals, SayWhereAndWhy) { EXPECT_EQ(again(GetParam().text), GetParam().error); }

INSTANTIATE_TEST_SUITE_P(
    All, PromqlRefusals,
    testing::Values(Refusal{"", "q:1:1: found no expression"}, Refusal{" # nothing", "q:1:11: found no expression"},
                    Refusal{"sum(", "q:1:5: found the end, expected an expression"},
                    Refusal{"a b", "q:1:3: found \"b\", expected an operator or the end"},
                    Refusal{"increas(a[5m])", "q:1:1: there is no function \"increas\", did you mean \"increase\"?"},
                    Refusal{"a + bool b", "q:1:5: bool only goes with a comparison"},
                    Refusal{"+bool + 1", "q:1:2: found \"bool\", expected an expression"},
                    Refusal{"a * on (b) + On", "q:1:14: found \"On\", expected an expression"},
                    Refusal{"a{b=1}", "q:1:5: found \"1\", expected a value in quotes"},
                    Refusal{"a{b:c=\"d\"}", "q:1:3: found \"b:c\", expected a label"},
                    Refusal{"a[5]m", "q:1:5: found \"m\", expected an operator or the end"},
                    Refusal{"a[5x]", "q:1:3: found \"5x\", expected a range such as 5m"},
                    Refusal{"a[0s]", "q:1:3: found \"0s\", expected more than 0"},
                    Refusal{"a[1s1m]", "q:1:3: found \"1s1m\", expected a range such as 5m"},
                    Refusal{".9tile", "q:1:1: found \".9tile\", expected an expression"},
                    Refusal{"a[5m][5m]", "q:1:6: has two ranges"},
                    Refusal{"(a)[5m]",
                            "q:1:4: a range goes behind a selector; over another expression it is a subquery, [5m:]"},
                    Refusal{"a offset 5m[5m]", "q:1:12: the range stands before offset and @"},
                    Refusal{"(a) offset 5m", "q:1:5: offset goes behind a selector or a subquery"},
                    Refusal{"a offset 1m offset 2m", "q:1:13: has two offsets"},
                    Refusal{"a and on (b) group_left c", "q:1:14: no grouping goes with \"and\""},
                    Refusal{"a + on (b) group_left (b) c", "q:1:12: label \"b\" is in on and in the group at once"},
                    Refusal{"topk(a)", "q:1:1: topk takes 2 arguments, found 1"},
                    Refusal{"\"a", "q:1:1: a string without its closing quote"},
                    Refusal{"\"\\q\"", "q:1:1: has an escape that is none in \"\"\\q\"\""},
                    Refusal{"a $ b", "q:1:3: found a character that PromQL does not use here"}));

TEST(PromqlParser, NothingNestsForEver) {
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
