#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/fleet.h"

// The limits of a spec bound the sum over its services. The services are searched in the order of the spec: each gets
// what the earlier ones leave, less what the later ones need, and at least its share by need.
namespace capstan::plan {

struct RemainingLimits {
  std::optional<GpuCount> gpus{};         ///< whole GPUs of the nodes at the maximum of the service
  std::optional<MicroUsd> per_hour{};     ///< price of these nodes
  std::optional<GpuCount> tenant_gpus{};  ///< whole GPUs that the pods of the service may hold
  std::string gpus_words{};               ///< "limits.gpus: 40 of 64 GPUs are left for chat ..."; empty without a limit
  std::string per_hour_words{};
  std::string tenant_words{};

  /// Returns the limits as one text; "no limit" if there is none.
  std::string words() const;
};

/// The need of a service at the peak of its load on its cheapest machines, by the engine table.
struct PeakNeed {
  GpuCount node_gpus = 0;  ///< whole GPUs of its nodes
  MicroUsd per_hour{};     ///< price of its nodes
  GpuCount pod_gpus = 0;   ///< whole GPUs that its pods hold, rounded up
};

/// Returns the whole GPUs of a machine; a MIG slice is a part of one.
GpuCount whole_gpus_of(const MachineSpec& machine);

/// Returns what is left for the next service.
/// @param found  plans of the services before it, in the order of the spec
/// @param needs  of every service of the spec
RemainingLimits remaining_limits(const PlanSpec& spec, const std::vector<ServicePlan>& found,
                                 const std::vector<PeakNeed>& needs);

}  // namespace capstan::plan
