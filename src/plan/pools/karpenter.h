#pragma once

#include <string>
#include <vector>

#include "plan/pools/pools.h"
#include "plan/result/plan.h"

namespace capstan::plan {

/// The settings of a NodePool that the page explains.
inline constexpr std::string_view kConsolidateAfter = "1h";
inline constexpr std::string_view kBusyFrom = "0 6 * * *";  ///< start of the hours without drift, UTC
inline constexpr std::string_view kBusyFor = "16h";         ///< length of the hours without drift

/// Returns the capacity types with which a pool may buy its base, the preferred one first. These are reserved and
/// on-demand, as far as the cluster allows them. For a base of spot nodes, spot comes before both.
std::vector<std::string> base_capacity(const ClusterSpec& cluster, const GpuPool& pool);

/// Returns the NodePools of a GPU pool: one for the base, and one for the spot nodes if there are any.
std::vector<Manifest> node_pools(const PlanSpec& spec, const GpuPool& pool);

/// Returns the NodeOverlays that tell Karpenter how many MIG slices or MPS shares its machines offer; none for whole
/// GPUs.
std::vector<Manifest> node_overlays(const PlanSpec& spec, const GpuPool& pool);

}  // namespace capstan::plan
