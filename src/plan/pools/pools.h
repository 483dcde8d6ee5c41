#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/result/plan_facts.h"

namespace capstan::plan {

/// The nodes of one machine type and GPU kind, which one Karpenter NodePool or one group of the Cluster Autoscaler
/// launches. Where a part of the nodes is bought as spot, a second pool launches that part.
struct GpuPool {
  std::string name{};                    ///< "h100", as the pool of `device_of`
  std::string gpu{};                     ///< "h100_sxm" or "h100-3g.40gb"
  std::vector<MachineSpec> machines{};   ///< the machine type of the nodes; exactly one
  std::vector<std::string> workloads{};  ///< "chat", "chat-prefill"
  bool is_constant = true;               ///< only constant fleets use the pool
  bool holds_slo = true;                 ///< every service of the pool held its SLO in the simulation
  std::int64_t base_nodes = 0;           ///< nodes for the minimum replicas
  model::CapacityType base = model::CapacityType::on_demand;  ///< capacity type of the nodes that are not `spot_nodes`
  std::int64_t max_nodes = 0;               ///< nodes for the maximum replicas and the jobs of other tenants
  std::int64_t spot_nodes = 0;              ///< nodes of `max_nodes` that are bought as spot, by a second pool
  std::int64_t spot_base_nodes = 0;         ///< nodes of `spot_nodes` that are for the minimum replicas
  std::int64_t existing_nodes = 0;          ///< nodes that exist already; may be more than `max_nodes`
  std::int64_t replacement_nodes = 0;       ///< nodes above `max_nodes` that replace the base of a lost zone
  std::int64_t reserved_for_jobs = 0;       ///< GPUs that tenants without a service are entitled to
  std::string arithmetic{};                 ///< arithmetic of `max_nodes`: "chat: 8 replicas x 4 GPUs"
  std::int64_t mps_shares = 1;              ///< pods that divide each GPU by MPS; 1: pods have whole GPUs
  Duration node_typical{}, node_longest{};  ///< time until a new node is ready, as simulated; 0: unknown
  Duration start_typical{};                 ///< simulated start of a replica on a node that exists; 0: unknown

  std::int64_t nodes_per_replica = 1;  ///< nodes that the largest replica of the pool spans
  /// Returns the nodes that the pool of the base may have.
  std::int64_t limit_nodes() const { return max_nodes - spot_nodes + replacement_nodes; }
  /// Returns the nodes for the minimum replicas of the pool of the base, or of the second pool.
  std::int64_t minimum_nodes(bool is_spot) const { return is_spot ? spot_base_nodes : base_nodes - spot_base_nodes; }
  GpuCount gpus_per_node() const { return machines.front().gpus; }
  /// Returns the GPUs of a node as Karpenter counts them: whole GPUs, not MIG slices.
  GpuCount whole_gpus_per_node() const;
};

/// The label of nodes whose value is a key of the device plugin's ConfigMap.
inline constexpr std::string_view kDevicePluginLabel = "nvidia.com/device-plugin.config";

/// A label of the nodes of a pool.
struct DeviceLabel {
  std::string_view key{};
  std::string value{};
  std::string comment{};
};

/// Returns the label by which the GPU Operator divides the GPUs of a pool: its MIG geometry, or its MPS config. Nothing
/// for whole GPUs.
std::optional<DeviceLabel> device_label(const GpuPool& pool);
/// Returns the key of the device plugin's ConfigMap that divides the GPUs of a pool by MPS: "l40s-mps".
std::string mps_config(std::string_view pool);
/// Returns the key of the config that divides the GPUs of a pool by time-slicing: "l40s-time-slicing".
std::string time_slicing_config(std::string_view pool);

/// Returns the GPUs that a pod blocks on a node, so that equal pods fill the node: 4 for a pod of 3 GPUs on a node
/// of 8.
GpuCount blocked_gpus(GpuCount per_pod, GpuCount per_node);

/// Returns how many slices of a MIG profile a GPU holds at most: 2 for "h100-3g.40gb". Returns 1 for a whole GPU and
/// for a product that data/lint/mig.csv does not have.
std::int64_t slices_per_gpu(std::string_view gpu);

/// Returns the whole GPUs that tenants without a service are entitled to.
GpuCount gpus_of_jobs(const PlanSpec& spec);

/// Names the pool of each role: `pool_name` of its GPU kind, with the machine type if the plan uses several machine
/// types with this kind. If the roles of such a pool buy their base nodes in different ways, they get separate pools.
/// The suffix "spot-base" then means that all base nodes are spot, and "half-spot" that half of them are.
void name_pools(std::vector<ServicePlan>& services);

/// Returns the pools of the plan, in the order in which its services use them.
std::vector<GpuPool> gpu_pools(const PlanFacts& facts);

}  // namespace capstan::plan
