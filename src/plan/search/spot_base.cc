#include "plan/search/spot_base.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/number_text.h"
#include "plan/objects/names.h"
#include "plan/result/figures.h"
#include "plan/search/scaler_choice.h"

namespace capstan::plan {

namespace {

constexpr int kMaxSpotBaseTries = 4;            ///< minima that are tried
constexpr std::size_t kMaxOtherSpotStarts = 2;  ///< other candidates whose base is tried as spot
/// Highest reclaim rate that a scenario allows, millionths: each node is reclaimed once an hour.
constexpr double kHighestReclaimRatePpm = 1e6;

/// Returns the seeds to simulate: all of them, or for a huge load only the one that met the fewest requests.
std::vector<std::uint64_t> seeds_to_try(std::span<const Trial> seeds, const SearchBudget& budget) {
  if (budget.is_huge) return {std::ranges::min_element(seeds, {}, &Trial::attainment_ppm)->seed};
  std::vector<std::uint64_t> out;
  for (const Trial& trial : seeds) out.push_back(trial.seed);
  return out;
}

Result<std::vector<Trial>> simulate_seeds(FleetSimulator& simulator, const FleetOption& fleet,
                                          const std::vector<std::uint64_t>& seeds, const Conditions& conditions) {
  std::vector<TrialOrder> orders;
  for (const std::uint64_t seed : seeds) orders.push_back({fleet, conditions, seed});
  const auto results = simulator.run_stress_tests(orders);
  if (!results) return std::unexpected(results.error());
  std::vector<Trial> trials;
  for (const experiment::RunResult& result : *results) {
    trials.push_back(trial_of(fmt::format("seed {}", result.seed), result));
  }
  return trials;
}

/// Returns true if the nodes of a candidate can be bought as spot for less than those of its base.
bool is_cheaper_as_spot(const FleetSimulator& simulator, const FleetCandidate& candidate) {
  const ClusterSpec& cluster = simulator.spec().cluster;
  const bool may_buy = cluster.provisioner != Provisioner::none && candidate.machine.existing == 0 &&
                       std::ranges::find(cluster.capacity, model::CapacityType::spot) != cluster.capacity.end();
  const auto spot = price_of(candidate.machine, model::CapacityType::spot);
  return may_buy && spot && candidate.base != model::CapacityType::spot && *spot < candidate.price();
}

/// Returns the key of a fleet with a share of its base as spot; nothing if that is not possible or saves nothing.
std::optional<FleetKey> spot_base_key(const FleetSimulator& simulator, FleetKey key, std::uint32_t share_ppm) {
  constexpr std::uint32_t kAll = kSpotBaseShares.front();
  if (!is_cheaper_as_spot(simulator, simulator.candidates()[key.candidate]) || key.spot_base_ppm > 0) {
    return std::nullopt;
  }
  key.spot_ppm = share_ppm == kAll ? 0 : kAll;  // nodes that are added to a base of spot nodes are bought like the base
  key.spot_base_ppm = share_ppm;
  const bool is_divided = fleet_of(simulator.candidates(), key).spot_base_machines() > 0;
  return share_ppm == kAll || is_divided ? std::optional(key) : std::nullopt;
}

}  // namespace

std::uint32_t stress_reclaims_ppm(const PlanSpec& spec, const FleetOption& fleet, std::span<const Trial> seeds) {
  double micro_usd = 0;
  for (const Trial& trial : seeds) micro_usd += static_cast<double>(trial.spot_micro_usd);
  const auto price = price_of(fleet.candidate->machine, model::CapacityType::spot);
  const double node_hours = price && price->count > 0 && !seeds.empty()
                                ? micro_usd / static_cast<double>(price->count) / static_cast<double>(seeds.size())
                                : 0;
  const double twice = 2.0 * spec.cluster.spot_interruptions_ppm;
  const double one = node_hours > 0 ? kHighestReclaimRatePpm / node_hours : 0;
  constexpr double kPercent = 10'000;
  const double percents = std::max(twice, one) / kPercent;
  const double whole = percents >= 1 ? static_cast<double>(static_cast<std::int64_t>(percents + 0.999)) : percents;
  return static_cast<std::uint32_t>(std::min(whole * kPercent, kHighestReclaimRatePpm));
}

Result<Trial> simulate_reclaims(FleetSimulator& simulator, const FleetOption& fleet, std::span<const Trial> seeds,
                                const SearchBudget& budget) {
  const Conditions conditions{.reclaims_ppm = stress_reclaims_ppm(simulator.spec(), fleet, seeds)};
  auto trials = simulate_seeds(simulator, fleet, seeds_to_try(seeds, budget), conditions);
  if (!trials) return std::unexpected(trials.error());
  std::int64_t reclaimed = 0;
  for (const Trial& trial : *trials) reclaimed += trial.reclaimed;
  Trial worst = std::move(*std::ranges::min_element(*trials, {}, &Trial::attainment_ppm));
  worst.name = fmt::format("{} of spot nodes reclaimed an hour", percent_text(*conditions.reclaims_ppm));
  worst.condition = TrialCondition::reclaims;
  worst.reclaimed = reclaimed;
  worst.scenario = simulator.scenario(fleet, conditions);
  return worst;
}

std::optional<FleetKey> with_higher_minimum(const FleetSimulator& simulator, FleetKey key) {
  const ReplicaCount highest = highest_step(simulator.candidates()[key.candidate]);
  if (key.step >= highest) return std::nullopt;
  key.step = std::min(key.step + std::max<ReplicaCount>(1, key.step / 3), highest);
  return key;
}

Result<std::optional<FleetKey>> find_spot_base_fleet(FleetSimulator& simulator, const FleetKey& capstan,
                                                     std::uint32_t share_ppm, const SearchBudget& budget) {
  std::optional<FleetKey> key = spot_base_key(simulator, capstan, share_ppm);
  if (!key) return key;
  for (int tries = 0; tries < kMaxSpotBaseTries; ++tries) {
    std::vector<FleetOrder> orders;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) orders.push_back(simulator.order(*key, seed));
    if (Result<void> done = simulator.run(orders, "base as spot"); !done) return std::unexpected(done.error());
    const TriedFleet tried = simulator.result(*key);
    if (tried.holds_slo) {
      const auto reclaims = simulate_reclaims(simulator, tried.fleet, tried.seeds, budget);
      if (!reclaims) return std::unexpected(reclaims.error());
      if (reclaims->attainment_ppm >= simulator.service().slo.attainment_ppm) return key;
    }
    const std::optional<FleetKey> next = with_higher_minimum(simulator, *key);
    if (!next) break;
    key = next;
  }
  return std::optional<FleetKey>();
}

