#include "plan/search/scaler_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "plan/feasibility/refusal.h"
#include "plan/result/figures.h"
#include "plan/scalers/engine_metrics.h"
#include "plan/scalers/scalers.h"
#include "plan/search/scaler_comparison.h"

namespace capstan::plan {

namespace {

constexpr std::array kKinds = {ScalerKind::capstan, ScalerKind::scaled_object, ScalerKind::hpa, ScalerKind::constant};
/// Order of preference at equal cost. A constant fleet is the first, because no autoscaler has to be operated.
constexpr std::array kPreferredKinds = {ScalerKind::constant, ScalerKind::capstan, ScalerKind::scaled_object,
                                        ScalerKind::hpa};
constexpr std::array kThresholdKinds = {ScalerKind::scaled_object, ScalerKind::hpa};
constexpr int kMaxConstantTries = 12;  ///< largest number of constant fleets that are tried
constexpr int kMaxScalerRaises = 8;    ///< largest number of minima that are tried for one scaler
constexpr int kMaxScalerRounds = 4;    ///< rounds of choosing a scaler and raising the minima of the others

bool is_threshold(ScalerKind kind) { return std::ranges::find(kThresholdKinds, kind) != kThresholdKinds.end(); }

class ScalerSearch {
 public:
  ScalerSearch(FleetSimulator& simulator, const FleetKey& capstan, const ServicePlan& plan, const SearchBudget& budget)
      : simulator_(simulator),
        capstan_(capstan),
        plan_(plan),
        budget_(simulator.requests() + budget.scalers),
        seed_order_(worst_seeds_first(simulator.result(capstan))),
        highest_(highest_step(simulator.candidates()[capstan.candidate])),
        least_(capstan.spot_base_ppm > 0 ? capstan.step : 1) {}

  Result<ScalerChoice> run() {
    find_refusals();
    if (Result<void> done = find_constant(); !done) return std::unexpected(done.error());
    for (const ScalerKind kind : kThresholdKinds) {
      if (!refused_[index(kind)].empty()) continue;
      if (Result<void> done = find_minimum(kind); !done) return std::unexpected(done.error());
    }
    if (Result<void> done = try_size_of_constant(); !done) return std::unexpected(done.error());
    for (int round = 0; round < kMaxScalerRounds && !is_hopeless_; ++round) {
      const auto is_raised = raise_others();
      if (!is_raised) return std::unexpected(is_raised.error());
      if (!*is_raised) break;
    }
    return choice();
  }

  Result<std::optional<FleetKey>> run_constant() {
    if (Result<void> done = find_constant(); !done) return std::unexpected(done.error());
    return constant_ == 0 ? std::nullopt : std::optional(key_of(ScalerKind::constant, constant_));
  }

 private:
  static std::size_t index(ScalerKind kind) { return static_cast<std::size_t>(kind); }
  bool has_budget() const { return simulator_.requests() < budget_; }

  /// Returns the seeds, the one with the most missed requests first. A seed that is hard for Capstan's policy is likely
  /// hard for other scalers, so this order finds misses early.
  static std::vector<std::uint64_t> worst_seeds_first(const TriedFleet& fleet) {
    std::vector<const Trial*> trials;
    for (const Trial& trial : fleet.seeds) trials.push_back(&trial);
    std::ranges::stable_sort(trials, {}, [](const Trial* trial) { return trial->attainment_ppm; });
    std::vector<std::uint64_t> seeds;
    for (const Trial* trial : trials) seeds.push_back(trial->seed);
    return seeds;
  }

  FleetKey key_of(ScalerKind kind, ReplicaCount step) const {
    return {capstan_.candidate, step, capstan_.spot_ppm, kind, capstan_.spot_base_ppm};
  }

  FleetOption fleet_at(const FleetKey& key) const { return scaled_fleet(simulator_, key, plan_); }

  const TriedFleet* find(const FleetKey& key) const {
    const auto found = simulator_.tried().find(key);
    return found == simulator_.tried().end() ? nullptr : &found->second;
  }
  bool is_proven(const TriedFleet& fleet) const { return fleet.seeds.size() >= seed_order_.size(); }

