#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"

/// The step in which llm-d's Workload Variant Autoscaler turns a requirement into targets. It adds and removes replicas
/// by cost, stays within the free GPUs, and asks for zero or one replica if there is no load. Source:
/// llm-d/llm-d-workload-variant-autoscaler internal/engines/pipeline.
namespace capstan::peers::wva {

struct VariantCost {
  std::string name;
  double cost = 0;      ///< cost of one replica
  double capacity = 0;  ///< tokens of one replica
  ReplicaCount current = 0;
};

/// Returns indices by cost per capacity, cheapest first; variants without capacity last.
std::vector<std::size_t> by_efficiency(std::span<const VariantCost> variants);
/// Returns indices by cost, most expensive first.
std::vector<std::size_t> by_cost_descending(std::span<const VariantCost> variants);
/// Returns the index of the lowest cost, the first among equals; empty without variants.
std::optional<std::size_t> cheapest(std::span<const VariantCost> variants);

/// Adds the whole requirement to the variant with the cheapest capacity, even if there are not enough GPUs. If a
/// rounding error leaves a rest, the next variant gets one replica for it. Removes spare capacity from the
/// most expensive variants; the cheapest keeps one replica if no other variant has any.
/// @return targets in the order of `variants`
std::vector<ReplicaCount> optimize(double required, double spare, std::span<const VariantCost> variants);

using GpusByType = std::map<std::string, std::int64_t, std::less<>>;

struct ScaleUp {
  std::string name, type;
  ReplicaCount current = 0, target = 0;
  std::int64_t gpus_per_replica = 1;  ///< values below 1 count as 1
  double spare = 0;                   ///< spare capacity; the lowest is served first
  double cost = 0;                    ///< cost; among equals the lowest is served first
};

struct GpuGrant {
  std::int64_t gpus = 0;
  ReplicaCount target = 0;
  bool limited = false;
};

/// Limits targets to the free GPUs. A partial grant is cut to whole replicas, but the pool is charged in full: the
/// remaining GPUs are lost for later targets.
/// @param free updated; an unknown type grants nothing
/// @return in the order of `wishes`
std::vector<GpuGrant> limit(GpusByType& free, std::span<const ScaleUp> wishes);

/// Takes at most the free GPUs of a type and returns the number taken; 0 for an unknown type.
std::int64_t take(GpusByType& free, std::string_view type, std::int64_t gpus);
/// Returns the GPUs that the current replicas of `wishes` use. Unlike in `limit`, 0 GPUs per replica count as 0.
/// Entries without a type are skipped.
GpusByType gpus_in_use(std::span<const ScaleUp> wishes);
/// Returns limit - used for each type of `limits`, at least 0.
GpusByType available(const GpusByType& limits, const GpusByType& used);
/// Returns the minimum of each type over all entries that state it.
GpusByType least_of(std::span<const GpusByType> limits);

/// Returns the accelerator's short name, the part after the vendor: "A100" for "NVIDIA-A100-PCIE-80GB". An Intel name
/// has two such parts: "Gaudi-2".
std::string_view accelerator_name(std::string_view product);

struct EnforcedTargets {
  std::map<std::string, ReplicaCount> targets;
  bool applied = false;
};

/// Scales to zero if the model allows it and no request was completed within the retention. If the model does not allow
/// it, keeps at least one replica, on the cheapest variant. Only completed requests count, so a long request that still
/// runs can be cut.
/// @param enabled empty: the model is not configured, which means disabled
/// @param requests completed requests within the retention, unused unless `enabled` is true; empty: the query failed,
///     and all targets stay
EnforcedTargets enforce(std::optional<bool> enabled, std::optional<double> requests,
                        std::map<std::string, ReplicaCount> targets, const std::map<std::string, double>& costs);

}  // namespace capstan::peers::wva
