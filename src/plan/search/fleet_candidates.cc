#include "plan/search/fleet_candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace capstan::plan {

namespace {

namespace scale = decide::scale;
using model::CapacityType;

scale::Shape shape_of(const LoadFacts& load, model::Role role) {
  scale::Shape shape;
  shape.prompt = std::max(1.0, load.prompt_tokens);
  shape.output = std::max(1.0, load.answer_tokens);
  if (role == model::Role::prefill) {
    shape.output = 1;
    shape.prompt_per_output = shape.context = shape.prompt;
    return shape;
  }
  shape.prompt_per_output = shape.prompt / shape.output;
  // Requests with long answers are in the batch for longer, so that a running sequence holds about one mean answer.
  shape.context = shape.prompt + shape.output;
  return shape;
}

ReplicaCount replicas_for(double per_s, double replica_per_s) {
  if (replica_per_s <= 0) return 1;
  return std::max<ReplicaCount>(1, static_cast<ReplicaCount>(std::ceil(per_s / replica_per_s)));
}

RoleNeed need_of(const engine::EngineRow& row, model::Role role, const model::Slo& slo, const LoadFacts& load) {
  const scale::EngineBelief engine = scale::believe(&row, 1'000'000, role);
  const scale::Shape shape = shape_of(load, role);
  const model::Slo bounds = scale::slo_for_mean_prompt(scale::role_slo(slo, role), engine, shape);
  RoleNeed need;
  need.role = role;
  need.capacity = scale::capacity(engine, shape, {}, bounds);
  need.requests_per_s = need.capacity.tokens_per_s / shape.output;
  const double prompt_s = shape.prompt_per_output * need.capacity.prompt_s;
  const double token_s = prompt_s + need.capacity.decode_s;
  need.prefill_share = role == model::Role::prefill ? 1 : token_s > 0 ? prompt_s / token_s : 0;
  const double held = static_cast<double>(need.capacity.batch) * shape.context;
  need.kv_share = engine.kv_tokens > 0 ? std::min(1.0, held / engine.kv_tokens) : 0;
  need.at_mean = replicas_for(load.mean_per_s, need.requests_per_s);
  need.at_peak = replicas_for(load.peak_per_s, need.requests_per_s);
  need.at_first = replicas_for(load.first_per_s, need.requests_per_s);
  return need;
}

/// Returns the capacity type of the nodes of the minimum: reserved if it may be bought and is cheaper.
std::optional<CapacityType> base_of(const MachineSpec& machine, const ClusterSpec& cluster) {
  std::optional<CapacityType> base;
  for (const CapacityType type : {CapacityType::reserved, CapacityType::on_demand, CapacityType::spot}) {
    const bool may_buy = std::ranges::find(cluster.capacity, type) != cluster.capacity.end();
    const bool is_base = type != CapacityType::spot || !base;  // spot nodes only if nothing else is allowed
    if (!may_buy || !is_base || !price_of(machine, type)) continue;
    if (!base || price_of(machine, type)->count < price_of(machine, *base)->count) base = type;
  }
  return base;
}

ReplicaCount most_replicas(const PlanSpec& spec, const ServiceSpec& service, const FleetCandidate& candidate) {
  const ReplicaCount all_roles = service.max_replicas * static_cast<ReplicaCount>(candidate.needs.size());
  std::int64_t machines = candidate.machines_for(all_roles);
  if (spec.limits.gpus) machines = std::min(machines, *spec.limits.gpus / candidate.machine.gpus);
  if (const auto price = price_of(candidate.machine, candidate.base);
      spec.limits.per_hour && price && price->count > 0) {
    machines = std::min(machines, spec.limits.per_hour->count / price->count);
  }
  if (spec.cluster.provisioner == Provisioner::none) machines = std::min(machines, candidate.machine.existing);
  return std::min(candidate.replicas_on(machines), all_roles);
}

Error does_not_fit(const PlanSpec& spec, const ServiceSpec& service) {
  double needed_gib = 0, most_gib = 0;
  GpuCount most_gpus = 0;
  for (const engine::EngineRow& row : spec.engines->rows()) {
    if (row.model != service.model || row.weight_dtype != service.dtype) continue;
    needed_gib = static_cast<double>(row.weights().count) / (1 << 30);
    for (const MachineSpec& machine : spec.cluster.machines) {
      if (machine.gpu != row.gpu) continue;
      most_gpus = std::max(most_gpus, machine.gpus);
      most_gib =
          std::max(most_gib, static_cast<double>(row.gpu_memory.count) / (1 << 30) * static_cast<double>(machine.gpus));
    }
  }
  Error error = Error::about(
      "services." + service.name,
      fmt::format(
          "no machine of the cluster and its limits can hold a replica of {} in {}: the weights take {:.0f} GiB, "
          "and the largest machine with a GPU of its engine rows has {} GPUs with {:.0f} GiB; expected a machine "
          "with more GPU memory, another dtype or higher limits",
          service.model, service.dtype, needed_gib, most_gpus, most_gib));
  error.kind = ErrorKind::infeasible;
  return error;
}

/// Keeps, for each GPU kind and parallelism, the machine with the lowest cost for the load and, because small machines
/// leave fewer GPUs idle, the one with the fewest GPUs.
std::vector<FleetCandidate> without_similar(std::vector<FleetCandidate> candidates) {
  std::map<std::pair<std::string, std::int64_t>, std::vector<FleetCandidate>> kinds;
  for (FleetCandidate& candidate : candidates) {
    kinds[{candidate.engine.gpu, candidate.engine.tp}].push_back(std::move(candidate));
  }
  std::vector<FleetCandidate> out;
  for (auto& [kind, machines] : kinds) {
    const auto cost = [](const FleetCandidate& c) {
      return std::tuple(c.modelled_usd_per_hour, c.machine.gpus, c.machine.name);
    };
    const auto size = [&](const FleetCandidate& c) { return std::pair(c.machine.gpus, cost(c)); };
    const auto cheapest = std::ranges::min_element(machines, {}, cost);
    const auto smallest = std::ranges::min_element(machines, {}, size);
    out.push_back(*cheapest);
    if (smallest != cheapest) out.push_back(*smallest);
  }
  return out;
}

}  // namespace

