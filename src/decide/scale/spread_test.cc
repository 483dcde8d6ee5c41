#include "decide/scale/spread.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace capstan::decide::scale {
namespace {

Spread over(ReplicaCount domains, std::vector<ReplicaCount> held, bool is_enforced = true) {
  return {.level = model::TopologyLevel::zone, .domains = domains, .is_enforced = is_enforced, .held = std::move(held)};
}

struct SpreadRow {
  const char* teaches;
  Spread spread;
  ReplicaCount need, required;
};

TEST(Spread, AsksForEnoughReplicasToSurviveTheLossOfTheFullestDomain) {
  const SpreadRow rows[] = {
      {"two domains: double the need", over(2, {2, 2}), 2, 4},
      {"three domains: half more", over(3, {3, 3, 3}), 6, 9},
      {"three domains and an uneven share", over(3, {3, 3, 2}), 5, 8},
      {"many domains: one more replica suffices", over(100, {1, 1, 1, 1, 1, 1}), 5, 6},
      {"a need of one asks for two", over(3, {1}), 1, 2},
      {"a need of none asks for none", over(3, {1}), 0, 0},
      {"no replica is placed yet", over(3, {}), 4, 6},
      {"a single domain: the need itself", over(1, {4}), 4, 4},
      {"no domain at all", over(0, {}), 4, 4},
      {"a domain above its share: the other domain gets more", over(2, {10, 1}), 5, 15},
      {"then the surplus is removed", over(2, {10, 5}), 5, 10},
      {"a surplus in all domains is removed", over(2, {6, 6}), 2, 4},
      {"after the loss of a domain: as many as before it", over(2, {5}), 5, 10},
      {"a domain far above its share is reduced first", over(2, {20, 1}), 5, 10},
      {"placed by another scheduler: an even spread is assumed", over(2, {10, 1}, false), 5, 10},
  };
  for (const SpreadRow& row : rows) {
    const SpreadSizing s = size_for_loss(row.spread, row.need);
    EXPECT_EQ(s.required, row.required) << row.teaches;
    EXPECT_EQ(s.possible(), row.spread.domains > 1) << row.teaches;
  }
}

TEST(Spread, NeverAsksForMoreThanThreeTimesTheNeed) {
  for (ReplicaCount domains = 2; domains <= 5; ++domains) {
    for (ReplicaCount need = 1; need <= 12; ++need) {
      for (ReplicaCount fullest = 0; fullest <= 60; ++fullest) {
        const ReplicaCount asked =
            size_for_loss(over(domains, {fullest, std::min<ReplicaCount>(fullest, 2)}), need).required;
        EXPECT_GT(asked, need);
        EXPECT_LE(asked, 3 * need + 1) << domains << " domains, " << need << " needed, " << fullest << " in one";
      }
    }
  }
}

TEST(Spread, DoesNotChangeAnEvenFleet) {
  for (ReplicaCount domains = 2; domains <= 6; ++domains) {
    for (ReplicaCount need = 1; need <= 40; ++need) {
      const ReplicaCount asked = size_for_loss(over(domains, {}), need).required;
      std::vector<ReplicaCount> even(static_cast<std::size_t>(domains), asked / domains);
      for (ReplicaCount i = 0; i < asked % domains; ++i) ++even[static_cast<std::size_t>(i)];
      EXPECT_EQ(size_for_loss(over(domains, even), need).required, asked) << domains << " domains, " << need;
      EXPECT_GE(survivors(over(domains, even), asked), need) << "the survivors cover the need";
    }
  }
}

TEST(Spread, ReportsTheSurvivorsOfTheCurrentFleet) {
  const SpreadSizing s = size_for_loss(over(3, {4, 2, 1}), 5);
  EXPECT_EQ(s.fullest, 4);
  EXPECT_EQ(s.placed, 7);
  EXPECT_EQ(s.left(), 3);
  EXPECT_EQ(survivors(over(3, {4, 2, 1}), 7), 3);
  EXPECT_EQ(survivors(over(1, {7}), 7), 7) << "a single domain has no survivors to count";
}

}  // namespace
}  // namespace capstan::decide::scale
