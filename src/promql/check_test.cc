#include "promql/check.h"

#include <gtest/gtest.h>

#include "promql/parser.h"

namespace capstan::promql {
namespace {

struct TypeCase {
  const char* text;
  const char* expected;  ///< the type, or the error
};

class PromqlTypes : public testing::TestWithParam<TypeCase> {};

TEST_P(PromqlTypes, MatchPrometheus) {
  const Result<ExpressionPtr> parsed = parse(GetParam().text, "q");
  EXPECT_EQ(parsed ? std::string(name((*parsed)->type)) : parsed.error().text(), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(Fit, PromqlTypes,
                         testing::Values(TypeCase{"1 + 2", "scalar"}, TypeCase{"1 + a", "instant vector"},
                                         TypeCase{"a[5m]", "range vector"}, TypeCase{"a[5m:]", "range vector"},
                                         TypeCase{"-a", "instant vector"}, TypeCase{"scalar(a)", "scalar"},
                                         TypeCase{"\"a\"", "string"}, TypeCase{"1 > bool 2", "scalar"},
                                         TypeCase{"day_of_week()", "instant vector"},
                                         TypeCase{"label_join(a, \"b\", \",\", \"c\", \"d\")", "instant vector"},
                                         TypeCase{"quantile_over_time(0.9, a[5m])", "instant vector"}));

INSTANTIATE_TEST_SUITE_P(
    DoNotFit, PromqlTypes,
    testing::Values(
        TypeCase{"sum(\n  rate(a))",
                 "q:2:8: rate takes a range vector as argument 1, such as metric[5m], found instant vector"},
        TypeCase{"1 > 2", "q:1:1: a comparison of two scalars needs bool: > bool"},
        TypeCase{"a and 1", "q:1:1: \"and\" does not take a scalar"},
        TypeCase{"{}", "q:1:1: the selector matches every series, expected a metric name or a label that is not empty"},
        TypeCase{"{a=~\".*\"}",
                 "q:1:1: the selector matches every series, expected a metric name or a label that is not empty"},
        TypeCase{"a{b=~\"(\"}", "q:1:3: the regular expression is invalid: missing ): ^(?:()$"},
        TypeCase{"a{__name__=\"b\"}", "q:1:3: the metric name is given twice"},
        TypeCase{"a[5m] + 1", "q:1:1: \"+\" takes scalars and instant vectors, found range vector"},
        TypeCase{"sum(1)", "q:1:5: sum takes an instant vector, found scalar"},
        TypeCase{"round(a, 1, 2)", "q:1:1: round takes 1 to 2 arguments, found 3"}));

}  // namespace
}  // namespace capstan::promql