  /// Returns true if a fleet holds the SLO under every seed. Simulates the seeds that it lacks, the hardest two first.
  /// @param is_whole  true: simulates all seeds, even after a miss
  Result<bool> holds(ScalerKind kind, ReplicaCount step, bool is_whole = false) {
    const FleetKey key = key_of(kind, step);
    const std::string stage = fmt::format("{}, {}", scaler_word(kind), fleet_at(key).words());
    for (const std::size_t first : {0, 2}) {
      const TriedFleet* known = find(key);
      if (known != nullptr && !known->holds_slo && !is_whole) return false;
      std::vector<FleetOrder> orders;
      for (std::size_t i = first; i < (first == 0 ? std::min<std::size_t>(2, seed_order_.size()) : seed_order_.size());
           ++i) {
        const bool is_done =
            known != nullptr && std::ranges::find(known->seeds, seed_order_[i], &Trial::seed) != known->seeds.end();
        if (!is_done) orders.push_back({key, fleet_at(key), seed_order_[i]});
      }
      if (Result<void> done = simulator_.run(orders, stage); !done) return std::unexpected(done.error());
    }
    return find(key)->holds_slo;
  }

  /// Notes why the simulator cannot run a scaler that the plan writes.
  void find_refusals() {
    for (const ScalerKind kind : kThresholdKinds) {
      if (simulator_.service().engine != Engine::vllm) {
        refused_[index(kind)] = "the simulator exports the metrics of vLLM only";
        continue;
      }
      const std::string scenario = simulator_.scenario(fleet_at(key_of(kind, capstan_.step)));
      const auto parsed = scenario::parse_scenario(scenario, "scenario-" + simulator_.service().name + ".yaml");
      if (!parsed) refused_[index(kind)] = parsed.error().text();
    }
  }

  /// Finds the smallest constant fleet that holds the SLO by bisection, from the need at the peak.
  Result<void> find_constant() {
    ReplicaCount missed = least_ - 1;  // largest size that misses the SLO
    ReplicaCount held = 0;             // smallest size that holds the SLO; 0: none is known
    ReplicaCount step = std::max(least_, std::min(peak_step(simulator_.candidates()[capstan_.candidate]), highest_));
    for (int tries = 0; tries < kMaxConstantTries && has_budget(); ++tries) {
      const auto is_held = holds(ScalerKind::constant, step);
      if (!is_held) return std::unexpected(is_held.error());
      (*is_held ? held : missed) = step;
      if (held == 0) {
        is_hopeless_ = missed == highest_;
        if (is_hopeless_) break;
        step = std::min(missed + std::max<ReplicaCount>(1, missed / 3), highest_);
      } else {
        if (held - missed <= 1) break;
        step = missed + (held - missed) / 2;
      }
    }
    constant_ = held;
    return {};
  }

  /// Finds a small minimum with which a ScaledObject or HPA holds the SLO. The first try is the minimum of Capstan's
  /// policy. If it misses the SLO, the tries approach the size of the constant fleet and exceed it if necessary. A
  /// bisection then finds a smaller minimum. If even the largest constant fleet misses the SLO, nothing else is tried.
  Result<void> find_minimum(ScalerKind kind) {
    ReplicaCount missed = 0, held = 0, step = capstan_.step;
    for (int tries = 0; tries < kMaxScalerRaises && (has_budget() || tries == 0); ++tries) {
      const auto is_held = holds(kind, step);
      if (!is_held) return std::unexpected(is_held.error());
      (*is_held ? held : missed) = step;
      if (is_hopeless_ || (held > 0 && held - missed <= 1)) break;
      if (held > 0) {
        if (missed == 0) break;  // no lower minimum than that of Capstan's policy is tried
        step = missed + (held - missed) / 2;
      } else {
        if (missed == highest_) break;
        const ReplicaCount to_constant = constant_ > missed ? (constant_ - missed + 1) / 2 : 1;
        step = std::min(missed + std::max<ReplicaCount>(1, to_constant), highest_);
      }
    }
    return {};
  }