std::string FleetCandidate::words() const {
  return fmt::format("{}, tensor parallel {}, {}", engine.gpu_name, engine.tp, machine.name);
}

std::int64_t FleetCandidate::machines_for(ReplicaCount replicas) const {
  if (machines_per_replica() > 1) return replicas * machines_per_replica();
  const std::int64_t per_machine = machine.gpus / engine.tp;
  return (replicas + per_machine - 1) / per_machine;
}

ReplicaCount FleetCandidate::replicas_on(std::int64_t machines) const {
  return machines_per_replica() > 1 ? machines / machines_per_replica() : machines * (machine.gpus / engine.tp);
}

std::optional<MicroUsd> price_of(const MachineSpec& machine, model::CapacityType capacity) {
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

Result<std::vector<FleetCandidate>> fleet_candidates(const PlanSpec& spec, const ServiceSpec& service,
                                                     const LoadFacts& load) {
  std::vector<FleetCandidate> candidates;
  for (const engine::EngineRow& row : spec.engines->rows()) {
    if (row.model != service.model || row.weight_dtype != service.dtype) continue;
    if (service.tensor_parallel && row.tp != *service.tensor_parallel) continue;
    if (row.tp % std::max<std::int64_t>(1, service.pods_per_replica) != 0 || !engine::kv_capacity_blocks(row)) continue;
    for (const MachineSpec& machine : spec.cluster.machines) {
      if (machine.gpu != row.gpu || machine.gpus < row.tp / service.pods_per_replica) continue;
      const auto base = base_of(machine, spec.cluster);
      if (!base) continue;
      FleetCandidate candidate{.engine = row, .machine = machine, .base = *base};
      const auto add = [&](model::Role role) { candidate.needs.push_back(need_of(row, role, service.slo, load)); };
      if (service.is_disaggregated) {
        add(model::Role::prefill);
        add(model::Role::decode);
      } else {
        add(model::Role::both);
      }
      candidate.most_replicas = most_replicas(spec, service, candidate);
      if (candidate.most_replicas < static_cast<ReplicaCount>(candidate.needs.size())) continue;
      ReplicaCount replicas = 0;
      for (const RoleNeed& need : candidate.needs) {
        replicas += need.at_mean;
        candidate.holds_slo &= !need.capacity.out_of_reach;
      }
      candidate.modelled_usd_per_hour = static_cast<double>(price_of(machine, *base)->count) / 1e6 *
                                        static_cast<double>(candidate.machines_for(replicas));
      candidates.push_back(std::move(candidate));
    }
  }
  if (candidates.empty()) return std::unexpected(does_not_fit(spec, service));
  if (std::ranges::any_of(candidates, &FleetCandidate::holds_slo)) {
    std::erase_if(candidates, [](const FleetCandidate& candidate) { return !candidate.holds_slo; });
  }
  candidates = without_similar(std::move(candidates));
  std::ranges::sort(candidates, {}, [](const FleetCandidate& c) {
    return std::tuple(c.modelled_usd_per_hour, c.engine.gpu, c.engine.tp, c.machine.name);
  });
  if (candidates.size() > kCandidatesMost) candidates.resize(kCandidatesMost);
  return candidates;
}

}  // namespace capstan::plan
