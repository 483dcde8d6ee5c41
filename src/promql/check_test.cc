#include "promql/check.h"

#include <gtest/gtest.h>

#include "promql/parser.h"

namespace capstan::promql {
namespace {

struct Judged {
  const char* text;
  const char* verdict;  ///< the type, or why it has none
};

class PromqlTypes : public testing::TestWithParam<Judged> {};

TEST_P(PromqlTypes, AreThoseOfPrometheus) {
  const Result<ExpressionPtr> parsed = parse(GetParam().text, "q");
  EXPECT_EQ(parsed ? std::string(name((*parsed)->type)) : parsed.error().text(), GetParam().verdict);
}

INSTANTIATE_TEST_SUITE_P(Fit, PromqlTypes,
                         testing::Values(Judged{"1 + 2", "scalar"}, Judged{"1 + a", "instant vector"},
                                         Judged{"a[5m]", "range vector"}, Judged{"a[5m:]", "range vector"},
                                         Judged{"-a", "instant vector"}, Judged{"scalar(a)", "scalar"},
                                         Judged{"\"a\"", "string"}, Judged{"1 > bool 2", "scalar"},
                                         Judged{"day_of_week()", "instant vector"},
                                         Judged{"label_join(a, \"b\", \",\", \"c\", \"d\")", "instant vector"},
                                         Judged{"quantile_over_time(0.9, a[5m])", "instant vector"}));

INSTANTIATE_TEST_SUITE_P(
    DoNotFit, PromqlTypes,
    testing::Values(
        Judged{"sum(\n  rate(a))",
               "q:2:8: rate takes a range vector as argument 1, such as metric[5m], found instant vector"},
        Judged{"1 > 2", "q:1:1: a comparison of two scalars needs bool: > bool"},
        Judged{"a and 1", "q:1:1: \"and\" does not go with a scalar"},
        Judged{"{}", "q:1:1: the selector takes every series, expected a name or a label that is not empty"},
        Judged{"{a=~\".*\"}", "q:1:1: the selector takes every series, expected a name or a label that is not empty"},
        Judged{"a{b=~\"(\"}", "q:1:3: the regular expression is none: missing ): ^(?:()$"},
        Judged{"a{__name__=\"b\"}", "q:1:3: the metric's name is given twice"},
        Judged{"a[5m] + 1", "q:1:1: \"+\" goes between scalars and instant vectors, found range vector"},
        Judged{"sum(1)", "q:1:5: sum goes over an instant vector, found scalar"},
        Judged{"round(a, 1, 2)", "q:1:1: round takes 1 to 2 arguments, found 3"}));

}  // namespace
}  // namespace capstan::promql
