#include "plan/spec/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace capstan::plan {

using model::CapacityType;

std::optional<MicroUsd> price_of(const MachineSpec& machine, CapacityType capacity) {
  switch (capacity) {
    case CapacityType::on_demand:
      return machine.on_demand_per_hour;
    case CapacityType::spot:
      return machine.spot_per_hour;
    case CapacityType::reserved:
      return machine.reserved_per_hour;
  }
  return std::nullopt;
}

std::optional<CapacityType> base_capacity(const MachineSpec& machine, const ClusterSpec& cluster) {
  // If the spec allows on-demand or reserved nodes, the node pools buy no spot nodes for the base, so the spot price of
  // a machine does not matter.
  const bool is_spot_only =
      std::ranges::all_of(cluster.capacity, [](CapacityType type) { return type == CapacityType::spot; });
  const auto cheapest = [&](bool any_type) {
    std::optional<CapacityType> base;
    for (const CapacityType type : {CapacityType::reserved, CapacityType::on_demand, CapacityType::spot}) {
      const bool may_buy = any_type || std::ranges::find(cluster.capacity, type) != cluster.capacity.end();
      const bool is_base = type != CapacityType::spot || (!base && (any_type || is_spot_only));
      if (!may_buy || !is_base || !price_of(machine, type)) continue;
      if (!base || *price_of(machine, type) < *price_of(machine, *base)) base = type;
    }
    return base;
  };
  const std::optional<CapacityType> allowed = cheapest(false);
  return allowed || machine.existing == 0 ? allowed : cheapest(true);
}

std::optional<MicroUsd> lowest_price(const MachineSpec& machine, const ClusterSpec& cluster) {
  std::optional<MicroUsd> lowest;
  for (const CapacityType type : cluster.capacity) {
    const std::optional<MicroUsd> price = price_of(machine, type);
    if (price && (!lowest || *price < *lowest)) lowest = price;
  }
  return lowest;
}

bool is_available(const MachineSpec& machine, const ClusterSpec& cluster) {
  const bool may_run = machine.existing > 0 || cluster.provisioner != Provisioner::none;
  return may_run && base_capacity(machine, cluster).has_value();
}

std::vector<SpecCandidate> spec_candidates(const ServiceSpec& service, const PlanSpec& spec) {
  std::vector<SpecCandidate> candidates;
  for (const engine::EngineRow& row : spec.engines->rows()) {
    const bool is_of_service = row.model == service.model && row.weight_dtype == service.dtype &&
                               row.stages == service.pipeline_parallel &&
                               row.tensor_parallel() == service.tensor_parallel.value_or(row.tensor_parallel()) &&
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
  return fmt::format("{} in {} on {} x {}", engine::model_words(row), row.weight_dtype, row.tp, row.gpu_name);
}

}  // namespace capstan::plan
