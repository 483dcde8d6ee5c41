#include "plan/search/raised_limits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "plan/figures.h"
#include "plan/search/budget.h"
#include "plan/search/fleet_candidates.h"

namespace capstan::plan {

namespace {

constexpr ReplicaCount kManyReplicas = 10'000;  ///< highest `max_replicas` that a spec may state

/// Returns the smallest fleet of the plan that held the SLO under every seed: that of constant size, else the chosen
/// scaler's. Null if none held it.
const ScalerVariant* smallest_that_holds(const ServicePlan& plan) {
  for (const ScalerKind kind : {ScalerKind::constant, plan.scaler}) {
    const ScalerVariant* variant = find_variant(plan, kind);
    if (variant != nullptr && variant->holds_slo) return variant;
  }
  return nullptr;
}

/// Returns the machines on which the largest fleet of a variant fits.
std::int64_t machines_of(const ServicePlan& plan, const ScalerVariant& variant) {
  const RoleFleet& role = plan.roles.front();
  const FleetCandidate candidate{.engine = role.engine, .machine = role.machine};
  const auto add = [](ReplicaCount sum, const RoleReplicas& replicas) { return sum + replicas.maximum; };
  return candidate.machines_for(std::accumulate(variant.roles.begin(), variant.roles.end(), ReplicaCount{0}, add));
}

/// Returns the bounds of the spec that must be higher for these machines, with their new values.
std::vector<std::string> higher_bounds(const PlanSpec& spec, const ServicePlan& plan, const ScalerVariant& variant) {
  const RoleFleet& role = plan.roles.front();
  const std::int64_t machines = machines_of(plan, variant);
  const GpuCount gpus = machines * whole_gpus_of(role.machine);
  const std::int64_t micro_usd = machines * price_of(role.machine, role.base).value_or(MicroUsd{0}).count;
  std::vector<std::string> out;
  if (spec.limits.gpus && *spec.limits.gpus < gpus) out.push_back(fmt::format("limits.gpus: {}", gpus));
  if (spec.limits.per_hour && spec.limits.per_hour->count < micro_usd) {
    const std::int64_t cents = ceil_div(micro_usd, std::int64_t{10'000});
    out.push_back(fmt::format("limits.usd_per_hour: {}.{:02}", cents / 100, cents % 100));
  }
  const ReplicaCount most = std::ranges::max(variant.roles, {}, &RoleReplicas::maximum).maximum;
  if (spec.services.front().max_replicas < most) out.push_back(fmt::format("max_replicas: {}", most));
  return out;
}

}  // namespace

void find_raised_limits(const PlanSpec& spec, const SearchOptions& options, SearchResult& result) {
  if (result.services.size() != 1) return;
  ServicePlan& missed = result.services.front();
  if (missed.holds_slo || missed.bounded_by.empty() || missed.seeds.empty()) return;
  if (missed.seeds.front().requests > kHugeLoadRequests) return;
  const bool has_bound = spec.limits.gpus || spec.limits.per_hour || spec.services.front().max_replicas < kManyReplicas;
  if (!has_bound) return;
  PlanSpec free = spec;
  free.limits = {};
  free.services.front().max_replicas = kManyReplicas;
  const Result<SearchResult> found = search_fleets(free, options);
  if (!found) return;
  result.simulations += found->simulations;
  const ServicePlan& plan = found->services.front();
  const ScalerVariant* variant = smallest_that_holds(plan);
  const std::vector<Trial>& seeds = variant == nullptr ? plan.seeds : variant->seeds;
  RaisedLimits raised{.attainment_ppm = lowest_attainment_ppm(seeds), .seeds = static_cast<std::int64_t>(seeds.size())};
  if (variant != nullptr) {
    const std::vector<std::string> bounds = higher_bounds(spec, plan, *variant);
    if (bounds.empty()) return;  // the limit of a tenant, or of the machines that exist
    raised.bounds = fmt::format("{}", fmt::join(bounds, " and "));
    ServicePlan fleet = with_scaler(plan, variant->kind);
    raised.fleet = fmt::format("{} on {}", fleet_words(fleet), plan.roles.front().machine.name);
  }
  missed.raised = std::move(raised);
}

}  // namespace capstan::plan
