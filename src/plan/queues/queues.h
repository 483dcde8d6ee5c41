#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/pools/pools.h"
#include "plan/queues/tenant_shares.h"
#include "plan/result/plan.h"

// The queues of the tenants in the forms of KAI, Kueue and Capstan. Each form has a folder, and one folder is applied.
namespace capstan::plan {

struct QueueInput {
  const PlanSpec& spec;
  const std::vector<GpuPool>& pools;
  const std::vector<TenantShare>& shares;
};

/// Returns KAI's queue of the cluster with one child for each tenant, and its topology if a replica is a gang.
std::vector<Manifest> kai_queues(const QueueInput& input);
/// Returns Kueue's flavors, one ClusterQueue and one LocalQueue for each tenant, and its Topology if a replica is a
/// gang.
std::vector<Manifest> kueue_queues(const QueueInput& input);
/// Returns the GPUs that a tenant may hold: its stated limit. Without one, a training or batch tenant may hold the GPUs
/// that the quotas of production leave, and at least its own quota. Nothing: a production tenant without a limit.
std::optional<GpuCount> capstan_limit(const QueueInput& input, const TenantShare& share);
/// Returns Capstan's queues with their limits.
std::vector<Manifest> capstan_queues(const QueueInput& input);
/// Returns Capstan's FleetPolicy, which Capstan needs as a scaler and for its queues.
Manifest fleet_policy(const QueueInput& input);
/// Returns one PriorityClass for each tenant.
std::vector<Manifest> priority_classes(const PlanSpec& spec);

/// Returns the Topology of KAI or Kueue, which have the same fields.
/// @param folder  "kai" or "kueue"
Manifest topology_manifest(const QueueInput& input, std::string_view api_version, std::string_view folder);

/// Returns the node labels of the topology, the largest domain first: zone, rack where the cloud labels it, NVLink
/// domain, host. Every node of the pools has all of them.
std::vector<std::string> topology_levels(const PlanSpec& spec, const std::vector<GpuPool>& pools);

}  // namespace capstan::plan
