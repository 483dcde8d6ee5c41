#include "plan/spec/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace capstan::plan {

std::optional<MicroUsd> lowest_price(const MachineSpec& machine, const ClusterSpec& cluster) {
  std::optional<MicroUsd> lowest;
  for (const model::CapacityType type : cluster.capacity) {
    const std::optional<MicroUsd>& price = type == model::CapacityType::spot       ? machine.spot_per_hour
                                           : type == model::CapacityType::reserved ? machine.reserved_per_hour
                                                                                   : machine.on_demand_per_hour;
    if (price && (!lowest || *price < *lowest)) lowest = price;
  }
  return lowest;
}

bool is_available(const MachineSpec& machine, const ClusterSpec& cluster) {
  if (machine.existing > 0) return true;
  return cluster.provisioner != Provisioner::none && lowest_price(machine, cluster).has_value();
}

std::vector<SpecCandidate> spec_candidates(const ServiceSpec& service, const PlanSpec& spec) {
  std::vector<SpecCandidate> candidates;
  for (const engine::EngineRow& row : spec.engines->rows()) {
    const bool is_of_service = row.model == service.model && row.weight_dtype == service.dtype &&
                               row.tp == service.tensor_parallel.value_or(row.tp) &&
                               row.tp % service.pods_per_replica == 0;
    if (!is_of_service) continue;
    for (const MachineSpec& machine : spec.cluster.machines) {
      const bool holds_pod = machine.gpu == row.gpu && machine.gpus >= row.tp / service.pods_per_replica;
      if (holds_pod && is_available(machine, spec.cluster)) candidates.push_back({&row, &machine});
    }
  }
  return candidates;
}

std::vector<SpecCandidate> fitting_candidates(const ServiceSpec& service, const PlanSpec& spec) {
  std::vector<SpecCandidate> candidates = spec_candidates(service, spec);
  std::erase_if(candidates, [](const SpecCandidate& c) { return !engine::kv_capacity_blocks(*c.row); });
  return candidates;
}

std::string row_words(const engine::EngineRow& row) {
  return fmt::format("{} in {} on {} x {}", row.model, row.weight_dtype, row.tp, row.gpu_name);
}

}  // namespace capstan::plan