namespace {

/// Returns true if a fleet with spot nodes needs no higher minimum than one without.
bool has_minimum_of(const SpotBase& spot, const FleetOption& other) {
  for (std::size_t i = 0; i < spot.roles.size(); ++i) {
    if (spot.roles[i].minimum > other.minimum[i]) return false;
  }
  return true;
}

/// Simulates the chosen fleet with a share of its base as spot, if needed with higher minima.
Result<std::optional<SpotBase>> try_share(FleetSimulator& simulator, const FleetKey& chosen, std::uint32_t share_ppm,
                                          const ServicePlan& plan, const SearchBudget& budget) {
  std::optional<FleetKey> key = spot_base_key(simulator, chosen, share_ppm);
  if (!key) return std::optional<SpotBase>();
  const ServiceSpec& service = simulator.service();
  const auto is_met = [&](const Trial& trial) { return trial.attainment_ppm >= service.slo.attainment_ppm; };
  const auto is_good = [&](const Trial& trial) {
    const double goodput = static_cast<double>(trial.goodput_milli) / 1000;
    return is_met(trial) && (!service.goodput_per_s || goodput >= *service.goodput_per_s);
  };
  for (int tries = 1;; ++tries) {
    const FleetOption fleet = scaled_fleet(simulator, *key, plan);
    auto seeds = simulate_seeds(simulator, fleet, seeds_to_try(plan.seeds, budget), {});
    if (!seeds) return std::unexpected(seeds.error());
    auto reclaims = simulate_reclaims(simulator, fleet, *seeds, budget);
    if (!reclaims) return std::unexpected(reclaims.error());
    SpotBase out{.share_ppm = share_ppm,
                 .micro_usd_per_hour = micro_usd_per_hour(*seeds),
                 .holds_slo = std::ranges::all_of(*seeds, is_good) && is_met(*reclaims)};
    const std::optional<FleetKey> next = with_higher_minimum(simulator, *key);
    if (!out.holds_slo && tries < kMaxSpotBaseTries && next) {
      key = next;
      continue;
    }
    for (std::size_t i = 0; i < fleet.minimum.size(); ++i) {
      out.roles.push_back({.minimum = fleet.minimum[i], .maximum = fleet.maximum[i]});
    }
    out.seeds = std::move(*seeds);
    out.reclaims = std::move(*reclaims);
    return std::optional(std::move(out));
  }
}

}  // namespace

Result<std::optional<SpotBase>> try_spot_base(FleetSimulator& simulator, const FleetKey& chosen,
                                              const ServicePlan& plan, const SearchBudget& budget) {
  std::optional<SpotBase> best;
  if (!plan.holds_slo) return best;
  for (const std::uint32_t share : kSpotBaseShares) {
    const bool is_lowest = best && best->holds_slo && has_minimum_of(*best, fleet_of(simulator.candidates(), chosen));
    if (is_lowest) break;
    auto found = try_share(simulator, chosen, share, plan, budget);
    if (!found) return std::unexpected(found.error());
    if (!*found) continue;
    const bool is_taken =
        !best || ((*found)->holds_slo && (!best->holds_slo || (*found)->micro_usd_per_hour < best->micro_usd_per_hour));
    if (is_taken) best = std::move(**found);
  }
  return best;
}

std::vector<FleetKey> spot_base_starts(const FleetSimulator& simulator, const FleetKey& best,
                                       const TriedFleet& chosen) {
  std::map<std::size_t, const TriedFleet*> by_candidate;
  for (const auto& [key, fleet] : simulator.tried()) {
    const bool is_start =
        key.scaler == ScalerKind::capstan && key.spot_base_ppm == 0 && key.candidate != best.candidate;
    if (!is_start) continue;
    const TriedFleet*& known = by_candidate[key.candidate];
    if (known == nullptr || is_better(fleet, *known)) known = &fleet;
  }
  std::vector<std::pair<double, FleetKey>> others;
  for (const auto& [candidate, fleet] : by_candidate) {
    if (!fleet->holds_slo || !is_cheaper_as_spot(simulator, simulator.candidates()[candidate])) continue;
    const FleetCandidate& of = simulator.candidates()[candidate];
    const auto spot = static_cast<double>(price_of(of.machine, model::CapacityType::spot)->count);
    const double least =
        static_cast<double>(fleet->micro_usd_per_hour()) * spot / static_cast<double>(of.price().count);
    if (least < static_cast<double>(chosen.micro_usd_per_hour())) others.emplace_back(least, fleet->key);
  }
  std::ranges::sort(others);
  std::vector<FleetKey> starts = {best};
  for (const auto& [cost, key] : others) {
    if (starts.size() <= kMaxOtherSpotStarts) starts.push_back(key);
  }
  return starts;
}

}  // namespace capstan::plan
