#include "fleet/free_nodes.h"

#include <gtest/gtest.h>

namespace capstan::fleet {
namespace {

TEST(FreeNodes, AmountsLoseLessThanAQuarter) {
  for (std::int64_t amount = -2; amount < 5'000; ++amount) {
    const std::int64_t rounded = rounded_down(amount);
    EXPECT_GE(rounded, 0);
    EXPECT_LE(rounded, std::max<std::int64_t>(amount, 0));
    EXPECT_GE(rounded * 4, amount * 3) << amount;
  }
  EXPECT_EQ(rounded_down(192'000), 163'840);
  EXPECT_EQ(rounded_down(model::kUnlimited), model::kUnlimited);
}

TEST(FreeNodes, NodesWithALittleMoreOrLessFreeCpuAreOneGroup) {
  FreeNodes nodes;
  for (std::uint32_t n = 0; n < 100; ++n) {
    const model::Resources others{.cpu_milli = 170'000 + n * 100, .pod_slots = 100};
    nodes.insert({0}, {{whole_gpus(8)}, whole_gpus(8), rounded_down(others)}, {n});
  }
  ASSERT_EQ(nodes.by_class().size(), 1u);
  EXPECT_EQ(nodes.by_class().begin()->second.size(), 1u);
  EXPECT_EQ(nodes.size(), 100u);
}

}  // namespace
}  // namespace capstan::fleet
