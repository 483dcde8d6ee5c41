#include "plan/pools/shared_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "experiment/text/words.h"
#include "plan/objects/names.h"
#include "plan/pools/pools.h"
#include "plan/result/figures.h"
#include "plan/spec/candidates.h"

namespace capstan::plan {

namespace {

/// Services whose pods run on the nodes of one pool.
using Sharers = std::vector<ServicePlan*>;

GpuCount gpus_of_replica(const ServicePlan& service) {
  const RoleFleet& role = service.roles.front();
  return blocked_gpus(device_of(role).per_pod, role.machine.gpus) * role.pods;
}

/// Returns the replicas of a service in a minute. A shorter load is repeated.
ReplicaCount replicas_at(const ServicePlan& service, std::size_t seed, std::size_t minute) {
  const std::vector<ReplicaCount>& replicas = service.seeds[seed % service.seeds.size()].replicas_by_minute;
  return replicas.empty() ? 0 : replicas[minute % replicas.size()];
}

/// Nodes of a pool under one seed.
struct NodeMinutes {
  std::int64_t all = 0;   ///< nodes, summed over the minutes
  std::int64_t spot = 0;  ///< nodes of `all` that are bought as spot
  std::int64_t minutes = 0;
};

NodeMinutes count_nodes(const Sharers& sharers, std::size_t seed) {
  std::size_t minutes = 0;
  GpuCount minimum = 0;
  std::uint32_t spot_ppm = 0;
  const std::int64_t spot_base_ppm = sharers.front()->roles.front().spot_base_ppm;
  for (const ServicePlan* service : sharers) {
    minutes = std::max(minutes, service->seeds[seed % service->seeds.size()].replicas_by_minute.size());
    for (const RoleFleet& role : service->roles) minimum += role.minimum * gpus_of_replica(*service);
    spot_ppm = std::max(spot_ppm, service->spot_ppm);
  }
  const GpuCount per_node = sharers.front()->roles.front().machine.gpus;
  const std::int64_t base = ceil_div(minimum, per_node);
  NodeMinutes out{.minutes = static_cast<std::int64_t>(minutes)};
  std::vector<std::int64_t> needed;
  for (std::size_t minute = 0; minute < minutes; ++minute) {
    GpuCount gpus = 0;
    for (const ServicePlan* service : sharers) gpus += replicas_at(*service, seed, minute) * gpus_of_replica(*service);
    needed.push_back(std::max(base, ceil_div(gpus, per_node)));
    const std::size_t first = minute < kNodeGraceMinutes ? 0 : minute - kNodeGraceMinutes;
    const std::int64_t nodes = *std::max_element(needed.begin() + static_cast<std::ptrdiff_t>(first), needed.end());
    out.all += nodes;
    out.spot += (nodes - base) * std::int64_t{spot_ppm} / 1'000'000 + base * spot_base_ppm / 1'000'000;
  }
  return out;
}

/// Returns the GPU time that the pods of a service hold, GPU-minutes over all seeds.
std::int64_t held_gpu_minutes(const ServicePlan& service) {
  std::int64_t held = 0;
  for (const Trial& trial : service.seeds) {
    for (const ReplicaCount replicas : trial.replicas_by_minute) held += replicas * gpus_of_replica(service);
  }
  return held;
}

void share_pool(const Sharers& sharers) {
  const RoleFleet& role = sharers.front()->roles.front();
  const auto base = price_of(role.machine, role.base).value_or(MicroUsd{0});
  const auto spot = price_of(role.machine, model::CapacityType::spot).value_or(base);
  NodeMinutes sum;
  __int128 micro_usd_minutes = 0;  // price per hour times minutes
  for (std::size_t seed = 0; seed < sharers.front()->seeds.size(); ++seed) {
    const NodeMinutes nodes = count_nodes(sharers, seed);
    sum.all += nodes.all;
    sum.minutes += nodes.minutes;
    micro_usd_minutes += static_cast<__int128>(nodes.all - nodes.spot) * base.count;
    micro_usd_minutes += static_cast<__int128>(nodes.spot) * spot.count;
  }
  if (sum.minutes == 0) return;
  const auto per_hour = static_cast<std::int64_t>(micro_usd_minutes / sum.minutes);
  std::int64_t held = 0;
  std::string names;
  for (const ServicePlan* service : sharers) {
    held += held_gpu_minutes(*service);
    names += (names.empty() ? "" : service == sharers.back() ? " and " : ", ") + service->service;
  }
  for (ServicePlan* service : sharers) {
    const auto share_ppm = static_cast<std::int64_t>(static_cast<__int128>(held_gpu_minutes(*service)) * 1'000'000 /
                                                     std::max<std::int64_t>(held, 1));
    const std::int64_t alone = micro_usd_per_hour(*service);
    service->shared_micro_usd_per_hour =
        static_cast<std::int64_t>(static_cast<__int128>(per_hour) * share_ppm / 1'000'000);
    service->shared_why = fmt::format(
        "{} % of {} USD/h for the {} nodes of {} on which the simulated replicas of {} fit together on average; {} on "
        "nodes of its own",
        experiment::tenths(share_ppm, 10'000), experiment::usd(per_hour), experiment::tenths(sum.all, sum.minutes),
        role.machine.name, names, experiment::usd(alone) + " USD/h");
  }
}

/// Returns the services that share nodes, by pool.
std::map<std::string, Sharers> sharers_by_pool(std::vector<ServicePlan>& services) {
  std::map<std::string, Sharers> by_pool;
  for (ServicePlan& service : services) {
    if (!service.roles.empty() && !service.seeds.empty())
      by_pool[device_of(service.roles.front()).pool].push_back(&service);
  }
  std::erase_if(by_pool, [](const auto& entry) { return entry.second.size() < 2; });
  return by_pool;
}

/// Returns true if the lengths of the simulations differ by at most 2 %. Loads of equal length differ a little, because
/// each simulation ends with its last answer.
bool have_similar_length(const Sharers& sharers) {
  Duration shortest = Duration::max(), longest{};
  for (const ServicePlan* service : sharers) {
    shortest = std::min(shortest, service->seeds.front().simulated);
    longest = std::max(longest, service->seeds.front().simulated);
  }
  return longest - shortest <= longest / 50;
}

/// Returns the cost per hour of the nodes of a pool in one simulation.
std::int64_t pool_micro_usd_per_hour(const experiment::RunResult& result, const std::string& pool,
                                     const MachineSpec& machine) {
  Trial nodes{.simulated = result.simulated};
  for (const experiment::Spending& spending : result.spending) {
    const bool is_owned = spending.pool.empty() && spending.instance_type == machine.name;
    if (spending.pool == pool || spending.pool == pool + "-spot" || is_owned) nodes.micro_usd += spending.micro_usd;
  }
  return micro_usd_per_hour(nodes);
}

/// Splits the cost of a pool's nodes, in simulations of all services, between the services and the jobs. Shares are
/// proportional to the GPU time of their pods.
/// @param first  the first service of the plan
/// @param has_jobs  true: a part of the cost is the share of the jobs
void share_simulated_pool(const Sharers& sharers, const ServicePlan* first, const std::string& pool, bool has_jobs,
                          std::span<const experiment::RunResult> results) {
  const MachineSpec& machine = sharers.front()->roles.front().machine;
  std::int64_t per_hour = 0;
  for (const experiment::RunResult& result : results) per_hour += pool_micro_usd_per_hour(result, pool, machine);
  per_hour /= static_cast<std::int64_t>(results.size());
  std::vector<GpuNanoseconds> held;
  GpuNanoseconds all = 0;
  for (const experiment::RunResult& result : results) {
    for (const experiment::JobFigures& jobs : result.jobs) all += has_jobs ? jobs.gpu_ns : 0;
  }
  std::string names;
  for (const ServicePlan* service : sharers) {
    GpuNanoseconds& own = held.emplace_back(0);
    for (const experiment::RunResult& result : results) {
      const auto index = static_cast<std::size_t>(service - first);
      if (index < result.services.size()) own += result.services[index].gpu_ns;
    }
    all += own;
    names += (names.empty() ? "" : service == sharers.back() && !has_jobs ? " and " : ", ") + service->service;
  }
  if (has_jobs) names += " and the jobs";
  for (std::size_t i = 0; i < sharers.size(); ++i) {
    ServicePlan& service = *sharers[i];
    const auto share_ppm =
        static_cast<std::int64_t>(static_cast<__int128>(held[i]) * 1'000'000 / std::max<GpuNanoseconds>(all, 1));
    service.shared_micro_usd_per_hour =
        static_cast<std::int64_t>(static_cast<__int128>(per_hour) * share_ppm / 1'000'000);
    service.shared_why = fmt::format(
        "{} % of {} USD/h for the nodes of {} that {} share in the simulations of all services on one "
        "cluster, by the GPU time of their pods; {} USD/h on nodes of its own",
        experiment::tenths(share_ppm, 10'000), experiment::usd(per_hour), machine.name, names,
        experiment::usd(micro_usd_per_hour(service)));
  }
}

}  // namespace

void share_nodes(std::vector<ServicePlan>& services) {
  for (const auto& [pool, sharers] : sharers_by_pool(services)) share_pool(sharers);
}

void share_simulated_nodes(std::vector<ServicePlan>& services, std::span<const experiment::RunResult> results,
                           const std::string& pool_of_jobs) {
  if (results.empty()) return;
  for (const auto& [pool, sharers] : sharers_by_pool(services)) {
    if (have_similar_length(sharers))
      share_simulated_pool(sharers, services.data(), pool, pool == pool_of_jobs, results);
  }
}

}  // namespace capstan::plan
