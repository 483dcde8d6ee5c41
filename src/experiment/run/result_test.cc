#include "experiment/run/result.h"

#include <gtest/gtest.h>

#include <limits>

#include "experiment/text/words.h"

namespace capstan::experiment {
namespace {

TEST(RunResult, ACostPerUnitThatPasses64BitsIsTheLargestAndIsNamedAsSuch) {
  RunResult r;
  r.requests.met = 1;
  r.tokens.delivered = 7;
  r.cost_micro_usd[0] = 1'000'000'000'000'000'000;
  EXPECT_EQ(r.micro_usd_per_million_tokens(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(usd(*r.micro_usd_per_million_tokens()), "over 9,223,372,036,854");
}

TEST(RunResult, TheCostOfJobsIsNoCostOfRequests) {
  RunResult r;
  r.requests.met = 1000;
  r.tokens.delivered = 1'000'000;
  r.cost_micro_usd[0] = 10'000'000;
  r.jobs.emplace_back().micro_usd = 7'000'000;
  EXPECT_EQ(r.micro_usd_per_1000_met(), 3'000'000);
  EXPECT_EQ(r.micro_usd_per_million_tokens(), 3'000'000);
}

TEST(RunResult, ACostPerUnitIsExactBelow) {
  RunResult r;
  r.requests.met = 4;
  r.tokens.delivered = 2'000'000;
  r.cost_micro_usd[0] = 3'000'000;
  EXPECT_EQ(r.micro_usd_per_1000_met(), 750'000'000);
  EXPECT_EQ(r.micro_usd_per_million_tokens(), 1'500'000);
  EXPECT_EQ(usd(1'234'995'000), "1,235.00");
  EXPECT_EQ(usd(std::numeric_limits<std::int64_t>::max() - 1), "9,223,372,036,854.78");
}

}  // namespace
}  // namespace capstan::experiment
