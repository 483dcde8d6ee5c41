#include "plan/search/scaler_comparison.h"

#include <gtest/gtest.h>

#include "plan/testing/sample_specs.h"

namespace capstan::plan {
namespace {

struct Compared {
  PlanSpec spec{};
  LoadFacts load{};
  std::vector<FleetCandidate> candidates{};

  explicit Compared(PlanSpec spec_in) : spec(std::move(spec_in)) {
    load = count_load(spec.services[0]).value();
    candidates = fleet_candidates(spec, spec.services[0], load, {}).value();
  }
  FleetOption fleet(ScalerKind kind, ReplicaCount minimum) const {
    const std::size_t roles = candidates.front().needs.size();
    return {.candidate = &candidates.front(),
            .minimum = std::vector<ReplicaCount>(roles, minimum),
            .maximum = std::vector<ReplicaCount>(roles, 6),
            .scaler = kind};
  }
  std::string text(const std::vector<FleetOption>& fleets) const {
    return comparison_text(spec, spec.services[0], load, fleets);
  }
};

TEST(ScalerComparison, HasAPolicyForEachFileAndStartsInTheLargestMinimum) {
  const Compared compared(sample_specs::small_spec());
  const std::string text = compared.text({compared.fleet(ScalerKind::capstan, 2), compared.fleet(ScalerKind::hpa, 5)});
  EXPECT_NE(text.find("manifest: \"../replicas/capstan/small.yaml\""), text.npos) << text;
  EXPECT_NE(text.find("manifest: \"../replicas/hpa/small.yaml\""), text.npos);
  EXPECT_EQ(text.find("keda"), text.npos) << "it was not simulated";
  EXPECT_NE(text.find("min: 1\n"), text.npos) << "each file has its own minimum";
  EXPECT_NE(text.find("initial: 5\n"), text.npos);
  EXPECT_NE(text.find("labels:"), text.npos) << "the queries of the HPA select series";
}

TEST(ScalerComparison, EachRoleHasItsFile) {
  const Compared compared(sample_specs::disaggregated_spec());
  const std::string text =
      compared.text({compared.fleet(ScalerKind::capstan, 1), compared.fleet(ScalerKind::scaled_object, 1)});
  EXPECT_NE(text.find("manifest: \"../replicas/capstan/split.yaml\""), text.npos) << text;
  EXPECT_NE(text.find("manifest: \"../replicas/keda/split-prefill.yaml\""), text.npos);
  EXPECT_NE(text.find("manifest: \"../replicas/keda/split-decode.yaml\""), text.npos);
}

}  // namespace
}  // namespace capstan::plan