  /// Tries the size of the constant fleet as the minimum of each scaler that costs more or is not proved to hold the
  /// SLO. Nodes are bought whole and stay for an hour, so a higher minimum may cost less.
  Result<void> try_size_of_constant() {
    if (constant_ == 0) return {};
    const TriedFleet& constant = *find(key_of(ScalerKind::constant, constant_));
    for (const ScalerKind kind : kKinds) {
      const TriedFleet* best = pick(kind, 0, 0);
      const bool is_cheaper = best == nullptr || !best->holds_slo || !is_proven(*best) ||
                              constant.micro_usd_per_hour() < best->micro_usd_per_hour();
      // Capstan's policy always gets this trial, because its object is written with this minimum if the constant fleet
      // is chosen.
      const bool may_run = has_budget() || kind == ScalerKind::capstan;
      if (kind == ScalerKind::constant || !refused_[index(kind)].empty() || !is_cheaper || !may_run) continue;
      if (const auto done = holds(kind, constant_); !done) return std::unexpected(done.error());
    }
    return {};
  }

  /// Returns the fleet that represents a scaler: the cheapest proven fleet that holds the SLO, has at least this step
  /// and meets at least `wanted_ppm`. If there is none, prefers proven fleets, then fleets with this step and
  /// `wanted_ppm`, then the fleet that meets most. Null if no fleet of the scaler was simulated.
  const TriedFleet* pick(ScalerKind kind, ReplicaCount floor, std::int64_t wanted_ppm) const {
    const auto rank = [&](const TriedFleet& fleet) {
      const bool is_enough = fleet.key.step >= floor && fleet.lowest_attainment_ppm() >= wanted_ppm;
      const bool is_good = is_enough && fleet.holds_slo;
      return std::tuple(!is_proven(fleet), !is_good, !is_enough, is_good ? fleet.micro_usd_per_hour() : 0,
                        -fleet.lowest_attainment_ppm(), fleet.key.step);
    };
    const TriedFleet* best = nullptr;
    for (const auto& [key, fleet] : simulator_.tried()) {
      if (key != key_of(kind, key.step) || key.step < least_) continue;
      if (best == nullptr || rank(fleet) < rank(*best)) best = &fleet;
    }
    return best;
  }

  /// Returns the cheapest scaler that holds the SLO or, if no scaler holds it, the scaler that meets most. A scaler
  /// that does not follow the signal that the spec asks for is returned only if no other one holds the SLO.
  const TriedFleet& chosen() const {
    const TriedFleet* best = nullptr;
    for (const ScalerKind kind : kPreferredKinds) {
      const TriedFleet* fleet = pick(kind, 0, 0);
      if (fleet == nullptr || !is_proven(*fleet)) continue;
      const auto cost = [&](const TriedFleet& f) {
        const bool is_other_signal =
            f.key.scaler == ScalerKind::capstan && asks_for_another_signal(simulator_.spec().asked);
        return std::tuple(!f.holds_slo, is_other_signal, f.holds_slo ? 0 : -f.lowest_attainment_ppm(),
                          f.micro_usd_per_hour());
      };
      if (best == nullptr || cost(*fleet) < cost(*best)) best = fleet;
    }
    return *best;
  }

  ReplicaCount floor_of(const TriedFleet& chosen) const {
    return chosen.key.scaler == ScalerKind::constant ? chosen.key.step : 0;
  }

  /// Raises the minimum of the scalers that are not chosen and meet too little, or stay below the chosen constant
  /// fleet. Returns false if no minimum was raised.
  Result<bool> raise_others() {
    const TriedFleet& best = chosen();
    const ReplicaCount floor = floor_of(best);
    const std::int64_t wanted = best.lowest_attainment_ppm() - kScalerShortfallPpm;
    bool is_raised = false;
    for (const ScalerKind kind : kKinds) {
      if (kind == best.key.scaler || kind == ScalerKind::constant || !refused_[index(kind)].empty()) continue;
      const TriedFleet* fleet = pick(kind, floor, wanted);
      const bool is_enough =
          fleet != nullptr && is_proven(*fleet) && fleet->key.step >= floor && fleet->lowest_attainment_ppm() >= wanted;
      if (is_enough) continue;
      ReplicaCount highest_tried = floor;
      for (const auto& [key, tried] : simulator_.tried()) {
        if (key == key_of(kind, key.step) && is_proven(tried)) highest_tried = std::max(highest_tried, key.step + 1);
      }
      if (highest_tried > highest_ || (!has_budget() && fleet != nullptr && is_proven(*fleet))) continue;
      const auto done = holds(kind, std::max<ReplicaCount>(1, highest_tried), true);
      if (!done) return std::unexpected(done.error());
      is_raised = true;
    }
    return is_raised;
  }

