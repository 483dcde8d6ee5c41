#include "experiment/report/spending.h"

#include <gtest/gtest.h>

namespace capstan::experiment {
namespace {

using model::CapacityType;

/// Returns a text such as "spot 9 + on-demand 6".
std::string split(const RunResult& result, SpendingKey key) {
  std::string text;
  for (const SpendingSum& sum : spending_by(result, key)) {
    text += (text.empty() ? "" : " + ") + sum.name + " " + std::to_string(sum.micro_usd);
  }
  return text;
}

TEST(Spending, AddsUpByEachKey) {
  RunResult result;
  result.spending = {
      {.pool = "", .zone = "b", .instance_type = "p5", .capacity = CapacityType::reserved, .micro_usd = 1},
      {.pool = "burst", .zone = "b", .instance_type = "p5", .capacity = CapacityType::spot, .micro_usd = 2},
      {.pool = "base", .zone = "a", .instance_type = "p5", .capacity = CapacityType::on_demand, .micro_usd = 4},
      {.pool = "base", .zone = "b", .instance_type = "p5", .capacity = CapacityType::on_demand, .micro_usd = 8},
  };
  EXPECT_EQ(split(result, SpendingKey::capacity_type), "on-demand 12 + spot 2 + reserved 1");
  EXPECT_EQ(split(result, SpendingKey::zone), "a 4 + b 11");
  EXPECT_EQ(split(result, SpendingKey::pool), "base 12 + burst 2 + no pool 1");
}

}  // namespace
}  // namespace capstan::experiment
