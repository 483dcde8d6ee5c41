#include "plan/search/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "plan/search/tried_fleets.h"

namespace capstan::plan {

namespace {

/// Simulated requests of one plan after which no further round of the search begins. Two cores simulate about 400,000
/// a second. The last rounds and the proof come on top.
constexpr RequestCount kShortSearchRequests = 1'000'000;
constexpr RequestCount kLongSearchRequests = 16'000'000;
/// A load up to this size is searched within the first of these limits.
constexpr RequestCount kShortLoadRequests = 20'000;
constexpr std::size_t kFinalistsMost = 3;  ///< candidates that are simulated on the whole load
constexpr int kRefinementsMost = 4;        ///< rounds that look for a lower or higher minimum of the finalists
constexpr int kRaisesMost = 6;             ///< rounds that raise the minimum because a seed missed the SLO
constexpr std::uint64_t kSeeds = 5;

/// Searches the fleet of one service.
class ServiceSearch {
 public:
  ServiceSearch(const PlanSpec& spec, const ServiceSpec& service, const LoadFacts& load,
                std::vector<FleetCandidate> candidates, const SearchOptions& options)
      : spec_(spec),
        service_(service),
        load_(load),
        candidates_(std::move(candidates)),
        trials_(spec, service, load, options),
        budget_((load.requests <= kShortLoadRequests ? kShortSearchRequests : kLongSearchRequests) /
                static_cast<RequestCount>(std::max<std::size_t>(1, spec.services.size()))) {}

  Result<ServicePlan> run() {
    for (const auto step : {&ServiceSearch::compare_candidates, &ServiceSearch::simulate_whole_load,
                            &ServiceSearch::refine_minimum, &ServiceSearch::prove}) {
      if (Result<void> done = (this->*step)(); !done) return std::unexpected(done.error());
    }
    return plan_of_best();
  }

  std::int64_t simulations() const { return trials_.simulations(); }

 private:
  using Tried = std::map<FleetKey, TriedFleet>;

  bool has_budget() const { return trials_.requests() < budget_; }

  Result<void> simulate(const std::vector<std::pair<FleetKey, std::uint64_t>>& runs, const Conditions& conditions,
                        const std::string& stage, Tried& tried) {
    std::vector<TrialOrder> orders;
    for (const auto& [key, seed] : runs) orders.push_back({fleet_of(candidates_, key), conditions, seed});
    if (orders.empty()) return {};
    const auto results = trials_.run(orders, stage);
    if (!results) return std::unexpected(results.error());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      TriedFleet& fleet = tried[runs[i].first];
      fleet.key = runs[i].first;
      fleet.fleet = orders[i].fleet;
      note_result((*results)[i], service_.slo, fleet);
    }
    return {};
  }

  /// Simulates each candidate with several minima on a short part of the load, and orders the candidates by their best
  /// fleet.
  Result<void> compare_candidates() {
    std::vector<std::pair<FleetKey, std::uint64_t>> runs;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const ReplicaCount peak = peak_step(candidates_[i]);
      std::set<ReplicaCount> steps;
      for (const ReplicaCount thirds : {0, 1, 2, 3, 4}) {
        const ReplicaCount step = std::max<ReplicaCount>(1, (peak * thirds + 2) / 3);
        steps.insert(std::min(step, highest_step(candidates_[i])));
      }
      for (const ReplicaCount step : steps) runs.push_back({{i, step, 0}, 1});
    }
    Tried tried;
    Result<void> done = simulate(runs, {.length = load_.coarse_length}, "short part of the load", tried);
    if (!done) return done;
    std::vector<const TriedFleet*> order;
    for (const auto& [key, fleet] : tried) order.push_back(&fleet);
    std::ranges::sort(order, [](const TriedFleet* a, const TriedFleet* b) { return is_better(*a, *b); });
    for (const TriedFleet* fleet : order) {
      const bool is_new = std::ranges::find(finalists_, fleet->key.candidate, &FleetKey::candidate) == finalists_.end();
      if (is_new && finalists_.size() < kFinalistsMost) finalists_.push_back(fleet->key);
    }
    // The runner-up is of another GPU kind or parallelism, so that one of these is a finalist, too.
    const auto is_another = [&](const FleetKey& key) { return is_other_kind(key, finalists_.front()); };
    if (std::ranges::any_of(finalists_, is_another)) return {};
    for (const TriedFleet* fleet : order) {
      if (!is_another(fleet->key)) continue;
      if (finalists_.size() == kFinalistsMost) finalists_.pop_back();
      finalists_.push_back(fleet->key);
      break;
    }
    return {};
  }

