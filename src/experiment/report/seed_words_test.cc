#include "experiment/report/seed_words.h"

#include <gtest/gtest.h>

namespace capstan::experiment {
namespace {

using namespace std::chrono_literals;

SeedCheck check_of(std::int64_t usd, Duration simulated) {
  SeedCheck check{.policy = "a", .outcomes = {}};
  for (std::uint64_t seed = 3; seed < 6; ++seed) {
    const auto met = static_cast<std::int64_t>(979'000 + 4'000 * seed);
    check.outcomes.push_back({.seed = seed,
                              .attainment_ppm = met,
                              .holds_slo = met >= 995'000,
                              .micro_usd = usd * static_cast<std::int64_t>(seed) * 1'000'000,
                              .simulated = simulated});
  }
  return check;
}

TEST(SeedWords, StateTheRangeAndTheAveragePrice) {
  EXPECT_EQ(seeds_words(check_of(10, 30min)), "3 to 5");
  EXPECT_EQ(held_words(check_of(10, 30min)), "with 2 of them (99.1 to 99.9 % met)");
  EXPECT_EQ(outcomes_words(check_of(10, 30min)),
            "99.1 to 99.9 % met for 30.00 to 50.00 USD, on average 80.00 USD/h (58,400 USD/month)");
}

TEST(SeedWords, LeaveOutAPriceThatIsNotKnown) {
  EXPECT_EQ(outcomes_words(check_of(0, 30min)), "99.1 to 99.9 % met");
  EXPECT_EQ(outcomes_words(check_of(10, 0min)), "99.1 to 99.9 % met for 30.00 to 50.00 USD");
}

TEST(SeedWords, NoSeedOfThreeMayHoldTheSlo) {
  SeedCheck check = check_of(10, 30min);
  for (SeedOutcome& outcome : check.outcomes) outcome.holds_slo = false, outcome.attainment_ppm = 900'000;
  EXPECT_EQ(held_words(check), "with none of them (90.0 % met)");
}

}  // namespace
}  // namespace capstan::experiment
