#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/fleet/fleet.h"

// The limits of a spec bound the sum over its services. The services are searched in the order of the spec: each gets
// what the earlier ones leave, less what the later ones need, and at least its share by need.
namespace capstan::plan {

/// The need of a service at the peak of its load on its cheapest machines, by the engine table.
struct PeakNeed {
  MachineSpec machine{};
  MicroUsd per_hour{};    ///< price of one machine
  GpuCount gpus = 0;      ///< GPUs that it needs on these machines; slices for MIG
  GpuCount pod_gpus = 0;  ///< whole GPUs that its pods hold, rounded up
};

/// GPUs of one machine type that other services hold or need. Services with the same machine type share its nodes.
struct MachineUse {
  MachineSpec machine{};
  MicroUsd per_hour{};        ///< price of one machine
  GpuCount planned_gpus = 0;  ///< GPUs that the largest fleets of the services with a plan hold; slices for MIG
  GpuCount later_gpus = 0;    ///< GPUs that the later services need; slices for MIG
};

/// The GPUs that one limit leaves on the machines of a candidate.
struct LimitedGpus {
  GpuCount gpus = 0;    ///< GPUs that are left; slices for MIG
  std::string words{};  ///< "limits.gpus: 40 of 64 GPUs are for chat; ..."
};

struct RemainingLimits {
  std::string service{};                  ///< name of the service
  std::optional<GpuCount> gpus{};         ///< limit of the whole GPUs of all nodes
  std::optional<MicroUsd> per_hour{};     ///< limit of the price of all nodes
  GpuCount gpus_of_jobs = 0;              ///< part of `gpus` for the quotas of tenants without a service
  std::vector<MachineUse> others{};       ///< GPUs of other services, one row for each machine type
  std::optional<GpuCount> tenant_gpus{};  ///< whole GPUs that the pods of the service may hold
  std::string tenant_words{};             ///< text about the limit of the tenant; empty without a limit

  /// Returns the GPUs that each limit on nodes leaves for a service on machines of one type: the limit, less the nodes
  /// that only other services need, less the GPUs that other services hold on shared nodes.
  /// @param per_hour  price of one machine
  /// @param need      GPUs at the peak of the service; slices for MIG
  std::vector<LimitedGpus> for_machine(const MachineSpec& machine, MicroUsd per_hour, GpuCount need) const;
};

/// Returns the whole GPUs of a machine; a MIG slice is a part of one.
GpuCount whole_gpus_of(const MachineSpec& machine);

/// Returns the limits that a service would have if it were the only one.
RemainingLimits whole_limits(const PlanSpec& spec, const ServiceSpec& service);

/// Returns what is left for the next service.
/// @param found  plans of the services before it, in the order of the spec
/// @param needs  needs of every service of the spec
RemainingLimits remaining_limits(const PlanSpec& spec, const std::vector<ServicePlan>& found,
                                 const std::vector<PeakNeed>& needs);

}  // namespace capstan::plan
