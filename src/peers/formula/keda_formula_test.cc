#include "peers/formula/keda_formula.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace capstan::peers::keda {
namespace {

Result<std::optional<double>> of_triggers(std::string_view formula) {
  return evaluate_formula(formula, [](std::string_view name) -> std::optional<std::optional<double>> {
    if (name == "a") return std::optional(2.0);
    if (name == "b_1") return std::optional(5.0);
    if (name == "inf") return std::optional(HUGE_VAL);
    if (name == "nan") return std::optional(std::nan(""));
    if (name == "zero") return std::optional(0.0);
    if (name == "gone") return std::optional<double>();
    return std::nullopt;
  });
}

using Values = std::pair<const char*, double>;
using Faults = std::pair<const char*, const char*>;

void expect_values(std::initializer_list<Values> rows) {
  for (const auto& [text, value] : rows) {
    const Result<std::optional<double>> result = of_triggers(text);
    ASSERT_TRUE(result) << text << ": " << result.error().text();
    EXPECT_EQ(*result, value) << text;
  }
}

TEST(KedaFormula, Arithmetic) {
  expect_values({{"a + b_1", 7},
                 {"a - b_1 * 2", -8},
                 {"(a + b_1) / 2", 3.5},
                 {"7 / 2", 3.5},
                 {"-a ** 2", -4},
                 {"2 ** 3 ** 2", 512},
                 {"2 ** -1", 0.5},
                 {"(-1) ** 1025 + (-2) ** 3 + 0 ** 2", -9},
                 {"1 ** (1 / 0) + (1 / 0) ** 0", 2},
                 {"2 ** -1030 * 2 ** 1023", 0.0078125},
                 {"7 % 4", 3},
                 {"int(b_1) % 3", 2},
                 {"+a - -a", 4},
                 {"1e1 + .5", 10.5},
                 {"float(a) + abs(-3)", 5},
                 {"ceil(a / 3) + floor(2.5) + round(2.5) + min(a, 1)", 7},
                 {"max(a, [b_1, 3], 4)", 5},
                 {"mean([a, b_1]) + median(1, 9, 4)", 7.5}});
  EXPECT_TRUE(std::isinf(**of_triggers("a / 0")));
  EXPECT_NEAR(**of_triggers("(2 ** -1060) ** 0.5 * 2 ** 530"), 1, 1e-9) << "of a subnormal number";
}

/// The special cases that the documentation of Go's math.Pow lists, in its order.
TEST(KedaFormula, SpecialCasesOfPowersAreThoseOfGo) {
  const double nan = std::nan("");
  const Values rows[] = {
      {"nan ** 0", 1},
      {"inf ** -zero", 1},
      {"1 ** nan", 1},
      {"1 ** -inf", 1},
      {"-inf ** 1", -HUGE_VAL},
      {"(-3) ** 1", -3},
      {"nan ** 2", nan},
      {"2 ** nan", nan},
      {"zero ** -3", HUGE_VAL},
      {"(-zero) ** -3", -HUGE_VAL},
      {"(-zero) ** -inf", HUGE_VAL},
      {"(-zero) ** inf", 0.0},
      {"(-zero) ** -2", HUGE_VAL},
      {"(-zero) ** -0.5", HUGE_VAL},
      {"(-zero) ** 3", -0.0},
      {"(-zero) ** 2", 0.0},
      {"(-zero) ** 0.5", 0.0},
      {"(-1) ** inf", 1},
      {"(-1) ** -inf", 1},
      {"(-2) ** inf", HUGE_VAL},
      {"2 ** -inf", 0.0},
      {"0.5 ** inf", 0.0},
      {"(-0.5) ** -inf", HUGE_VAL},
      {"inf ** 0.5", HUGE_VAL},
      {"inf ** inf", HUGE_VAL},
      {"inf ** -0.5", 0.0},
      {"(-inf) ** 3", -HUGE_VAL},
      {"(-inf) ** 2", HUGE_VAL},
      {"(-inf) ** 0.5", HUGE_VAL},
      {"(-inf) ** -3", -0.0},
      {"(-inf) ** -0.5", 0.0},
      {"(-inf) ** -inf", 0.0},
      {"(-2) ** 0.5", nan},
  };
  for (const auto& [text, expected] : rows) {
    const Result<std::optional<double>> result = of_triggers(text);
    ASSERT_TRUE(result && *result) << text;
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(**result)) << text;
      continue;
    }
    EXPECT_EQ(**result, expected) << text;
    EXPECT_EQ(std::signbit(**result), std::signbit(expected)) << text;
  }
}

