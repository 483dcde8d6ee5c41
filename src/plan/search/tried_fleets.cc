#include "plan/search/tried_fleets.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "experiment/run/ranking.h"
#include "plan/result/figures.h"

namespace capstan::plan {

namespace {

constexpr std::uint32_t kAllPpm = 1'000'000;

/// Returns the maximum that each role would have if no limit lowered it.
std::vector<ReplicaCount> wanted_maxima(const FleetCandidate& candidate) {
  std::vector<ReplicaCount> maxima;
  for (const RoleNeed& need : candidate.needs) {
    maxima.push_back(std::max(2 * need.at_peak + 1, need.least));
  }
  return maxima;
}

ReplicaCount sum_of(const std::vector<ReplicaCount>& replicas) {
  return std::accumulate(replicas.begin(), replicas.end(), ReplicaCount{0});
}

/// Returns the highest minimum of each role, which is also its maximum in every fleet that is not of constant size.
std::vector<ReplicaCount> maxima_of(const FleetCandidate& candidate) {
  std::vector<ReplicaCount> maxima = wanted_maxima(candidate);
  const ReplicaCount sum = sum_of(maxima);
  if (sum <= candidate.most_replicas) return maxima;
  // Each role gets its share of the limit, rounded down. The roles that lose most by rounding get the remaining
  // replicas.
  std::vector<std::pair<ReplicaCount, std::size_t>> lost;
  ReplicaCount left = candidate.most_replicas;
  for (std::size_t i = 0; i < maxima.size(); ++i) {
    lost.emplace_back(-(maxima[i] * candidate.most_replicas % sum), i);
    maxima[i] = std::max<ReplicaCount>(1, maxima[i] * candidate.most_replicas / sum);
    left -= maxima[i];
  }
  std::ranges::sort(lost);
  for (const auto& [remainder, i] : lost) {
    if (left-- > 0) ++maxima[i];
  }
  return maxima;
}

}  // namespace

std::int64_t TriedFleet::micro_usd_per_hour() const { return plan::micro_usd_per_hour(seeds); }
std::int64_t TriedFleet::lowest_attainment_ppm() const { return plan::lowest_attainment_ppm(seeds); }

FrontierPoint TriedFleet::point() const {
  return {.fleet = fleet.words(),
          .short_fleet = fleet.short_words(),
          .scaler = fleet.scaler,
          .attainment_ppm = lowest_attainment_ppm(),
          .micro_usd_per_hour = micro_usd_per_hour(),
          .holds_slo = holds_slo,
          .seeds = static_cast<std::int64_t>(seeds.size())};
}

std::vector<RoleReplicas> TriedFleet::replicas() const {
  std::vector<RoleReplicas> out;
  const auto count = static_cast<std::int64_t>(seeds.size());
  for (std::size_t i = 0; i < fleet.minimum.size(); ++i) {
    out.push_back({.minimum = fleet.minimum[i],
                   .maximum = fleet.maximum[i],
                   .mean_ready_milli = ready_milli_sum[i] / count,
                   .peak_ready = peak_ready[i]});
  }
  return out;
}

bool is_better(const TriedFleet& a, const TriedFleet& b) {
  if (a.holds_slo != b.holds_slo) return a.holds_slo;
  const std::int64_t met_a = a.lowest_attainment_ppm(), met_b = b.lowest_attainment_ppm();
  if (!a.holds_slo && met_a != met_b) return met_a > met_b;
  const std::int64_t cost_a = a.micro_usd_per_hour(), cost_b = b.micro_usd_per_hour();
  if (cost_a != cost_b) return cost_a < cost_b;
  return met_a != met_b ? met_a > met_b : a.fleet.words() < b.fleet.words();
}

bool limits_bind(const FleetCandidate& candidate) { return sum_of(wanted_maxima(candidate)) > candidate.most_replicas; }

std::int64_t wanted_machines(const FleetCandidate& candidate) {
  return candidate.machines_for(sum_of(wanted_maxima(candidate)));
}

ReplicaCount peak_step(const FleetCandidate& candidate) {
  ReplicaCount step = 1;
  for (const RoleNeed& need : candidate.needs) step = std::max(step, need.at_peak);
  return step;
}

FleetOption fleet_of(const std::vector<FleetCandidate>& candidates, const FleetKey& key) {
  const FleetCandidate& candidate = candidates[key.candidate];
  FleetOption fleet{.candidate = &candidate,
                    .maximum = maxima_of(candidate),
                    .spot_ppm = key.spot_ppm,
                    .spot_base_ppm = key.spot_base_ppm,
                    .base = key.spot_base_ppm >= kAllPpm ? model::CapacityType::spot : candidate.base};
  const ReplicaCount steps = peak_step(candidate);
  for (std::size_t i = 0; i < candidate.needs.size(); ++i) {
    const ReplicaCount minimum = (candidate.needs[i].at_peak * key.step + steps - 1) / steps;
    const ReplicaCount least = std::min(candidate.needs[i].least, fleet.maximum[i]);
    fleet.minimum.push_back(std::clamp<ReplicaCount>(minimum, least, fleet.maximum[i]));
  }
  fleet.scaler = key.scaler;
  if (key.scaler == ScalerKind::constant) {
    fleet.maximum = fleet.minimum;
    const auto fixed = [](ReplicaCount replicas) { return Yaml::map({{"policy", "fixed"}, {"replicas", replicas}}); };
    fleet.scale = fleet.minimum.size() == 1
                      ? fixed(fleet.minimum[0])
                      : Yaml::map({{"prefill", fixed(fleet.minimum[0])}, {"decode", fixed(fleet.minimum[1])}});
  }
  return fleet;
}

ReplicaCount highest_step(const FleetCandidate& candidate) {
  const std::vector<ReplicaCount> maxima = maxima_of(candidate);
  const ReplicaCount steps = peak_step(candidate);
  ReplicaCount highest = 1;
  for (std::size_t i = 0; i < maxima.size(); ++i) {
    const ReplicaCount at_peak = candidate.needs[i].at_peak;
    highest = std::max(highest, (maxima[i] * steps + at_peak - 1) / at_peak);
  }
  return highest;
}

void note_result(const experiment::RunResult& result, const ServiceSpec& service, bool is_whole, TriedFleet& tried) {
  std::vector<ReplicaCount> ready_milli, peak;
  if (result.roles.empty()) {
    const auto minutes = static_cast<std::int64_t>(result.minutes.size());
    ReplicaCount ready = 0;
    for (const experiment::Minute& minute : result.minutes) ready += minute.ready;
    ready_milli = {minutes == 0 ? 0 : ready * 1000 / minutes};
    peak = {result.replicas_peak};
  }
  for (const experiment::RoleFigures& role : result.roles) {
    ready_milli.push_back(role.ready_mean_milli(result.minutes.size()));
    peak.push_back(role.ready_peak);
  }
  tried.ready_milli_sum.resize(ready_milli.size());
  tried.peak_ready.resize(peak.size());
  for (std::size_t i = 0; i < peak.size(); ++i) {
    tried.ready_milli_sum[i] += ready_milli[i];
    tried.peak_ready[i] = std::max(tried.peak_ready[i], peak[i]);
  }
  Trial trial = trial_of(fmt::format("seed {}", result.seed), result);
  const double goodput = static_cast<double>(trial.goodput_milli) / 1000;
  tried.holds_slo &= experiment::holds_slo(result, service.slo);
  tried.holds_slo &= !is_whole || !service.goodput_per_s || goodput >= *service.goodput_per_s;
  const auto place = std::ranges::upper_bound(tried.seeds, trial.seed, {}, &Trial::seed);
  tried.seeds.insert(place, std::move(trial));
}

std::vector<FrontierPoint> frontier_of(const TriedFleets& tried, const FleetKey& chosen,
                                       const std::optional<FleetKey>& runner_up) {
  std::vector<FrontierPoint> points;
  const auto best = tried.find(chosen);
  for (const auto& [key, fleet] : tried) {
    // A fleet with a spot base that is better than the chosen one misses the SLO under more reclaims. Otherwise it
    // would have been chosen.
    const bool misses_reclaims =
        key.spot_base_ppm > 0 && key != chosen && best != tried.end() && is_better(fleet, best->second);
    if (misses_reclaims) continue;
    FrontierPoint& point = points.emplace_back(fleet.point());
    point.is_chosen = key == chosen;
    point.is_runner_up = key == runner_up;
  }
  std::ranges::sort(points, {}, [](const FrontierPoint& point) {
    return std::tuple(point.micro_usd_per_hour, -point.attainment_ppm, point.fleet);
  });
  std::int64_t most_met = -1;
  for (FrontierPoint& point : points) {
    point.is_efficient = point.attainment_ppm > most_met;
    most_met = std::max(most_met, point.attainment_ppm);
  }
  return points;
}

}  // namespace capstan::plan
