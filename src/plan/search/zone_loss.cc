#include "plan/search/zone_loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "plan/result/figures.h"
#include "plan/search/scaler_choice.h"

namespace capstan::plan {

namespace {

constexpr int kMaxZoneLossTries = 6;  ///< minima that are tried

class ZoneLossSearch {
 public:
  ZoneLossSearch(FleetSimulator& simulator, const FleetKey& chosen, const ServicePlan& plan, const Trial& missed,
                 const SearchBudget& budget)
      : simulator_(simulator),
        chosen_(chosen),
        plan_(plan),
        conditions_(*zone_loss_conditions(simulator)),
        requests_most_(simulator.requests() + budget.zone_loss),
        highest_(highest_step(simulator.candidates()[chosen.candidate])),
        missed_(missed) {
    seeds_ = {missed.seed};
    for (const Trial& trial : plan.seeds) {
      if (!budget.is_huge && trial.seed != missed.seed) seeds_.push_back(trial.seed);
    }
  }

  Result<std::optional<ZoneLossMinimum>> run() {
    TestedStep missed{.step = chosen_.step, .worst = missed_};
    std::optional<TestedStep> held;  // nothing: no step is known to hold the SLO
    for (int tries = 0; tries < kMaxZoneLossTries && missed.step < highest_; ++tries) {
      if (tries > 0 && simulator_.requests() >= requests_most_) break;
      const ReplicaCount step = held ? missed.step + (held->step - missed.step) / 2 : higher(missed.step);
      const Result<TestedStep> tested = test(step);
      if (!tested) return std::unexpected(tested.error());
      if (holds(tested->worst))
        held = *tested;
      else
        missed = *tested;
      if (held && held->step - missed.step <= 1) break;
    }
    return minimum_of(held ? *held : missed, held.has_value());
  }

 private:
  /// A step, and the seed that met the fewest requests while the zone was lost.
  struct TestedStep {
    ReplicaCount step = 1;
    Trial worst{};
  };

  /// Returns the next step to try. It is so large that the zones that remain hold as many replicas as all zones held at
  /// the step `missed`.
  ReplicaCount higher(ReplicaCount missed) const {
    const auto zones = static_cast<ReplicaCount>(simulator_.spec().cluster.zones.size());
    const ReplicaCount without_zone = ceil_div(missed * zones, zones - 1);
    return std::min(std::max(without_zone, missed + 1), highest_);
  }

  FleetOption fleet_at(ReplicaCount step) const {
    FleetKey key = chosen_;
    key.step = step;
    return scaled_fleet(simulator_, key, plan_);
  }

  Result<std::vector<Trial>> simulate(ReplicaCount step, const Conditions& conditions,
                                      std::span<const std::uint64_t> seeds) {
    std::vector<TrialOrder> orders;
    for (const std::uint64_t seed : seeds) orders.push_back({fleet_at(step), conditions, seed});
    const auto results = simulator_.run_stress_tests(orders);
    if (!results) return std::unexpected(results.error());
    std::vector<Trial> trials;
    for (const experiment::RunResult& result : *results) {
      trials.push_back(trial_of(fmt::format("zone {} lost, with a higher minimum", plan_.lost_zone), result));
    }
    return trials;
  }

  bool holds(const Trial& trial) const { return trial.attainment_ppm >= simulator_.service().slo.attainment_ppm; }

  /// Simulates the loss of the zone, first under the seed that met the fewest requests. The other seeds are left out if
  /// that one misses the SLO.
  Result<TestedStep> test(ReplicaCount step) {
    std::optional<Trial> worst;
    const std::span<const std::uint64_t> seeds(seeds_);
    for (const auto part : {seeds.first(1), seeds.subspan(1)}) {
      if (part.empty()) continue;
      const auto trials = simulate(step, conditions_, part);
      if (!trials) return std::unexpected(trials.error());
      for (const Trial& trial : *trials) {
        if (!worst || trial.attainment_ppm < worst->attainment_ppm) worst = trial;
      }
      if (worst && !holds(*worst)) break;
    }
    return TestedStep{.step = step, .worst = worst.value_or(Trial{})};
  }

  Result<std::optional<ZoneLossMinimum>> minimum_of(const TestedStep& tested, bool is_held) {
    const auto planned = simulate(tested.step, {}, seeds_);
    if (!planned) return std::unexpected(planned.error());
    const FleetOption fleet = fleet_at(tested.step);
    ZoneLossMinimum out{.micro_usd_per_hour = micro_usd_per_hour(*planned), .holds_slo = is_held};
    for (std::size_t i = 0; i < fleet.minimum.size(); ++i) {
      out.roles.push_back({.minimum = fleet.minimum[i], .maximum = fleet.maximum[i]});
    }
    out.trial = tested.worst;
    out.trial.condition = TrialCondition::zone_lost;
    out.trial.scenario = simulator_.scenario(fleet, conditions_);
    return std::optional(std::move(out));
  }

  FleetSimulator& simulator_;
  FleetKey chosen_;
  const ServicePlan& plan_;
  Conditions conditions_;
  RequestCount requests_most_;
  ReplicaCount highest_;
  Trial missed_;                      ///< loss of the zone with the minimum of the plan
  std::vector<std::uint64_t> seeds_;  ///< the worst first
};

}  // namespace

std::optional<Conditions> zone_loss_conditions(const FleetSimulator& simulator) {
  const std::vector<std::string>& zones = simulator.spec().cluster.zones;
  if (zones.size() < 2) return std::nullopt;
  const Duration at = std::max<Duration>(simulator.load().length / 3, std::chrono::seconds(1));
  return Conditions{.lost_zone = zones.front(), .lost_at = at};
}

Result<std::optional<ZoneLossMinimum>> find_zone_loss_minimum(FleetSimulator& simulator, const FleetKey& chosen,
                                                              const ServicePlan& plan, const SearchBudget& budget) {
  const auto missed = std::ranges::find(plan.robustness, TrialCondition::zone_lost, &Trial::condition);
  const bool is_missed =
      missed != plan.robustness.end() && missed->attainment_ppm < simulator.service().slo.attainment_ppm;
  if (!is_missed || !plan.holds_slo) return std::optional<ZoneLossMinimum>();
  return ZoneLossSearch(simulator, chosen, plan, *missed, budget).run();
}

}  // namespace capstan::plan