  ScalerChoice choice() const {
    const TriedFleet& best = chosen();
    const std::int64_t wanted = best.lowest_attainment_ppm() - kScalerShortfallPpm;
    ScalerChoice out{.chosen = best.key, .capstan = pick(ScalerKind::capstan, floor_of(best), wanted)->key};
    std::vector<FleetOption> written;  // fleets of the autoscalers that the plan writes
    for (const ScalerKind kind : kKinds) {
      ScalerVariant variant{.kind = kind, .refusal_reason = refused_[index(kind)]};
      const bool is_best = kind == best.key.scaler;
      const TriedFleet* fleet = is_best                        ? &best
                                : kind == ScalerKind::constant ? pick(kind, 0, 0)
                                                               : pick(kind, floor_of(best), wanted);
      if (fleet != nullptr) {
        variant.roles = fleet->replicas();
        variant.seeds = fleet->seeds;
        variant.holds_slo = fleet->holds_slo && is_proven(*fleet);
        variant.scenario = simulator_.scenario(fleet->fleet);
        if (kind != ScalerKind::constant) written.push_back(fleet->fleet);
      } else if (variant.refusal_reason.empty()) {
        variant.refusal_reason = "the search ended before it";
      }
      out.variants.push_back(std::move(variant));
    }
    out.comparison = comparison_text(simulator_.spec(), simulator_.service(), simulator_.load(), written);
    return out;
  }

  FleetSimulator& simulator_;
  FleetKey capstan_;
  const ServicePlan& plan_;
  RequestCount budget_;
  std::vector<std::uint64_t> seed_order_;
  ReplicaCount highest_;
  ReplicaCount least_;         ///< a base of spot nodes holds the SLO under more reclaims only from this step on
  ReplicaCount constant_ = 0;  ///< step of the smallest constant fleet that holds the SLO; 0: none is known
  bool is_hopeless_ = false;   ///< true: the largest constant fleet misses the SLO, so no scaler can hold it
  std::array<std::string, kKinds.size()> refused_{};
};

}  // namespace

FleetOption threshold_fleet(const PlanSpec& spec, const ServiceSpec& service, const ServicePlan& plan,
                            FleetOption fleet, ScalerKind kind) {
  ServicePlan with_minimum = plan;
  for (std::size_t i = 0; i < with_minimum.roles.size(); ++i) {
    with_minimum.roles[i].minimum = fleet.minimum[i];
    with_minimum.roles[i].maximum = fleet.maximum[i];
  }
  const auto scaler = [&](const RoleFleet& role) {
    const ScalerFacts facts = scaler_facts(spec, service, with_minimum, role);
    const Yaml object = kind == ScalerKind::hpa ? external_metrics_hpa(facts) : keda_scaled_object(facts);
    Yaml labels;
    for (const auto& [name, value] : series_labels(spec, service, role.role)) labels.set(name, value);
    return Yaml::map({{"manifest", object}, {"labels", labels}});
  };
  fleet.scaler = kind;
  fleet.scale =
      with_minimum.roles.size() == 1
          ? scaler(with_minimum.roles[0])
          : Yaml::map({{"prefill", scaler(with_minimum.roles[0])}, {"decode", scaler(with_minimum.roles[1])}});
  return fleet;
}

FleetOption scaled_fleet(const FleetSimulator& simulator, const FleetKey& key, const ServicePlan& plan) {
  FleetOption fleet = fleet_of(simulator.candidates(), key);
  if (!is_threshold(key.scaler)) return fleet;
  return threshold_fleet(simulator.spec(), simulator.service(), plan, std::move(fleet), key.scaler);
}

Result<std::optional<FleetKey>> find_constant_fleet(FleetSimulator& simulator, const FleetKey& capstan,
                                                    const SearchBudget& budget) {
  return ScalerSearch(simulator, capstan, {}, budget).run_constant();
}

Result<ScalerChoice> choose_scaler(FleetSimulator& simulator, const FleetKey& capstan, const ServicePlan& plan,
                                   const SearchBudget& budget) {
  return ScalerSearch(simulator, capstan, plan, budget).run();
}

}  // namespace capstan::plan
