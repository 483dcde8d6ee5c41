#include "promql/instant_function.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace capstan::promql {
namespace {

TEST(PromqlInstant, PowersAndLogarithmsMatchGoToTheLastFewBits) {
  EXPECT_EQ(power(2, 10), 1024);
  EXPECT_EQ(power(-2, 3), -8);
  EXPECT_NEAR(power(2, 0.5), std::sqrt(2), 1e-15);
  EXPECT_TRUE(std::isnan(power(-2, 0.5)));
  EXPECT_EQ(power(0, 0), 1);
  EXPECT_NEAR(find_instant_function("log10")(1000), 3, 1e-14);
  EXPECT_EQ(find_instant_function("ln")(0), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(find_instant_function("exp")(1000), std::numeric_limits<double>::infinity());
  EXPECT_EQ(find_instant_function("hour"), nullptr);
}

TEST(PromqlInstant, HalvesAreRoundedUp) {
  EXPECT_EQ(round_to(2.5, 1), 3);
  EXPECT_EQ(round_to(-2.5, 1), -2);
  EXPECT_EQ(round_to(0.37, 0.25), 0.25);
}

}  // namespace
}  // namespace capstan::promql
