#include "operator/snapshot/replica_numbers.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace capstan::op {
namespace {

TEST(ReplicaNumbers, TheLowestFreeNumberIsFoundInEveryOrderOfChanges) {
  RandomStream random(1, "replica numbers");
  ReplicaNumbers numbers;
  std::map<std::uint32_t, model::GangId> expected;
  for (std::uint32_t step = 0; step < 5'000; ++step) {
    const model::GangId gang{step};
    const auto number = static_cast<std::uint32_t>(random.below(40));
    switch (random.below(3)) {
      case 0:
        EXPECT_EQ(numbers.take(number, gang), expected.emplace(number, gang).second);
        break;
      case 1: {
        std::uint32_t lowest = 0;
        while (expected.contains(lowest)) ++lowest;
        EXPECT_EQ(numbers.take_lowest(gang), lowest);
        expected[lowest] = gang;
        break;
      }
      default: {
        numbers.free(number, gang);  // the number of another replica stays
        const auto found = expected.find(number);
        if (found == expected.end()) break;
        numbers.free(number, found->second);
        expected.erase(found);
      }
    }
  }
  EXPECT_FALSE(expected.empty());
}

}  // namespace
}  // namespace capstan::op
