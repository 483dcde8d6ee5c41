#include "plan/search/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/number_text.h"
#include "base/unit_text.h"
#include "experiment/text/words.h"
#include "plan/pools/pools.h"
#include "plan/pools/shared_nodes.h"
#include "plan/queues/queues.h"
#include "plan/queues/tenant_jobs.h"
#include "plan/search/raised_limits.h"
#include "plan/search/robustness.h"
#include "plan/search/scaler_choice.h"
#include "plan/search/service_search.h"
#include "plan/search/spot_base.h"
#include "plan/search/together.h"
#include "plan/search/widened_search.h"
#include "plan/search/zone_loss.h"

namespace capstan::plan {

namespace {

constexpr double kMaxJobs = 10'000;  ///< most jobs of a class that one simulation may have
constexpr int kMaxSpotScalers = 3;   ///< most minima that are tried for a spot base; a scaler is chosen for each one

/// Returns the roles of a fleet, with the maximum that a scaler may set.
std::vector<RoleFleet> roles_of(const ServiceSpec& service, const TriedFleet& tried, const FleetOption& scaled) {
  const FleetCandidate& candidate = *tried.fleet.candidate;
  const std::vector<RoleReplicas> replicas = tried.replicas();
  std::vector<RoleFleet> roles;
  for (std::size_t i = 0; i < candidate.needs.size(); ++i) {
    const RoleNeed& need = candidate.needs[i];
    roles.push_back({.role = need.role,
                     .engine = candidate.engine,
                     .pods = service.pods_per_replica,
                     .machine = candidate.machine,
                     .base = tried.fleet.base,
                     .spot_base_ppm = tried.fleet.spot_base_machines() > 0 ? tried.fleet.spot_base_ppm : 0,
                     .minimum = replicas[i].minimum,
                     .maximum = scaled.maximum[i],
                     .mean_ready_milli = replicas[i].mean_ready_milli,
                     .peak_ready = replicas[i].peak_ready,
                     .batch = need.capacity.found.batch,
                     .prefill_share = need.capacity.prefill_share,
                     .kv_share_at_batch = need.capacity.kv_share});
  }
  return roles;
}

/// Sets the roles and the start of a service from its fleet under Capstan's policy, and chooses the scaler.
Result<ScalerChoice> choose_on(FleetSimulator& simulator, const FleetKey& capstan, const SearchBudget& budget,
                               ServicePlan& plan) {
  const ServiceSpec& service = simulator.service();
  const TriedFleet found = simulator.result(capstan);
  const auto parsed = scenario::parse_scenario(simulator.scenario(found.fleet), "scenario-" + service.name + ".yaml");
  if (parsed) plan.start = start_phases(*parsed, found.fleet.candidate->machines_per_replica());
  plan.roles = roles_of(service, found, found.fleet);
  for (RoleFleet& role : plan.roles) role.burst_minimum = role.minimum;
  return choose_scaler(simulator, capstan, plan, budget);
}

/// Returns true if a constant fleet on the machines of the runner-up holds the SLO and is better than the chosen fleet,
/// as `is_better` compares them.
Result<bool> is_other_better(FleetSimulator& simulator, const FleetKey& runner_up, const FleetKey& chosen,
                             const SearchBudget& budget) {
  const SearchBudget half{.fleets = budget.fleets, .scalers = budget.scalers / 2, .is_huge = budget.is_huge};
  const auto constant = find_constant_fleet(simulator, runner_up, half);
  if (!constant) return std::unexpected(constant.error());
  if (!*constant) return false;
  return is_better(simulator.result(**constant), simulator.result(chosen));
}

/// The fleet of a service under Capstan's policy, and the plan with the scaler that was chosen for it.
struct ChosenScaler {
  FleetKey capstan{};
  ScalerChoice choice{};
  ServicePlan plan{};
};

/// Replaces the chosen fleet by one that buys a share of its base as spot. The new fleet must be better than the chosen
/// one, and must hold the SLO under every seed and under more reclaims.
/// @param start  fleet without a spot base
Result<void> take_spot_share(FleetSimulator& simulator, const SearchBudget& budget, FleetKey start,
                             std::uint32_t share_ppm, ChosenScaler& found) {
  const auto is_better_than_chosen = [&](const FleetKey& other) {
    const TriedFleet fleet = simulator.result(other);
    return fleet.holds_slo && is_better(fleet, simulator.result(found.choice.chosen));
  };
  for (int tries = 0; tries < kMaxSpotScalers; ++tries) {
    const Result<std::optional<FleetKey>> key = find_spot_base_fleet(simulator, start, share_ppm, budget);
    if (!key) return std::unexpected(key.error());
    if (!*key || !is_better_than_chosen(**key)) return {};
    ServicePlan plan = found.plan;
    Result<ScalerChoice> choice = choose_on(simulator, **key, budget, plan);
    if (!choice) return std::unexpected(choice.error());
    if (!is_better_than_chosen(choice->chosen)) return {};
    const TriedFleet fleet = simulator.result(choice->chosen);
    const auto reclaims = simulate_reclaims(simulator, fleet.fleet, fleet.seeds, budget);
    if (!reclaims) return std::unexpected(reclaims.error());
    if (reclaims->attainment_ppm >= simulator.service().slo.attainment_ppm) {
      found = {.capstan = **key, .choice = std::move(*choice), .plan = std::move(plan)};
      return {};
    }
    // Under more reclaims, the chosen scaler needs a higher minimum than Capstan's policy.
    const std::optional<FleetKey> next =
        with_higher_minimum(simulator, {start.candidate, (*key)->step, start.spot_ppm});
    if (!next) return {};
    start = *next;
  }
  return {};
}

/// Replaces the fleet by one with spot nodes in its base, if the spec allows that.
Result<void> take_spot_base(FleetSimulator& simulator, const SearchBudget& budget, ChosenScaler& found) {
  if (!simulator.spec().cluster.may_buy_spot_base) return {};
  const TriedFleet chosen = simulator.result(found.choice.chosen);
  for (const FleetKey& start : spot_base_starts(simulator, found.capstan, chosen)) {
    for (const std::uint32_t share : kSpotBaseShares) {
      const FleetKey& taken = found.capstan;
      const bool is_lowest = taken.candidate == start.candidate && taken.spot_base_ppm > 0 && taken.step <= start.step;
      if (is_lowest) break;  // half of the base as spot costs more, because it needs the same minimum
      if (Result<void> done = take_spot_share(simulator, budget, start, share, found); !done) return done;
    }
  }
  return {};
}

/// Keeps the scenarios of the points that the report of the plan simulates again.
void keep_scenarios(FleetSimulator& simulator, std::vector<FrontierPoint>& points) {
  for (const auto& [key, tried] : simulator.tried()) {
    const auto point = std::ranges::find(points, tried.fleet.words(), &FrontierPoint::fleet);
    if (point == points.end() || !(point->is_efficient || point->is_runner_up)) continue;
    point->scenario = simulator.scenario(tried.fleet);
  }
}

/// Returns limits that are high enough for the largest fleet of the search: twice the need at the peak, and one more.
std::string sufficient_limits(const FleetCandidate& candidate) {
  const std::int64_t machines = wanted_machines(candidate);
  return fmt::format("{} GPUs, {} USD/h", machines * whole_gpus_of(candidate.machine),
                     experiment::usd(candidate.price().count * machines));
}

/// Plans one service: the fleet under Capstan's policy, the scaler, and the tests of robustness.
/// @param found  fleets of the search under Capstan's policy
/// @param key    is set to the chosen fleet
Result<ServicePlan> plan_service(FleetSimulator& simulator, FoundFleets found, const SearchBudget& budget,
                                 FleetKey& key) {
  const ServiceSpec& service = simulator.service();
  const LoadFacts& load = simulator.load();
  ServicePlan plan{.service = service.name};
  plan.measured_profile_text = service.load.profile_text;
  plan.mean_load = {load.prompt_tokens, load.answer_tokens, load.mean_per_s, load.peak_per_s};
  Result<ScalerChoice> choice = choose_on(simulator, found.best, budget, plan);
  if (!choice) return std::unexpected(choice.error());
  if (found.runner_up && !budget.is_huge) {
    const Result<bool> is_better_there = is_other_better(simulator, *found.runner_up, choice->chosen, budget);
    if (!is_better_there) return std::unexpected(is_better_there.error());
    if (*is_better_there) {
      std::swap(found.best, *found.runner_up);
      choice = choose_on(simulator, found.best, budget, plan);
      if (!choice) return std::unexpected(choice.error());
    }
  }
  ChosenScaler scaled_by{.capstan = found.best, .choice = std::move(*choice), .plan = std::move(plan)};
  const Result<void> compared = take_spot_base(simulator, budget, scaled_by);
  if (!compared) return std::unexpected(compared.error());
  if (scaled_by.capstan.candidate != found.best.candidate) found.runner_up = found.best;
  found.best = scaled_by.capstan;
  choice = std::move(scaled_by.choice);
  plan = std::move(scaled_by.plan);
  const FleetOption scaled = fleet_of(simulator.candidates(), found.best);
  plan.spot_ppm = found.best.spot_ppm;
  key = choice->chosen;
  const TriedFleet chosen = simulator.result(choice->chosen);
  std::vector<RoleFleet> roles = roles_of(service, chosen, scaled);
  for (std::size_t i = 0; i < roles.size(); ++i) roles[i].burst_minimum = plan.roles[i].minimum;
  plan.roles = std::move(roles);
  plan.scaler = choice->chosen.scaler;
  plan.variants = std::move(choice->variants);
  plan.comparison = std::move(choice->comparison);
  plan.holds_slo = chosen.holds_slo;
  plan.seeds = chosen.seeds;
  plan.scenario = simulator.scenario(chosen.fleet);
  if (!load.is_whole) plan.not_simulated = fmt::format("the load after its first {} requests", load.requests);
  const FleetCandidate& candidate = *chosen.fleet.candidate;
  plan.peak_factor = candidate.peak_factor;
  if (limits_bind(candidate) && !candidate.bounded_by.empty()) {
    plan.bounded_by.push_back(candidate.bounded_by);
    plan.sufficient_limits = sufficient_limits(candidate);
  }

  if (const auto conditions = zone_loss_conditions(simulator)) plan.lost_zone = *conditions->lost_zone;
  const FleetOption capstan = fleet_of(simulator.candidates(), choice->capstan);
  const bool is_other = plan.scaler != ScalerKind::capstan;
  auto worse = robustness(simulator, chosen.fleet, plan.seeds, is_other ? &capstan : nullptr, budget);
  if (!worse) return std::unexpected(worse.error());
  plan.robustness = std::move(*worse);
  auto zone_loss = find_zone_loss_minimum(simulator, choice->chosen, plan, budget);
  if (!zone_loss) return std::unexpected(zone_loss.error());
  plan.zone_loss = std::move(*zone_loss);
  auto spot_base = try_spot_base(simulator, choice->chosen, plan, budget);
  if (!spot_base) return std::unexpected(spot_base.error());
  plan.spot_base = std::move(*spot_base);
  plan.frontier = frontier_of(simulator.tried(), choice->chosen, found.runner_up);
  keep_scenarios(simulator, plan.frontier);
  const auto runner_up = std::ranges::find(plan.frontier, true, &FrontierPoint::is_runner_up);
  if (runner_up != plan.frontier.end()) plan.runner_up = *runner_up;
  return plan;
}

/// Returns what a service needs at its peak on its cheapest candidate, without a limit.
PeakNeed peak_need(const FleetCandidate& candidate) {
  const std::int64_t slices = candidate.machine.gpus / whole_gpus_of(candidate.machine);
  const GpuCount gpus = candidate.gpus_at_peak();
  return {
      .machine = candidate.machine, .per_hour = candidate.price(), .gpus = gpus, .pod_gpus = ceil_div(gpus, slices)};
}

/// Checks that the jobs that arrive while the longest load is simulated are not too many.
Result<void> check_number_of_jobs(const PlanSpec& spec, const std::vector<LoadFacts>& loads) {
  Duration longest = std::chrono::seconds(1);
  for (const LoadFacts& load : loads) longest = std::max(longest, load.length);
  for (std::size_t i = 0; i < spec.tenants.size(); ++i) {
    const TenantSpec& tenant = spec.tenants[i];
    for (const TenantJobs& jobs : tenant.jobs) {
      workload::JobLoad load = jobs.load;
      load.until = std::min(load.until, longest);
      const double count = workload::expected_jobs(load);
      if (count <= kMaxJobs) continue;
      const auto place = spec.places.find(fmt::format("tenants.{}.jobs", i));
      Error error =
          Error::about(fmt::format("{}tenants.{}.jobs.{}.arrivals",
                                   place == spec.places.end() ? "" : place->second + ": ", tenant.name, jobs.name),
                       fmt::format("found about {:.0f} jobs in the {} of the simulated load, expected at most {:.0f}",
                                   count, time_text(longest), kMaxJobs));
      return std::unexpected(std::move(error));
    }
  }
  return {};
}

/// Returns an error about a class of jobs, with its place in the spec.
Error infeasible_jobs(const PlanSpec& spec, const PlacedJobs& placed, const std::string& message) {
  const auto index = static_cast<std::size_t>(placed.tenant - spec.tenants.data());
  const auto place = spec.places.find(fmt::format("tenants.{}.jobs", index));
  Error error = Error::about(fmt::format("{}tenants.{}.jobs.{}", place == spec.places.end() ? "" : place->second + ": ",
                                         placed.tenant->name, placed.jobs->name),
                             message);
  error.kind = ErrorKind::infeasible;
  return error;
}

std::int64_t fewest_pods(const workload::JobSize& size) { return size.min_pods > 0 ? size.min_pods : size.pods; }

/// Checks that each tenant may hold the GPUs of one job of each of its classes.
Result<void> check_limits_of_jobs(const PlanFacts& facts, const std::vector<GpuPool>& pools) {
  const PlanSpec& spec = facts.spec;
  const std::vector<TenantShare> shares = tenant_shares(facts, pools);
  for (const PlacedJobs& placed : placed_jobs(spec, pools)) {
    const auto share = std::ranges::find(shares, placed.tenant, &TenantShare::tenant);
    if (share == shares.end()) continue;
    const auto limit = capstan_limit({.spec = spec, .pools = pools, .shares = shares}, *share);
    const GpuCount needed = fewest_pods(placed.size) * placed.size.gpus_per_pod;
    if (!limit || needed <= *limit) continue;
    return std::unexpected(infeasible_jobs(
        spec, placed,
        fmt::format(
            "a job needs {}, {} more than the {} that its tenant may hold{}; the nearest that is possible is {}: "
            "{} of tenant {}",
            count_text(needed, "GPU", "GPUs"), needed - *limit, *limit,
            share->limit ? "" : ", because the tenants with services are entitled to the rest",
            share->limit ? "gpu_limit" : "gpu_quota", needed, placed.tenant->name)));
  }
  return {};
}

/// Checks that the nodes of the plan hold one job of each class.
Result<void> check_size_of_jobs(const PlanSpec& spec, const std::vector<GpuPool>& pools) {
  for (const PlacedJobs& placed : placed_jobs(spec, pools)) {
    const GpuPool& pool = *placed.pool;
    const std::int64_t nodes = ceil_div(fewest_pods(placed.size), pool.gpus_per_node() / placed.size.gpus_per_pod);
    const std::int64_t known = std::max(pool.max_nodes, pool.existing_nodes);
    if (nodes <= known) continue;
    const bool serves =
        std::ranges::find(spec.services, placed.tenant->name, &ServiceSpec::tenant) != spec.services.end();
    const std::string nearest =
        spec.cluster.provisioner == Provisioner::none ? fmt::format("{} existing nodes", nodes)
        : serves
            ? fmt::format("a tenant without a service for these jobs, with gpu_quota: {}", nodes * pool.gpus_per_node())
            : fmt::format("gpu_quota: {} of tenant {}", nodes * pool.gpus_per_node(), placed.tenant->name);
    return std::unexpected(infeasible_jobs(
        spec, placed,
        fmt::format("a job needs {0} with {1} each, {2} more than the {3} of pool {4}, because the plan buys "
                    "nodes for services and for the quotas of tenants without a service; the nearest that is possible "
                    "is {5}, or a job that fits {3}",
                    count_text(nodes, "node", "nodes"), count_text(pool.gpus_per_node(), "GPU", "GPUs"), nodes - known,
                    count_text(known, "node", "nodes"), pool.name, nearest)));
  }
  return {};
}

}  // namespace

Result<SearchResult> search_fleets(const PlanSpec& spec, const SearchOptions& options) {
  SearchResult out;
  std::vector<LoadFacts> loads;
  std::vector<PeakNeed> needs;
  for (const ServiceSpec& service : spec.services) {
    const Result<LoadFacts> load = count_load(service);
    if (!load) return std::unexpected(load.error());
    const auto candidates = fleet_candidates(spec, service, *load, whole_limits(spec, service));
    if (!candidates) return std::unexpected(candidates.error());
    loads.push_back(*load);
    needs.push_back(peak_need(candidates->front()));
  }
  if (const Result<void> few = check_number_of_jobs(spec, loads); !few) return std::unexpected(few.error());
  std::vector<std::unique_ptr<FleetSimulator>> simulators;
  std::vector<ChosenFleet> chosen;
  for (std::size_t i = 0; i < spec.services.size(); ++i) {
    auto candidates = fleet_candidates(spec, spec.services[i], loads[i], remaining_limits(spec, out.services, needs));
    if (!candidates) return std::unexpected(candidates.error());
    const SearchBudget budget = budget_of(loads[i], spec.services.size());
    auto search = find_fleets_widened(spec, spec.services[i], loads[i], std::move(*candidates), budget, options);
    if (!search) return std::unexpected(search.error());
    FleetSimulator& simulator = *simulators.emplace_back(std::move(search->simulator));
    chosen.push_back({.simulator = &simulator});
    Result<ServicePlan> plan = plan_service(simulator, search->found, budget, chosen.back().key);
    if (!plan) return std::unexpected(plan.error());
    out.services.push_back(std::move(*plan));
    out.simulations += simulator.simulations() + search->dropped_simulations;
  }
  name_pools(out.services);
  share_nodes(out.services);
  const std::vector<GpuPool> pools = gpu_pools({spec, out.services});
  if (const Result<void> fit = check_size_of_jobs(spec, pools); !fit) return std::unexpected(fit.error());
  const Result<void> allowed = check_limits_of_jobs({spec, out.services}, pools);
  if (!allowed) return std::unexpected(allowed.error());
  const bool shares_cluster = spec.services.size() > 1 || !placed_jobs(spec, pools).empty();
  if (!options.is_alone && shares_cluster && std::ranges::all_of(out.services, &ServicePlan::holds_slo)) {
    Result<TogetherResult> together = prove_together(spec, out.services, chosen, options);
    if (!together) return std::unexpected(together.error());
    share_simulated_nodes(out.services, together->results, pool_of_jobs(spec, pools));
    out.together = std::move(together->proof);
    out.simulations += together->simulations;
  }
  find_raised_limits(spec, options, out);
  return out;
}

}  // namespace capstan::plan
