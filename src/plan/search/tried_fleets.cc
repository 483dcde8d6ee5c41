#include "plan/search/tried_fleets.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiment/ranking.h"
#include "plan/figures.h"

namespace capstan::plan {

namespace {

/// Returns the highest minimum of each role, which is also its maximum in every fleet of the candidate.
std::vector<ReplicaCount> maxima_of(const FleetCandidate& candidate) {
  std::vector<ReplicaCount> maxima;
  ReplicaCount sum = 0;
  for (const RoleNeed& need : candidate.needs) {
    maxima.push_back(2 * need.at_peak + 1);
    sum += maxima.back();
  }
  if (sum <= candidate.most_replicas) return maxima;
  for (ReplicaCount& maximum : maxima) {
    maximum = std::max<ReplicaCount>(1, maximum * candidate.most_replicas / sum);
  }
  return maxima;
}

}  // namespace

std::int64_t TriedFleet::micro_usd_per_hour() const { return plan::micro_usd_per_hour(seeds); }
std::int64_t TriedFleet::lowest_attainment_ppm() const { return plan::lowest_attainment_ppm(seeds); }

FrontierPoint TriedFleet::point() const {
  return {.fleet = fleet.words(),
          .attainment_ppm = lowest_attainment_ppm(),
          .micro_usd_per_hour = micro_usd_per_hour(),
          .holds_slo = holds_slo,
          .seeds = static_cast<std::int64_t>(seeds.size())};
}

bool is_better(const TriedFleet& a, const TriedFleet& b) {
  if (a.holds_slo != b.holds_slo) return a.holds_slo;
  const std::int64_t met_a = a.lowest_attainment_ppm(), met_b = b.lowest_attainment_ppm();
  if (!a.holds_slo && met_a != met_b) return met_a > met_b;
  const std::int64_t cost_a = a.micro_usd_per_hour(), cost_b = b.micro_usd_per_hour();
  return cost_a != cost_b ? cost_a < cost_b : a.fleet.words() < b.fleet.words();
}

ReplicaCount peak_step(const FleetCandidate& candidate) {
  ReplicaCount step = 1;
  for (const RoleNeed& need : candidate.needs) step = std::max(step, need.at_peak);
  return step;
}

FleetOption fleet_of(const std::vector<FleetCandidate>& candidates, const FleetKey& key) {
  const FleetCandidate& candidate = candidates[key.candidate];
  FleetOption fleet{.candidate = &candidate, .maximum = maxima_of(candidate), .spot_ppm = key.spot_ppm};
  const ReplicaCount steps = peak_step(candidate);
  for (std::size_t i = 0; i < candidate.needs.size(); ++i) {
    const ReplicaCount minimum = (candidate.needs[i].at_peak * key.step + steps - 1) / steps;
    fleet.minimum.push_back(std::clamp<ReplicaCount>(minimum, 1, fleet.maximum[i]));
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

void note_result(const experiment::RunResult& result, const model::Slo& slo, TriedFleet& tried) {
  if (tried.seeds.empty()) {
    const auto minutes = static_cast<std::int64_t>(result.minutes.size());
    ReplicaCount ready = 0;
    for (const experiment::Minute& minute : result.minutes) ready += minute.ready;
    if (result.roles.empty()) {
      tried.mean_ready_milli = {minutes == 0 ? 0 : ready * 1000 / minutes};
      tried.peak_ready = {result.replicas_peak};
    }
    for (const experiment::RoleFigures& role : result.roles) {
      tried.mean_ready_milli.push_back(role.ready_mean_milli(result.minutes.size()));
      tried.peak_ready.push_back(role.ready_peak);
    }
  }
  tried.seeds.push_back(trial_of(fmt::format("seed {}", result.seed), result));
  tried.holds_slo &= experiment::holds_slo(result, slo);
}

std::vector<FrontierPoint> frontier_of(const std::map<FleetKey, TriedFleet>& tried) {
  std::vector<FrontierPoint> points;
  for (const auto& [key, fleet] : tried) points.push_back(fleet.point());
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
