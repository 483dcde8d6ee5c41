#include "plan/cost/gpu_price.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

RoleFleet reserved_role() {
  RoleFleet role;
  role.base = model::CapacityType::reserved;
  role.machine = {.name = "p5.48xlarge",
                  .gpus = 8,
                  .on_demand_per_hour = MicroUsd{80'000'000},
                  .reserved_per_hour = MicroUsd{40'000'000}};
  return role;
}

TEST(GpuPrice, IsThatOfTheCapacityTypeThatTheBaseBuys) {
  RoleFleet role = reserved_role();
  EXPECT_EQ(gpu_price(role).per_hour, MicroUsd{5'000'000});
  EXPECT_EQ(gpu_price(role).evidence, Evidence::catalogue);
  role.base = model::CapacityType::on_demand;
  role.machine.has_stated_price = true;
  EXPECT_EQ(gpu_price(role).per_hour, MicroUsd{10'000'000});
  EXPECT_EQ(gpu_price(role).evidence, Evidence::stated);
  EXPECT_EQ(node_price(role), MicroUsd{80'000'000});
}

TEST(GpuPrice, IsZeroIfNoneIsKnown) {
  RoleFleet role = reserved_role();
  role.base = model::CapacityType::spot;
  EXPECT_EQ(gpu_price(role).per_hour, MicroUsd{0});
  role.machine.gpus = 0;
  EXPECT_EQ(gpu_price(role).per_hour, MicroUsd{0});
}

}  // namespace
}  // namespace capstan::plan
