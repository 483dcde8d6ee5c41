#include "plan/search/raised_limits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "plan/pools/pools.h"
#include "plan/result/figures.h"
#include "plan/search/budget.h"
#include "plan/search/constant_fleet.h"
#include "plan/search/fleet_candidates.h"

namespace capstan::plan {

namespace {

constexpr ReplicaCount kManyReplicas = 10'000;          ///< highest `max_replicas` that a spec may state
constexpr RequestCount kMaxRaisedRequests = 6'000'000;  ///< after these no smaller fleet is tried for a huge load

/// Returns the smallest fleet of the plan that held the SLO under every seed: the constant fleet, or else the fleet of
/// the chosen scaler. Null if neither held it.
const ScalerVariant* smallest_that_holds(const ServicePlan& plan) {
  for (const ScalerKind kind : {ScalerKind::constant, plan.scaler}) {
    const ScalerVariant* variant = find_variant(plan, kind);
    if (variant != nullptr && variant->holds_slo) return variant;
  }
  return nullptr;
}

/// GPUs and price of the machines of a fleet.
struct MachineNeed {
  GpuCount gpus = 0;
  std::int64_t micro_usd = 0;  ///< for an hour
};

/// Returns the machines on which the largest fleet with these replicas fits.
MachineNeed machine_need(const ServicePlan& plan, const std::vector<RoleReplicas>& roles) {
  const RoleFleet& role = plan.roles.front();
  const FleetCandidate candidate{.engine = role.engine, .machine = role.machine};
  const auto add = [](ReplicaCount sum, const RoleReplicas& replicas) { return sum + replicas.maximum; };
  const std::int64_t machines =
      candidate.machines_for(std::accumulate(roles.begin(), roles.end(), ReplicaCount{0}, add));
  return {.gpus = machines * whole_gpus_of(role.machine),
          .micro_usd = machines * price_of(role.machine, role.base).value_or(MicroUsd{0}).count};
}

std::vector<RoleReplicas> planned_replicas(const ServicePlan& plan) {
  std::vector<RoleReplicas> roles;
  for (const RoleFleet& role : plan.roles) roles.push_back({.minimum = role.minimum, .maximum = role.maximum});
  return roles;
}

/// Returns the limits of the spec that must be higher for these machines of all services, with their new values.
std::vector<std::string> higher_limits(const PlanSpec& spec, const MachineNeed& need) {
  std::vector<std::string> out;
  if (spec.limits.gpus && *spec.limits.gpus < need.gpus) out.push_back(fmt::format("limits.gpus: {}", need.gpus));
  if (spec.limits.per_hour && spec.limits.per_hour->count < need.micro_usd) {
    const std::int64_t cents = ceil_div(need.micro_usd, std::int64_t{10'000});
    out.push_back(fmt::format("limits.usd_per_hour: {}.{:02}", cents / 100, cents % 100));
  }
  return out;
}

bool misses_by_limit(const ServicePlan& service) {
  return !service.holds_slo && !service.bounded_by.empty() && !service.seeds.empty();
}

/// A fleet of a service, and its replicas.
struct NeededFleet {
  const ServicePlan& plan;
  std::vector<RoleReplicas> replicas;
};

/// Returns the fleet that a service needs: the smallest one that holds the SLO for a service that missed it, and that
/// of the plan for another one.
/// @param free  plan of the service without the bounds of the spec
NeededFleet needed_fleet(const ServicePlan& plan, const ServicePlan& free) {
  const ScalerVariant* variant = misses_by_limit(plan) ? smallest_that_holds(free) : nullptr;
  if (variant == nullptr) return {plan, planned_replicas(plan)};
  return {free, variant->roles};
}

/// Returns the limit of a tenant that must be higher for all of its services, with its new value; empty if none must.
std::string higher_tenant_limit(const PlanSpec& spec, const std::string& name, const std::vector<ServicePlan>& services,
                                const std::vector<ServicePlan>& free) {
  const auto tenant = std::ranges::find(spec.tenants, name, &TenantSpec::name);
  if (tenant == spec.tenants.end() || !tenant->gpu_limit) return {};
  GpuCount gpus = 0;
  for (std::size_t i = 0; i < services.size(); ++i) {
    if (spec.services[i].tenant != name) continue;
    const auto [plan, replicas] = needed_fleet(services[i], free[i]);
    for (std::size_t role = 0; role < plan.roles.size(); ++role) {
      gpus += ceil_div(replicas[role].maximum * plan.roles[role].gpus_per_replica(),
                       slices_per_gpu(plan.roles[role].engine.gpu));
    }
  }
  return *tenant->gpu_limit < gpus ? fmt::format("tenants.{}.gpu_limit: {}", name, gpus) : std::string();
}

/// Returns true if a search without the bounds of the spec can help: a service misses its SLO while a limit binds, and
/// the spec has a bound to raise.
bool may_search_again(const PlanSpec& spec, const std::vector<ServicePlan>& services) {
  const auto is_bounded = [](const ServiceSpec& service) { return service.max_replicas < kManyReplicas; };
  const bool has_bound = spec.limits.gpus || spec.limits.per_hour || std::ranges::any_of(spec.services, is_bounded) ||
                         std::ranges::any_of(spec.tenants, [](const TenantSpec& t) { return t.gpu_limit.has_value(); });
  return has_bound && std::ranges::any_of(services, misses_by_limit);
}

bool has_huge_load(const ServicePlan& service) {
  return !service.seeds.empty() && service.seeds.front().requests > kHugeLoadRequests;
}

/// Returns the plans of the services without the bounds of the spec. A second search over all GPU kinds takes too long
/// for a huge load, so then only the size of a constant fleet on the machines of the plan is searched.
/// @param free  the spec without its bounds
Result<SearchResult> search_again(const PlanSpec& free, const SearchOptions& options,
                                  const std::vector<ServicePlan>& services) {
  if (std::ranges::none_of(services, has_huge_load)) {
    SearchOptions alone = options;
    alone.is_alone = true;
    return search_fleets(free, alone);
  }
  SearchResult found{.services = services};
  const std::int64_t missed = std::ranges::count_if(services, misses_by_limit);
  for (std::size_t i = 0; i < services.size(); ++i) {
    if (!misses_by_limit(services[i])) continue;
    Result<ServicePlan> plan = find_constant_fleet_of(free, free.services[i], services[i], options,
                                                      kMaxRaisedRequests / missed, found.simulations);
    if (!plan) return std::unexpected(plan.error());
    found.services[i] = std::move(*plan);
  }
  return found;
}

/// Returns the machines of all services: those of the smallest fleets that hold the SLO for the services that missed
/// it, and those of the plan for the others.
MachineNeed need_of_all(const PlanSpec& spec, const std::vector<ServicePlan>& services,
                        const std::vector<ServicePlan>& free) {
  MachineNeed all{.gpus = gpus_of_jobs(spec)};
  for (std::size_t i = 0; i < services.size(); ++i) {
    const auto [plan, replicas] = needed_fleet(services[i], free[i]);
    const MachineNeed need = machine_need(plan, replicas);
    all.gpus += need.gpus;
    all.micro_usd += need.micro_usd;
  }
  return all;
}

}  // namespace

void find_raised_limits(const PlanSpec& spec, const SearchOptions& options, SearchResult& result) {
  if (!may_search_again(spec, result.services)) return;
  PlanSpec free = spec;
  free.limits = {};
  for (ServiceSpec& service : free.services) service.max_replicas = kManyReplicas;
  for (TenantSpec& tenant : free.tenants) tenant.gpu_limit.reset();
  const Result<SearchResult> found = search_again(free, options, result.services);
  if (!found) return;
  result.simulations += found->simulations;
  const std::vector<std::string> limits = higher_limits(spec, need_of_all(spec, result.services, found->services));
  for (std::size_t i = 0; i < result.services.size(); ++i) {
    ServicePlan& missed = result.services[i];
    if (!misses_by_limit(missed)) continue;
    const ServicePlan& plan = found->services[i];
    const ScalerVariant* variant = smallest_that_holds(plan);
    const std::vector<Trial>& seeds = variant == nullptr ? plan.seeds : variant->seeds;
    RaisedLimits raised{.attainment_ppm = lowest_attainment_ppm(seeds),
                        .seeds = static_cast<std::int64_t>(seeds.size())};
    if (variant != nullptr) {
      std::vector<std::string> bounds = limits;
      const std::string owner = spec.services.size() > 1 ? fmt::format("services.{}.", missed.service) : "";
      const ReplicaCount most = std::ranges::max(variant->roles, {}, &RoleReplicas::maximum).maximum;
      if (spec.services[i].max_replicas < most) {
        bounds.push_back(fmt::format("{}max_replicas: {}", owner, most));
      }
      const std::string tenant = higher_tenant_limit(spec, spec.services[i].tenant, result.services, found->services);
      if (!tenant.empty()) bounds.push_back(tenant);
      if (bounds.empty()) continue;  // the limit of the machines that exist
      raised.bounds = fmt::format("{}", fmt::join(bounds, " and "));
      ServicePlan fleet = with_scaler(plan, variant->kind);
      raised.fleet = fmt::format("{} on {}{}", fleet_words(fleet), plan.roles.front().machine.name,
                                 spec.services.size() > 1 ? ", simulated without the other services," : "");
    }
    missed.raised = std::move(raised);
  }
}

}  // namespace capstan::plan
