#include "plan/spec/candidates.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

PlanSpec candidates_spec() {
  PlanSpec spec;
  spec.engines = {std::shared_ptr<const engine::EngineTable>(), &engine::EngineTable::bundled()};
  spec.cluster.capacity = {model::CapacityType::on_demand};
  spec.cluster.machines = {
      {.name = "eight", .gpu = "h100_sxm", .gpus = 8, .on_demand_per_hour = MicroUsd{40'000'000}},
      {.name = "one", .gpu = "h100_sxm", .gpus = 1, .on_demand_per_hour = MicroUsd{6'000'000}},
      {.name = "spot-only", .gpu = "h100_sxm", .gpus = 8, .spot_per_hour = MicroUsd{10'000'000}},
  };
  spec.services = {{.name = "chat", .model = "Llama-3.3-70B", .dtype = "fp8"}};
  return spec;
}

TEST(SpecCandidates, NeedAMachineThatHoldsAPod) {
  PlanSpec spec = candidates_spec();
  EXPECT_EQ(spec_candidates(spec.services.front(), spec).size(), 5u);  // tp 1, 2, 4, 8 on eight; tp 1 on one
  spec.services.front().tensor_parallel = 8;
  EXPECT_EQ(spec_candidates(spec.services.front(), spec).size(), 1u);
  spec.services.front().pods_per_replica = 8;
  const auto candidates = spec_candidates(spec.services.front(), spec);
  ASSERT_EQ(candidates.size(), 2u);
  EXPECT_EQ(candidates[0].machines(), 1);
  EXPECT_EQ(candidates[1].machines(), 8);
}

TEST(SpecCandidates, FitTheirWeights) {
  PlanSpec spec = candidates_spec();
  spec.services.front().dtype = "bfloat16";  // 141 GB do not fit one H100, for which the table has no row
  for (const SpecCandidate& candidate : fitting_candidates(spec.services.front(), spec)) {
    EXPECT_GE(candidate.row->tp, 2);
  }
}

TEST(SpecCandidates, MachinesAreAvailableIfTheyExistOrHaveAPriceOfTheRightType) {
  PlanSpec spec = candidates_spec();
  MachineSpec& spot_only = spec.cluster.machines.back();
  EXPECT_FALSE(is_available(spot_only, spec.cluster));
  spec.cluster.capacity.push_back(model::CapacityType::spot);
  EXPECT_FALSE(is_available(spot_only, spec.cluster)) << "its base would be bought on demand, at an unknown price";
  spec.cluster.capacity = {model::CapacityType::spot};
  EXPECT_TRUE(is_available(spot_only, spec.cluster));
  EXPECT_EQ(base_capacity(spot_only, spec.cluster), model::CapacityType::spot);
  EXPECT_EQ(lowest_price(spot_only, spec.cluster), MicroUsd{10'000'000});
  spec.cluster.provisioner = Provisioner::none;
  EXPECT_FALSE(is_available(spot_only, spec.cluster));
  spot_only.existing = 1;
  EXPECT_TRUE(is_available(spot_only, spec.cluster));
}

TEST(SpecCandidates, RowsHaveWords) {
  const PlanSpec spec = candidates_spec();
  EXPECT_EQ(row_words(*spec_candidates(spec.services.front(), spec).back().row), "Llama-3.3-70B in fp8 on 8 x H100");
}

}  // namespace
}  // namespace capstan::plan
