#pragma once

#include <cstdint>
#include <vector>

#include "plan/result/plan.h"

namespace capstan::plan {

/// The values from which the sections of the plan and their manifests are made.
struct PlanFacts {
  const PlanSpec& spec;
  const std::vector<ServicePlan>& services;  ///< plans by service of the spec
  std::int64_t simulations = 0;              ///< number of simulations for the search and the proof
  const TogetherProof* together = nullptr;   ///< all services on one cluster; null: not simulated
};

inline std::vector<PlannedService> planned_services(const PlanFacts& facts) {
  return planned_services(facts.spec, facts.services);
}

}  // namespace capstan::plan
