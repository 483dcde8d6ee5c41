#include "plan/search/fleet_candidates.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/number_text.h"

namespace capstan::plan {

namespace {

using model::CapacityType;

ReplicaCount replicas_for(double per_s, double replica_per_s) {
  if (replica_per_s <= 0) return 1;
  return std::max<ReplicaCount>(1, static_cast<ReplicaCount>(std::ceil(per_s / replica_per_s)));
}

RoleNeed need_of(const engine::EngineRow& row, model::Role role, const model::Slo& slo, const LoadFacts& load) {
  const MeanRequest request{.prompt = load.prompt_tokens, .answer = load.answer_tokens, .per_second = load.mean_per_s};
  RoleNeed need;
  need.role = role;
  need.capacity = replica_capacity(row, role, slo, request);
  need.at_mean = replicas_for(load.mean_per_s, need.capacity.requests_per_s);
  need.at_peak = replicas_for(load.peak_per_s, need.capacity.requests_per_s);
  need.at_first = replicas_for(load.first_per_s, need.capacity.requests_per_s);
  return need;
}

/// Sets the largest number of replicas of all roles, and the limit that determines this number.
void set_most_replicas(const PlanSpec& spec, const ServiceSpec& service, const RemainingLimits& limits,
                       FleetCandidate& candidate) {
  const auto roles = static_cast<ReplicaCount>(candidate.needs.size());
  candidate.most_replicas = service.max_replicas * roles;
  candidate.bounded_by = fmt::format("services.{}.max_replicas: {}", service.name, service.max_replicas);
  const auto lower = [&](ReplicaCount most, const std::string& words) {
    if (most >= candidate.most_replicas) return;
    candidate.most_replicas = most;
    candidate.bounded_by = words;
  };
  for (const LimitedGpus& limit : limits.for_machine(candidate.machine, candidate.price(), candidate.gpus_at_peak())) {
    lower(candidate.replicas_in(limit.gpus), limit.words);
  }
  if (limits.tenant_gpus) {
    const std::int64_t slices = candidate.machine.gpus / whole_gpus_of(candidate.machine);
    lower(*limits.tenant_gpus * slices / candidate.engine.tp, limits.tenant_words);
  }
  if (spec.cluster.provisioner == Provisioner::none) {
    lower(candidate.replicas_on(candidate.machine.existing),
          fmt::format("cluster.instances: {} of {} exist, and none is bought", candidate.machine.existing,
                      candidate.machine.name));
  }
}

/// Returns the limits for a candidate as one text; "no limit" if there is none.
std::string words_of(const RemainingLimits& limits, const SpecCandidate& candidate, ReplicaCount replicas,
                     const ClusterSpec& cluster) {
  std::vector<std::string> parts;
  const MicroUsd price = lowest_price(*candidate.machine, cluster).value_or(MicroUsd{0});
  for (const LimitedGpus& limit : limits.for_machine(*candidate.machine, price, replicas * candidate.row->tp)) {
    parts.push_back(limit.words);
  }
  if (!limits.tenant_words.empty()) parts.push_back(limits.tenant_words);
  return parts.empty() ? "no limit" : fmt::format("{}", fmt::join(parts, "; "));
}

/// Returns the lowest value from `low` to `high` for which `holds` is true. `holds` must be true for all higher values.
template <typename Holds>
std::int64_t lowest_with(std::int64_t low, std::int64_t high, const Holds& holds) {
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// Returns the lowest limits that leave room for the replicas: "limits.gpus: 12 and limits.usd_per_hour: 83.00". Limits
/// that leave room already are not named.
std::string nearest_limits(const RemainingLimits& limits, const SpecCandidate& candidate, ReplicaCount replicas,
                           const ClusterSpec& cluster) {
  constexpr std::int64_t kMaxGpus = 1'000'000, kMaxCents = 100'000'000, kMicroUsdPerCent = 10'000;
  const MicroUsd price = lowest_price(*candidate.machine, cluster).value_or(MicroUsd{0});
  const FleetCandidate fleet{.engine = *candidate.row, .machine = *candidate.machine};
  const auto has_room = [&](std::optional<GpuCount> gpus, std::optional<MicroUsd> per_hour) {
    RemainingLimits changed = limits;
    changed.gpus = gpus;
    changed.per_hour = per_hour;
    const auto left = changed.for_machine(*candidate.machine, price, replicas * candidate.row->tp);
    return std::ranges::all_of(left, [&](const LimitedGpus& l) { return fleet.replicas_in(l.gpus) >= replicas; });
  };
  std::vector<std::string> parts;
  if (limits.gpus && !has_room(limits.gpus, std::nullopt)) {
    const auto holds = [&](std::int64_t gpus) { return has_room(gpus, std::nullopt); };
    parts.push_back(fmt::format("limits.gpus: {}", lowest_with(*limits.gpus, kMaxGpus, holds)));
  }
  if (limits.per_hour && !has_room(std::nullopt, limits.per_hour)) {
    const auto holds = [&](std::int64_t cents) { return has_room(std::nullopt, MicroUsd{cents * kMicroUsdPerCent}); };
    const std::int64_t cents = lowest_with(limits.per_hour->count / kMicroUsdPerCent, kMaxCents, holds);
    parts.push_back(fmt::format("limits.usd_per_hour: {:.2f}", static_cast<double>(cents) / 100));
  }
  const GpuCount pods = replicas * candidate.row->tp * whole_gpus_of(*candidate.machine);
  const GpuCount held = ceil_div(pods, candidate.machine->gpus);
  if (limits.tenant_gpus && *limits.tenant_gpus < held) {
    parts.push_back(fmt::format("{} more of the tenant", held == *limits.tenant_gpus + 1
                                                             ? std::string("1 GPU")
                                                             : fmt::format("{} GPUs", held - *limits.tenant_gpus)));
  }
  return parts.empty() ? "a higher limit" : fmt::format("{}", fmt::join(parts, " and "));
}

/// Returns the place of a service in the spec with its path: "s.yaml:2:3: services.chat".
std::string service_place(const PlanSpec& spec, const ServiceSpec& service) {
  const auto index = static_cast<std::size_t>(&service - spec.services.data());
  const auto known = spec.places.find(fmt::format("services.{}", index));
  return fmt::format("{}services.{}", known == spec.places.end() ? "" : known->second + ": ", service.name);
}

/// Returns the error of a service without a candidate: no machine can hold a replica, or the limits leave no room for
/// its smallest fleet.
Error does_not_fit(const PlanSpec& spec, const ServiceSpec& service, const RemainingLimits& limits) {
  const std::vector<SpecCandidate> fitting = fitting_candidates(service, spec);
  std::string message =
      fmt::format("no machine of the cluster can hold a replica of {} in {}", service.model, service.dtype);
  if (!fitting.empty()) {
    const auto cost = [&](const SpecCandidate& c) {
      return std::tuple(whole_gpus_of(*c.machine) * c.machines(), c.machine->name);
    };
    const SpecCandidate& smallest = *std::ranges::min_element(fitting, {}, cost);
    const auto gib = static_cast<double>(smallest.row->weights().count) / (1 << 30);
    const ReplicaCount replicas = service.least_replicas();
    message = fmt::format(
        "the limits leave no room for its smallest fleet, {} of {} ({} weights, {} x {}): {}; the nearest that is "
        "possible is {}",
        replicas == 1 ? "one replica" : fmt::format("{} replicas", replicas), row_words(*smallest.row),
        fmt::format("{:.0f} GiB of", gib), smallest.machines(), smallest.machine->name,
        words_of(limits, smallest, replicas, spec.cluster), nearest_limits(limits, smallest, replicas, spec.cluster));
  }
  Error error = Error::about(service_place(spec, service), std::move(message));
  error.kind = ErrorKind::infeasible;
  return error;
}

/// Largest ratio of the replicas that the mean load needs by the engine table to the replicas of the largest fleet.
/// Above it, nothing is simulated: a fleet would serve at most a tenth of the requests, and simulating its ever-growing
/// queue takes long.
constexpr ReplicaCount kMaxOverload = 10;

ReplicaCount replicas_at_mean(const FleetCandidate& candidate) {
  ReplicaCount replicas = 0;
  for (const RoleNeed& need : candidate.needs) replicas += need.at_mean;
  return replicas;
}

/// Returns an error if the mean load needs more than `kMaxOverload` times the largest fleet of every candidate.
std::optional<Error> overload(const ServiceSpec& service, const LoadFacts& load,
                              const std::vector<FleetCandidate>& candidates) {
  const FleetCandidate* best = nullptr;
  for (const FleetCandidate& candidate : candidates) {
    const ReplicaCount needed = replicas_at_mean(candidate);
    if (needed <= kMaxOverload * candidate.most_replicas) return std::nullopt;
    // `best` is the candidate whose largest fleet serves the largest part of the load.
    if (best == nullptr || candidate.most_replicas * replicas_at_mean(*best) > best->most_replicas * needed)
      best = &candidate;
  }
  if (best == nullptr) return std::nullopt;
  const ReplicaCount needed = replicas_at_mean(*best), most = best->most_replicas;
  const auto rate = [](double per_s) {
    return per_s < 100 ? fmt::format("{:.3g}", per_s) : grouped_text(static_cast<std::int64_t>(per_s));
  };
  const std::string nearest = rate(load.mean_per_s * static_cast<double>(most) / static_cast<double>(needed));
  Error error = Error::about(
      load_place(service),
      fmt::format("{} requests/s in the mean of {} need about {} replicas on {} by the engine table, {} "
                  "more than the {} that the limits leave ({}); the nearest that is possible is about {} requests/s in "
                  "the mean, or limits for {} replicas",
                  rate(load.mean_per_s),
                  load.is_whole ? "the load" : fmt::format("its first {} requests", grouped_text(load.requests)),
                  grouped_text(needed), best->words(), grouped_text(needed - most), most, best->bounded_by, nearest,
                  grouped_text(needed)));
  error.kind = ErrorKind::infeasible;
  return error;
}

/// Keeps two machines for each GPU kind and parallelism: the machine with the lowest cost for the load, and the machine
/// with the fewest GPUs, because small machines leave fewer GPUs idle.
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
  const std::string stages = engine.stages > 1 ? fmt::format(" and pipeline parallel {}", engine.stages) : "";
  return fmt::format("{}, tensor parallel {}{}, {}", engine.gpu_name, engine.tensor_parallel(), stages, machine.name);
}

std::string FleetCandidate::short_words() const {
  return fmt::format("{}, {}, {}", engine.gpu_name, engine::parallelism_words(engine), machine.name);
}

std::int64_t FleetCandidate::machines_for(ReplicaCount replicas) const {
  if (machines_per_replica() > 1) return replicas * machines_per_replica();
  const std::int64_t per_machine = machine.gpus / engine.tp;
  return (replicas + per_machine - 1) / per_machine;
}

ReplicaCount FleetCandidate::replicas_in(GpuCount gpus) const {
  return replicas_on(gpus / machine.gpus) + (machines_per_replica() > 1 ? 0 : gpus % machine.gpus / engine.tp);
}

GpuCount FleetCandidate::gpus_at_peak() const {
  ReplicaCount replicas = 0;
  for (const RoleNeed& need : needs) replicas += std::max(need.at_peak, need.least);
  return replicas * (machines_per_replica() > 1 ? machines_per_replica() * machine.gpus : engine.tp);
}

ReplicaCount FleetCandidate::replicas_on(std::int64_t machines) const {
  return machines_per_replica() > 1 ? machines / machines_per_replica() : machines * (machine.gpus / engine.tp);
}

Result<std::vector<FleetCandidate>> fleet_candidates(const PlanSpec& spec, const ServiceSpec& service,
                                                     const LoadFacts& load, const RemainingLimits& limits) {
  std::vector<FleetCandidate> candidates;
  for (const SpecCandidate& possible : fitting_candidates(service, spec)) {
    FleetCandidate candidate{
        .engine = *possible.row, .machine = *possible.machine, .base = *base_capacity(*possible.machine, spec.cluster)};
    const auto add = [&](model::Role role) {
      candidate.needs.push_back(need_of(candidate.engine, role, service.slo, load));
      candidate.needs.back().least = std::max<ReplicaCount>(1, service.least_replicas(role));
    };
    if (service.is_disaggregated) {
      add(model::Role::prefill);
      add(model::Role::decode);
    } else {
      add(model::Role::both);
    }
    set_most_replicas(spec, service, limits, candidate);
    if (candidate.most_replicas < service.least_replicas()) continue;
    for (const RoleNeed& need : candidate.needs) candidate.holds_slo &= !need.capacity.found.out_of_reach;
    const std::int64_t machines = candidate.machines_for(replicas_at_mean(candidate));
    candidate.modelled_usd_per_hour =
        static_cast<double>(candidate.price().count) / 1e6 * static_cast<double>(machines);
    candidates.push_back(std::move(candidate));
  }
  if (candidates.empty()) return std::unexpected(does_not_fit(spec, service, limits));
  if (std::ranges::any_of(candidates, &FleetCandidate::holds_slo)) {
    std::erase_if(candidates, [](const FleetCandidate& candidate) { return !candidate.holds_slo; });
  }
  if (std::optional<Error> error = overload(service, load, candidates)) return std::unexpected(std::move(*error));
  candidates = without_similar(std::move(candidates));
  std::ranges::sort(candidates, {}, [](const FleetCandidate& c) {
    return std::tuple(c.modelled_usd_per_hour, c.engine.gpu, c.engine.tp, c.machine.name);
  });
  return candidates;
}

}  // namespace capstan::plan
