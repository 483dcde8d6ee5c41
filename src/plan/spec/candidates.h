#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "engine/table.h"
#include "model/offering.h"
#include "plan/spec/spec.h"

namespace capstan::plan {

/// A way to run a replica of a service: a row of the engine table on a machine that has its GPUs.
struct SpecCandidate {
  const engine::EngineRow* row = nullptr;
  const MachineSpec* machine = nullptr;

  /// Returns the machines that one replica occupies. The replica may use the last machine only in part.
  std::int64_t machines() const { return ceil_div(row->tp, machine->gpus); }
  /// Returns the GPUs of these machines.
  GpuCount gpus() const { return machines() * machine->gpus; }
};

/// Returns the price of a machine of a capacity type; nothing if none is known.
std::optional<MicroUsd> price_of(const MachineSpec& machine, model::CapacityType capacity);

/// Returns the capacity type of the nodes that always run: the cheaper one of reserved and on-demand, as far as the
/// spec allows them, or spot if it allows nothing else. If none of these has a price and the machine exists already,
/// any capacity type with a price counts. Returns nothing if no price is known.
std::optional<model::CapacityType> base_capacity(const MachineSpec& machine, const ClusterSpec& cluster);

/// Returns true if the machine has a price, and exists or can be bought.
bool is_available(const MachineSpec& machine, const ClusterSpec& cluster);

/// Returns the lowest price per hour of a machine among the capacity types that the spec allows; nothing if there is
/// none.
std::optional<MicroUsd> lowest_price(const MachineSpec& machine, const ClusterSpec& cluster);

/// Returns the rows of the service's model, weight type and pipeline stages, and of its tensor parallelism if that is
/// stated, on every available machine that can hold a pod. Whether the weights fit into the GPUs is not considered.
std::vector<SpecCandidate> spec_candidates(const ServiceSpec& service, const PlanSpec& spec);

/// Returns the candidates whose GPUs have room for the weights and for some KV memory.
std::vector<SpecCandidate> fitting_candidates(const ServiceSpec& service, const PlanSpec& spec);

/// Returns "Llama-3.3-70B in fp8 on 2 x H100".
std::string row_words(const engine::EngineRow& row);

}  // namespace capstan::plan