TEST(KedaFormula, Choices) {
  expect_values({{"a > 1 ? b_1 : 0", 5},
                 {"a > 2 ? b_1 : a < 2 ? 1 : 9", 9},
                 {"a > 1 && b_1 > 9 ? 1 : 2", 2},
                 {"a > 1 and (b_1 > 9 or not false) ? 1 : 2", 1},
                 {"!(a > 1) || a == 2 ? 1 : 2", 1},
                 {"1 < a <= 2 ? 1 : 0", 1},
                 {"1 < a < 2 ? 1 : 0", 0},
                 {"a > 1 ? 1 : gone * 2", 1}});
}

TEST(KedaFormula, AFailedTriggerIsNil) {
  expect_values({{"gone ?? a", 2},
                 {"a ?? gone", 2},
                 {"b_1 + gone ?? a", 7},
                 {"(gone ?? a) * 3", 6},
                 {"-gone ?? a", -2},
                 {"gone == nil ? 1 : 0", 1},
                 {"gone != nil ? gone * 2 : 1", 1},
                 {"sum(filter([a, gone, b_1], # != nil))", 7},
                 {"count([a, gone, b_1], {# == nil})", 1}});
  EXPECT_EQ(*of_triggers("gone ?? gone"), std::nullopt);
  EXPECT_EQ(*of_triggers("find([a], # > 2)"), std::nullopt);
}

TEST(KedaFormula, Lists) {
  expect_values({{"count([a, b_1, 9], {# > 4}) > 1 ? 5 : 0", 5},
                 {"count([true, false, a > 1])", 2},
                 {"sum([a, b_1,], # * 10)", 70},
                 {"len(filter([a, b_1], # > 2)) + first([a, 7]) + last([a, 7])", 10},
                 {"all([a, b_1], # > 1) && one([a, b_1], # > 2) ? 1 : 0", 1},
                 {"any([], true) || none([a], # > 2) == false ? 1 : 0", 0},
                 {"max(map([a, b_1], -#))", -2},
                 {"find([a, b_1, 9], # > 2) * findLast([a, b_1, 9], # > 2)", 45},
                 {"findIndex([a, b_1, 9], # > 2) * 10 + findLastIndex([a, b_1, 9], # > 2)", 12},
                 {"reduce([a, b_1], #acc + #) + reduce([a, b_1], #acc + # * #index, 100)", 112}});
}

TEST(KedaFormula, ErrorsNameTheColumnAndTheExpectation) {
  const Faults rows[] = {
      {"a +", "formula:1:4: expected a number, a trigger or ("},
      {"a + gone", "formula:1:5: arithmetic with nil, expected ?? before it"},
      {"a + c", "formula:1:5: \"c\" is not a trigger of this ScaledObject"},
      {"a > 1 ? 1 : c", "formula:1:13: \"c\" is not a trigger of this ScaledObject"},
      {"gone ?? a * 3", "formula:1:11: expected ( ) around ?? next to another operator"},
      {"a > 1", "formula:1:3: not a number, expected a number"},
      {"[a]", "formula:1:1: not a number, expected a number"},
      {"a ? 1 : 2", "formula:1:1: not a boolean, expected a comparison"},
      {"count([a], #)", "formula:1:1: not a boolean, expected a comparison"},
      {"a == true ? 1 : 2", "formula:1:3: compares values of different types, expected the same type"},
      {"a % 2", "formula:1:3: % of a number that is not an integer, or by 0; expected int( )"},
      {"# + 1", "formula:1:2: # is used outside a predicate, expected a number, a trigger or ("},
      {"sqrt(a)", "formula:1:1: \"sqrt\" is not a supported function"},
      {"abs(a, a)", "formula:1:10: abs has 2 arguments, expected 1"},
      {"sum([[1, 2], [3]], len(#))", "formula:1:5: a list inside a list, expected a number"},
      {"map([a], [#])", "formula:1:1: a list inside a list, expected a number"},
      {"reduce([1, 2], [#acc, #acc])", "formula:1:1: a list inside a list, expected a number"},
      {"reduce([1, 2], #acc, [])", "formula:1:1: a list inside a list, expected a number"},
      {"reduce([], #acc)", "formula:1:1: reduces an empty list, expected an initial value"},
      {"a b_1", "formula:1:3: expected the end of the formula"},
      {"", "formula:1:1: expected a number, a trigger or ("},
  };
  for (const auto& [text, words] : rows) {
    const Result<std::optional<double>> result = of_triggers(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().text(), words) << text;
  }
}

TEST(KedaFormula, DepthPartsAndStepsAreBounded) {
  EXPECT_FALSE(of_triggers(std::string(10'000, '(')));
  std::string sum = "1", nested = "1";
  for (int i = 0; i < 10'000; ++i) sum += "+1";
  for (int i = 0; i < 9; ++i) nested = "sum([1, 1, 1, 1, 1], " + nested + ")";
  EXPECT_FALSE(of_triggers(sum));
  EXPECT_FALSE(of_triggers(nested));
}

}  // namespace
}  // namespace capstan::peers::keda
