#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"

/// What llm-d's Workload Variant Autoscaler makes of a requirement: targets by cost, cut to the GPUs that are free, and
/// zero or one where nothing comes. Source: llm-d/llm-d-workload-variant-autoscaler internal/engines/pipeline.
namespace capstan::decide::scale::wva {

struct VariantCost {
  std::string name;
  double cost = 0;      ///< of one replica
  double capacity = 0;  ///< tokens of one replica
  ReplicaCount current = 0;
};

/// Indices by cost over capacity, cheapest first; those without capacity last.
std::vector<std::size_t> by_efficiency(std::span<const VariantCost> variants);
/// Indices by cost, most expensive first.
std::vector<std::size_t> by_cost_descending(std::span<const VariantCost> variants);
/// Index of the lowest cost, the first of equals; nothing of none.
std::optional<std::size_t> cheapest(std::span<const VariantCost> variants);

/// All that is required goes onto the variant with the cheapest capacity, whatever GPUs there are (a rounding error
/// that is left over brings the next one a replica); what is spare comes off the most expensive ones, and the cheapest
/// keeps one replica where no other has any.
/// @return targets in the order of `variants`
std::vector<ReplicaCount> optimize(double required, double spare, std::span<const VariantCost> variants);

using GpusByType = std::map<std::string, std::int64_t, std::less<>>;

struct ScaleUp {
  std::string name, type;
  ReplicaCount current = 0, target = 0;
  std::int64_t gpus_per_replica = 1;  ///< 0 and less count as 1
  double spare = 0;                   ///< of its capacity; the least goes first
  double cost = 0;                    ///< the lower goes first among equals
};

struct Granted {
  std::int64_t gpus = 0;
  ReplicaCount target = 0;
  bool limited = false;
};

/// Cuts targets to the free GPUs. A partial grant is cut to whole replicas, but leaves the pool in full: the odd GPUs
/// are lost for those that come later.
/// @param free updated; a type that it lacks grants nothing
/// @return in the order of `wishes`
std::vector<Granted> limit(GpusByType& free, std::span<const ScaleUp> wishes);

/// Takes at most what is free; the type must not be empty.
std::int64_t take(GpusByType& free, std::string_view type, std::int64_t gpus);
/// The GPUs that the current replicas of `wishes` hold. Here 0 per replica is 0, and what has no type is not counted.
GpusByType held(std::span<const ScaleUp> wishes);
/// limit - used of each type of `limits`, never below 0.
GpusByType available(const GpusByType& limits, const GpusByType& used);
/// The least of each type over all that state it.
GpusByType least_of(std::span<const GpusByType> limits);

/// "NVIDIA-A100-PCIE-80GB" → "A100": what stands behind the first dash; of Intel's two parts, "Gaudi-2".
std::string_view accelerator_name(std::string_view product);

struct Enforced {
  std::map<std::string, ReplicaCount> targets;
  bool applied = false;
};

/// Scale to zero, where the model has it and nothing was completed over the retention; else at least one replica, on
/// the cheapest. Only requests that ended are counted, so a long one can be cut.
/// @param enabled nothing: the model is not configured, as if switched off
/// @param requests nothing: the query failed, so all targets stay
Enforced enforce(std::optional<bool> enabled, std::optional<double> requests,
                 std::map<std::string, ReplicaCount> targets, const std::map<std::string, double>& costs);

}  // namespace capstan::decide::scale::wva
