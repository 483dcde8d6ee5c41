#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.h"

// The parts of the page. Each is a pure function of the spec and of the fleets that the search chose.
namespace capstan::plan {

struct PlanFacts {
  const PlanSpec& spec;
  const std::vector<ServicePlan>& services;  ///< by service of the spec
  std::int64_t simulations = 0;              ///< run for the search and the proof
};

/// The measured loads, with their queries. Nothing if no load was measured.
std::optional<Section> load_section(const PlanFacts& facts);
/// Node pools: instance types, capacity types, consolidation, budgets, taints, labels, limits.
Section nodes_section(const PlanFacts& facts);
/// Gang scheduling: whether it is needed, topology constraint, queues, preemption.
Section gangs_section(const PlanFacts& facts);
/// The scaling signal of each role, its thresholds, and the objects of the scalers.
Section replicas_section(const PlanFacts& facts);
/// Minimum ready replicas, cold-start chain, balloon pods, caches.
Section warm_pool_section(const PlanFacts& facts);
/// MIG, time-slicing, MPS or whole GPUs for small models.
Section sharing_section(const PlanFacts& facts);
/// The pods: probes, drain, resources, tolerations, disruption budget, spread.
Section workload_section(const PlanFacts& facts);
/// Dashboard, alerts and the kill switch.
Section monitoring_section(const PlanFacts& facts);
/// Cost per month and per million tokens, idle share, traps, comparison with serverless.
Section cost_section(const PlanFacts& facts);
/// Results of the simulations: attainment by seed, robustness, frontier.
Section proof_section(const PlanFacts& facts);

}  // namespace capstan::plan
