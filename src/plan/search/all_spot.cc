#include "plan/search/all_spot.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/number_text.h"
#include "plan/figures.h"
#include "plan/names.h"
#include "plan/search/scaler_choice.h"

namespace capstan::plan {

namespace {

constexpr int kMaxAllSpotTries = 4;  ///< minima that are tried
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

/// Returns the key of a fleet whose nodes are all spot; nothing if that is not possible or saves nothing.
std::optional<FleetKey> all_spot_key(const FleetSimulator& simulator, FleetKey key) {
  const ClusterSpec& cluster = simulator.spec().cluster;
  const FleetCandidate& candidate = simulator.candidates()[key.candidate];
  const bool may_buy = cluster.provisioner != Provisioner::none && candidate.machine.existing == 0 &&
                       std::ranges::find(cluster.capacity, model::CapacityType::spot) != cluster.capacity.end();
  const auto spot = price_of(candidate.machine, model::CapacityType::spot);
  const bool is_cheaper = spot && candidate.base != model::CapacityType::spot && *spot < candidate.price();
  if (!may_buy || !is_cheaper || key.is_all_spot) return std::nullopt;
  key.spot_ppm = 0;
  key.is_all_spot = true;
  return key;
}

/// Returns the next minimum to try after one that misses the SLO.
ReplicaCount higher_step(const FleetSimulator& simulator, const FleetKey& key) {
  const ReplicaCount highest = highest_step(simulator.candidates()[key.candidate]);
  return std::min(key.step + std::max<ReplicaCount>(1, key.step / 3), highest);
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

Result<std::optional<FleetKey>> find_all_spot_fleet(FleetSimulator& simulator, const FleetKey& capstan) {
  std::optional<FleetKey> key = all_spot_key(simulator, capstan);
  if (!key) return key;
  for (int tries = 1;; ++tries) {
    std::vector<FleetOrder> orders;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) orders.push_back(simulator.order(*key, seed));
    if (Result<void> done = simulator.run(orders, "all nodes as spot"); !done) return std::unexpected(done.error());
    const ReplicaCount next = higher_step(simulator, *key);
    if (simulator.tried().at(*key).holds_slo || tries == kMaxAllSpotTries || next == key->step) return key;
    key->step = next;
  }
}

Result<std::optional<AllSpot>> try_all_spot(FleetSimulator& simulator, const FleetKey& chosen, const ServicePlan& plan,
                                            const SearchBudget& budget) {
  std::optional<FleetKey> key = all_spot_key(simulator, chosen);
  if (!key || !plan.holds_slo) return std::optional<AllSpot>();
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
    AllSpot out{.micro_usd_per_hour = micro_usd_per_hour(*seeds),
                .holds_slo = std::ranges::all_of(*seeds, is_good) && is_met(*reclaims)};
    const ReplicaCount next = higher_step(simulator, *key);
    if (!out.holds_slo && tries < kMaxAllSpotTries && next != key->step) {
      key->step = next;
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

}  // namespace capstan::plan