  bool is_other_kind(const FleetKey& a, const FleetKey& b) const {
    const engine::EngineRow& row_a = candidates_[a.candidate].engine;
    const engine::EngineRow& row_b = candidates_[b.candidate].engine;
    return row_a.gpu != row_b.gpu || row_a.tp != row_b.tp;
  }

  /// Returns the shares of spot nodes that a candidate may have.
  std::vector<std::uint32_t> spot_shares(const FleetCandidate& candidate) const {
    const auto& capacity = spec_.cluster.capacity;
    const bool may_buy = std::ranges::find(capacity, model::CapacityType::spot) != capacity.end();
    const auto spot = price_of(candidate.machine, model::CapacityType::spot);
    const bool helps = may_buy && spot && candidate.base != model::CapacityType::spot &&
                       spot->count < price_of(candidate.machine, candidate.base)->count &&
                       spec_.cluster.provisioner != Provisioner::none;
    return helps ? std::vector<std::uint32_t>{0, 500'000, 1'000'000} : std::vector<std::uint32_t>{0};
  }

  Result<void> simulate_whole_load() {
    std::vector<std::pair<FleetKey, std::uint64_t>> runs;
    for (const FleetKey& finalist : finalists_) {
      for (const std::uint32_t spot : spot_shares(candidates_[finalist.candidate])) {
        runs.push_back({{finalist.candidate, finalist.step, spot}, 1});
      }
    }
    return simulate(runs, {}, "whole load", tried_);
  }

  /// Returns the best fleet of a candidate on the whole load.
  const TriedFleet& best_of(std::size_t candidate) const {
    const TriedFleet* best = nullptr;
    for (const auto& [key, fleet] : tried_) {
      if (key.candidate == candidate && (best == nullptr || is_better(fleet, *best))) best = &fleet;
    }
    return *best;
  }

  /// Returns the next fleet to try for the smallest minimum that holds the SLO; nothing if it is known.
  std::optional<FleetKey> next_step(const FleetKey& finalist) const {
    const FleetKey best = best_of(finalist.candidate).key;
    ReplicaCount missed = 0, held = 0;  // held 0: no step is known to hold the SLO
    for (const auto& [key, fleet] : tried_) {
      if (key.candidate != best.candidate || key.spot_ppm != best.spot_ppm) continue;
      if (!fleet.holds_slo) missed = std::max(missed, key.step);
      if (fleet.holds_slo) held = held == 0 ? key.step : std::min(held, key.step);
    }
    const FleetCandidate& candidate = candidates_[best.candidate];
    ReplicaCount step = 0;
    if (held == 0) {
      step = std::min(missed + std::max<ReplicaCount>(1, missed / 2), highest_step(candidate));
    } else if (held > missed + 1) {
      step = missed + (held - missed) / 2;
    }
    const FleetKey next{best.candidate, step, best.spot_ppm};
    return step == 0 || tried_.contains(next) ? std::nullopt : std::optional(next);
  }

  Result<void> refine_minimum() {
    for (int round = 0; round < kRefinementsMost && has_budget(); ++round) {
      std::vector<std::pair<FleetKey, std::uint64_t>> runs;
      for (const FleetKey& finalist : finalists_) {
        if (const auto next = next_step(finalist)) runs.push_back({*next, 1});
      }
      if (Result<void> done = simulate(runs, {}, "other minima", tried_); !done) return done;
    }
    return {};
  }

  /// Returns the fleets to prove: the best one, and the best one of another GPU kind or parallelism.
  std::vector<FleetKey> leaders() const {
    std::vector<const TriedFleet*> order;
    for (const FleetKey& finalist : finalists_) order.push_back(&best_of(finalist.candidate));
    std::ranges::sort(order, [](const TriedFleet* a, const TriedFleet* b) { return is_better(*a, *b); });
    std::vector<FleetKey> out{order.front()->key};
    const auto other = std::ranges::find_if(order, [&](const TriedFleet* f) { return is_other_kind(f->key, out[0]); });
    if (other != order.end()) out.push_back((*other)->key);
    return out;
  }

  /// Simulates the leaders under all seeds. One that misses the SLO gets a higher minimum and is simulated again. A
  /// fleet that is better than the best of them, as far as it was simulated, becomes a leader, too.
  Result<void> prove() {
    leaders_ = leaders();
    for (int round = 0; round <= kRaisesMost; ++round) {
      std::vector<std::pair<FleetKey, std::uint64_t>> runs;
      for (const FleetKey& leader : leaders_) {
        const auto known = tried_.find(leader);
        const std::uint64_t done = known == tried_.end() ? 0 : known->second.seeds.size();
        for (std::uint64_t seed = done + 1; seed <= kSeeds; ++seed) runs.push_back({leader, seed});
      }
      if (Result<void> done = simulate(runs, {}, fmt::format("{} seeds", kSeeds), tried_); !done) return done;
      if (!has_budget() || round == kRaisesMost) break;
      const bool is_raised = raise_leaders();
      if (!add_challenger() && !is_raised) break;
    }
    return {};
  }

  /// Returns false if no fleet that was simulated under one seed is better than the best proven one.
  bool add_challenger() {
    const TriedFleet& proven = best_proven(nullptr);
    const TriedFleet* best = nullptr;
    for (const auto& [key, fleet] : tried_) {
      if (fleet.seeds.size() >= kSeeds || !is_better(fleet, proven)) continue;
      if (best == nullptr || is_better(fleet, *best)) best = &fleet;
    }
    if (best == nullptr || std::ranges::find(leaders_, best->key) != leaders_.end()) return false;
    leaders_.push_back(best->key);
    return true;
  }

  /// Raises the minimum of the leaders that miss the SLO. Returns false if there is nothing to raise.
  bool raise_leaders() {
    bool is_raised = false;
    for (FleetKey& leader : leaders_) {
      const FleetCandidate& candidate = candidates_[leader.candidate];
      if (tried_.at(leader).holds_slo || leader.step >= highest_step(candidate)) continue;
      const ReplicaCount more = std::max<ReplicaCount>(1, peak_step(candidate) / 8);
      leader.step = std::min(leader.step + more, highest_step(candidate));
      is_raised = true;
    }
    return is_raised;
  }

  /// Returns the best fleet that was simulated under all seeds.
  /// @param unlike  if not null, only fleets of another GPU kind or parallelism count
  const TriedFleet& best_proven(const FleetKey* unlike) const {
    const TriedFleet* best = nullptr;
    for (const auto& [key, fleet] : tried_) {
      if (fleet.seeds.size() < kSeeds || (unlike != nullptr && !is_other_kind(key, *unlike))) continue;
      if (best == nullptr || is_better(fleet, *best)) best = &fleet;
    }
    return *best;
  }

  Result<ServicePlan> plan_of_best() {
    const TriedFleet* best = &best_proven(nullptr);
    const bool has_other = std::ranges::any_of(tried_, [&](const auto& entry) {
      return entry.second.seeds.size() >= kSeeds && is_other_kind(entry.first, best->key);
    });
    const TriedFleet* other = has_other ? &best_proven(&best->key) : nullptr;
    ServicePlan plan{.service = service_.name, .spot_ppm = best->key.spot_ppm, .holds_slo = best->holds_slo};
    plan.seeds = best->seeds;
    add_roles(*best, plan);
    if (Result<void> done = add_robustness(best->fleet, plan); !done) return std::unexpected(done.error());
    plan.frontier = frontier_of(tried_);
    if (other != nullptr) {
      const std::string words = other->fleet.words();
      plan.runner_up = *std::ranges::find(plan.frontier, words, &FrontierPoint::fleet);
    }
    plan.scenario = scenario_text(spec_, service_, best->fleet, load_);
    const auto scenario = experiment::parse_scenario(plan.scenario, "scenario-" + service_.name + ".yaml");
    if (scenario) plan.start = start_phases(*scenario);
    plan.not_simulated = not_simulated();
    return plan;
  }

  void add_roles(const TriedFleet& tried, ServicePlan& plan) const {
    const FleetCandidate& candidate = *tried.fleet.candidate;
    for (std::size_t i = 0; i < candidate.needs.size(); ++i) {
      const RoleNeed& need = candidate.needs[i];
      plan.roles.push_back({.role = need.role,
                            .engine = candidate.engine,
                            .pods = service_.pods_per_replica,
                            .machine = candidate.machine,
                            .minimum = tried.fleet.minimum[i],
                            .maximum = tried.fleet.maximum[i],
                            .mean_ready_milli = tried.mean_ready_milli[i],
                            .peak_ready = tried.peak_ready[i],
                            .batch = need.capacity.batch,
                            .prefill_share = need.prefill_share,
                            .kv_share_at_batch = need.kv_share});
    }
  }

  /// Simulates each worse condition under every seed, and adds the trial that meets the fewest requests.
  Result<void> add_robustness(const FleetOption& fleet, ServicePlan& plan) {
    std::vector<std::pair<std::string, Conditions>> worse = {{"cold starts twice as long", {.start_percent = 200}},
                                                             {"1.5 times the load", {.load_percent = 150}}};
    if (spec_.cluster.zones.size() > 1) {
      const std::string& zone = spec_.cluster.zones.front();
      const Duration at = std::max<Duration>(load_.length / 3, std::chrono::seconds(1));
      worse.emplace(worse.begin() + 1, fmt::format("zone {} lost", zone), Conditions{.lost_zone = zone, .lost_at = at});
    }
    std::vector<TrialOrder> orders;
    for (const auto& [name, conditions] : worse) {
      for (const Trial& seed : plan.seeds) orders.push_back({fleet, conditions, seed.seed});
    }
    const auto results = trials_.run(orders, "robustness");
    if (!results) return std::unexpected(results.error());
    for (std::size_t i = 0; i < orders.size(); ++i) {
      Trial trial = trial_of(worse[i / plan.seeds.size()].first, (*results)[i]);
      const bool is_first = i % plan.seeds.size() == 0;
      if (is_first || trial.attainment_ppm < plan.robustness.back().attainment_ppm) {
        if (!is_first) plan.robustness.pop_back();
        plan.robustness.push_back(std::move(trial));
      }
    }
    return {};
  }

  std::string not_simulated() const {
    std::vector<std::string> parts;
    if (!load_.is_whole) parts.push_back(fmt::format("the load after its first {} requests", load_.requests));
    if (spec_.services.size() > 1) parts.push_back("the other services on the same nodes");
    if (std::ranges::any_of(spec_.tenants, [&](const TenantSpec& t) { return t.name != service_.tenant; })) {
      parts.push_back("jobs of other tenants");
    }
    if (service_.may_share_gpu) parts.push_back("other models on the same GPU");
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  const PlanSpec& spec_;
  const ServiceSpec& service_;
  const LoadFacts& load_;
  std::vector<FleetCandidate> candidates_;
  FleetTrials trials_;
  RequestCount budget_;
  std::vector<FleetKey> finalists_;  ///< best fleet of each candidate that is simulated on the whole load
  Tried tried_;                      ///< on the whole load
  std::vector<FleetKey> leaders_;    ///< that are simulated under all seeds
};

}  // namespace

Result<SearchResult> search_fleets(const PlanSpec& spec, const SearchOptions& options) {
  SearchResult out;
  for (const ServiceSpec& service : spec.services) {
    const Result<LoadFacts> load = count_load(service);
    if (!load) return std::unexpected(load.error());
    auto candidates = fleet_candidates(spec, service, *load);
    if (!candidates) return std::unexpected(candidates.error());
    ServiceSearch search(spec, service, *load, std::move(*candidates), options);
    Result<ServicePlan> plan = search.run();
    if (!plan) return std::unexpected(plan.error());
    out.services.push_back(std::move(*plan));
    out.simulations += search.simulations();
  }
  return out;
}

}  // namespace capstan::plan
