#pragma once

#include <optional>
#include <string>

#include "plan/spec/spec.h"

namespace capstan::plan {

/// The existing machines, and the least that one more machine adds to their GPUs and their price.
struct MachineStock {
  std::int64_t machines = 0;  ///< machines that exist
  GpuCount gpus = 0;          ///< whole GPUs of these machines
  MicroUsd per_hour{};        ///< price of these machines, as far as it is known
  GpuCount smallest = 0;      ///< whole GPUs of the smallest machine type
  MicroUsd cheapest{};        ///< price of the cheapest machine type; 0: no price is known, or it is free

  std::int64_t missing_to_two() const { return machines < 2 ? 2 - machines : 0; }
  /// Returns the lowest `limits.gpus` that allows two machines.
  GpuCount gpus_of_two() const { return gpus + smallest * missing_to_two(); }
  /// Returns the lowest `limits.usd_per_hour` that allows two machines.
  MicroUsd price_of_two() const { return per_hour + cheapest * missing_to_two(); }
};

MachineStock machine_stock(const ClusterSpec& cluster);

/// The limit that allows the fewest machines.
struct MachineBound {
  std::int64_t machines = 0;  ///< most machines, including the existing ones
  std::string limit{};        ///< "limits.gpus: 8"; empty: no machine may be bought
  std::string raised{};       ///< the same limit, high enough for two machines: "limits.gpus: 16"
  bool is_budget = false;     ///< true: the limit is a price
};

/// Returns how many machines the cluster can have; nothing if no limit bounds them.
std::optional<MachineBound> machine_bound(const PlanSpec& spec);

/// Returns a price as a limit of a spec, rounded up to cents so that it is enough: "55.04".
std::string usd_limit(MicroUsd amount);

}  // namespace capstan::plan
