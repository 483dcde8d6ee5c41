#include "plan/feasibility/machine_bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plan/feasibility/remaining_limits.h"
#include "plan/spec/candidates.h"

namespace capstan::plan {

MachineStock machine_stock(const ClusterSpec& cluster) {
  MachineStock stock;
  std::optional<MicroUsd> cheapest;
  for (const MachineSpec& machine : cluster.machines) {
    stock.machines += machine.existing;
    stock.gpus += machine.existing * whole_gpus_of(machine);
    const GpuCount gpus = whole_gpus_of(machine);
    stock.smallest = stock.smallest == 0 ? gpus : std::min(stock.smallest, gpus);
    const std::optional<model::CapacityType> base = base_capacity(machine, cluster);
    if (base && machine.existing > 0) stock.per_hour = stock.per_hour + *price_of(machine, *base) * machine.existing;
    const std::optional<MicroUsd> price = lowest_price(machine, cluster);
    if (price && (!cheapest || *price < *cheapest)) cheapest = price;
  }
  stock.cheapest = cheapest.value_or(MicroUsd{0});
  return stock;
}

std::optional<MachineBound> machine_bound(const PlanSpec& spec) {
  const MachineStock stock = machine_stock(spec.cluster);
  if (spec.cluster.provisioner == Provisioner::none) return MachineBound{.machines = stock.machines};
  std::optional<MachineBound> least;
  const auto lower = [&](std::int64_t more, MachineBound bound) {
    bound.machines = stock.machines + std::max<std::int64_t>(0, more);
    if (!least || bound.machines < least->machines) least = std::move(bound);
  };
  if (spec.limits.gpus && stock.smallest > 0) {
    lower((*spec.limits.gpus - stock.gpus) / stock.smallest,
          {.limit = fmt::format("limits.gpus: {}", *spec.limits.gpus),
           .raised = fmt::format("limits.gpus: {}", stock.gpus_of_two())});
  }
  if (spec.limits.per_hour && stock.cheapest.count > 0) {
    lower((spec.limits.per_hour->count - stock.per_hour.count) / stock.cheapest.count,
          {.limit = "limits.usd_per_hour: " + usd_limit(*spec.limits.per_hour),
           .raised = "limits.usd_per_hour: " + usd_limit(stock.price_of_two()),
           .is_budget = true});
  }
  return least;
}

std::string usd_limit(MicroUsd amount) {
  return fmt::format("{:.2f}", static_cast<double>(ceil_div(amount.count, 10'000)) / 100);
}

}  // namespace capstan::plan
