#include "experiment/report/step_arithmetic.h"

#include <gtest/gtest.h>

#include "experiment/report/byte_budget.h"

namespace capstan::experiment {
namespace {

TEST(StepArithmetic, OfTheLargestChangesIsShownFirst) {
  std::vector<RunResult> results(2);
  const auto step = [](int seconds, ReplicaCount desired, std::string arithmetic) {
    ScaleStep made;
    made.at = {std::chrono::seconds(seconds)};
    made.desired = desired;
    made.arithmetic = std::move(arithmetic);
    return made;
  };
  const std::string ten(10, 'x');
  results[0].scale_steps = {step(0, 2, ten), step(10, 3, ten), step(20, 9, ten), step(30, 8, "")};
  results[1].scale_steps = {step(5, 2, ten), step(6, 1, ten)};
  using Chosen = std::vector<StepPositions>;
  EXPECT_EQ(steps_with_arithmetic(results), (Chosen{{0, 1, 2}, {0, 1}}))
      << "a step without arithmetic has none to show";
  EXPECT_EQ(steps_with_arithmetic(results, 29), (Chosen{{2}, {0}})) << "every run shows its largest change";
  EXPECT_EQ(steps_with_arithmetic(results, 30), (Chosen{{0, 2}, {0}}));
  EXPECT_EQ(steps_with_arithmetic(results, 40), (Chosen{{0, 2}, {0, 1}}));
  EXPECT_EQ(steps_with_arithmetic(results, 9), (Chosen{{}, {}}));
}

TEST(ByteBudget, AShortReportHasSpareBytesAndADayWithEightPoliciesHasNone) {
  EXPECT_EQ(spare_bytes(0), kSpareBytesMost);
  EXPECT_EQ(spare_bytes(6 * 60), kSpareBytesMost - 36'000);
  EXPECT_EQ(spare_bytes(8 * 24 * 60), 0U);
}

}  // namespace
}  // namespace capstan::experiment
