#pragma once

#include <optional>

#include "plan/result/plan.h"
#include "plan/result/plan_facts.h"

// The parts of the page. Each is a pure function of the spec and of the fleets that the search chose.
namespace capstan::plan {

/// Returns the section on measured loads, with their queries. Nothing if no load was measured.
std::optional<Section> load_section(const PlanFacts& facts);
/// Returns the section on node pools: instance types, capacity types, consolidation, budgets, taints, labels, limits.
Section nodes_section(const PlanFacts& facts);
/// Returns the section on gang scheduling: whether it is needed, topology constraint, queues, preemption.
Section gangs_section(const PlanFacts& facts);
/// Returns the section on scaling: the signal of each role, its thresholds, and the objects of the scalers.
Section replicas_section(const PlanFacts& facts);
/// Returns the section on warm capacity: minimum ready replicas, cold-start chain, balloon pods, caches.
Section warm_pool_section(const PlanFacts& facts);
/// Returns the section on sharing: MIG, time-slicing, MPS or whole GPUs for small models.
Section sharing_section(const PlanFacts& facts);
/// Returns the section on pods: probes, drain, resources, tolerations, disruption budget, spread.
Section workload_section(const PlanFacts& facts);
/// Returns the section on monitoring: dashboard, alerts and the kill switch.
Section monitoring_section(const PlanFacts& facts);
/// Returns the section on cost: per month and per million tokens, idle share, traps, comparison with serverless.
Section cost_section(const PlanFacts& facts);
/// Returns the section on proof, the results of the simulations: attainment by seed, robustness, frontier.
Section proof_section(const PlanFacts& facts);

}  // namespace capstan::plan
