#include "decide/scale/spread.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace capstan::decide::scale {
namespace {

Spread over(ReplicaCount domains, std::vector<ReplicaCount> held, bool steered = true) {
  return {.level = model::TopologyLevel::zone, .domains = domains, .steered = steered, .held = std::move(held)};
}

struct SpreadRow {
  const char* teaches;
  Spread spread;
  ReplicaCount need, asked;
};

TEST(Spread, AsksForSoManyThatTheLossOfTheFullestLeavesWhatIsNeeded) {
  const SpreadRow rows[] = {
      {"two domains: twice as many", over(2, {2, 2}), 2, 4},
      {"three: half as many more", over(3, {3, 3, 3}), 6, 9},
      {"three, and no whole share", over(3, {3, 3, 2}), 5, 8},
      {"one more where there are enough domains", over(100, {1, 1, 1, 1, 1, 1}), 5, 6},
      {"one replica is two", over(3, {1}), 1, 2},
      {"none is none", over(3, {1}), 0, 0},
      {"nothing stands yet", over(3, {}), 4, 6},
      {"no other domain: as if nothing was asked", over(1, {4}), 4, 4},
      {"no domain at all", over(0, {}), 4, 4},
      {"one has too many: as many beside it, first", over(2, {10, 1}), 5, 15},
      {"then it gives up what is too much", over(2, {10, 5}), 5, 10},
      {"all too many go", over(2, {6, 6}), 2, 4},
      {"a domain was lost: no more than were there", over(2, {5}), 5, 10},
      {"far too many in one: they go first", over(2, {20, 1}), 5, 10},
      {"who is placed by others is asked for evenly", over(2, {10, 1}, false), 5, 10},
  };
  for (const SpreadRow& row : rows) {
    const SpreadSizing s = survive(row.spread, row.need);
    EXPECT_EQ(s.asked, row.asked) << row.teaches;
    EXPECT_EQ(s.possible(), row.spread.domains > 1) << row.teaches;
  }
}

TEST(Spread, NeverMoreThanThreeTimesWhatIsNeededWhateverStandsWhere) {
  for (ReplicaCount domains = 2; domains <= 5; ++domains) {
    for (ReplicaCount need = 1; need <= 12; ++need) {
      for (ReplicaCount fullest = 0; fullest <= 60; ++fullest) {
        const ReplicaCount asked = survive(over(domains, {fullest, std::min<ReplicaCount>(fullest, 2)}), need).asked;
        EXPECT_GT(asked, need);
        EXPECT_LE(asked, 3 * need + 1) << domains << " domains, " << need << " needed, " << fullest << " in one";
      }
    }
  }
}

TEST(Spread, AnEvenFleetStaysAsItIs) {
  for (ReplicaCount domains = 2; domains <= 6; ++domains) {
    for (ReplicaCount need = 1; need <= 40; ++need) {
      const ReplicaCount asked = survive(over(domains, {}), need).asked;
      std::vector<ReplicaCount> even(static_cast<std::size_t>(domains), asked / domains);
      for (ReplicaCount i = 0; i < asked % domains; ++i) ++even[static_cast<std::size_t>(i)];
      EXPECT_EQ(survive(over(domains, even), need).asked, asked) << domains << " domains, " << need;
      EXPECT_GE(survivors(over(domains, even), asked), need) << "what it leaves asks for no fewer";
    }
  }
}

TEST(Spread, TellsWhatIsLeftNow) {
  const SpreadSizing s = survive(over(3, {4, 2, 1}), 5);
  EXPECT_EQ(s.fullest, 4);
  EXPECT_EQ(s.placed, 7);
  EXPECT_EQ(s.left(), 3);
  EXPECT_EQ(survivors(over(3, {4, 2, 1}), 7), 3);
  EXPECT_EQ(survivors(over(1, {7}), 7), 7) << "nothing can be done";
}

}  // namespace
}  // namespace capstan::decide::scale
