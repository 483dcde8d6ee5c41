#include "plan/search/service_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace capstan::plan {

namespace {

constexpr std::size_t kCandidatesOfRound = 8;  ///< candidates that a round simulates on a short part of the load
constexpr std::size_t kMaxFinalists = 3;       ///< candidates that are simulated on the whole load at a time
constexpr std::size_t kMaxHugeFinalists = 2;   ///< the same for a huge load
constexpr int kMaxRefinements = 4;             ///< rounds that look for a lower or higher minimum of the finalists
constexpr int kMaxLeaderRaises = 6;            ///< rounds that raise the minimum because a seed missed the SLO

/// Searches the fleet of one service.
class ServiceSearch {
 public:
  ServiceSearch(FleetSimulator& simulator, const SearchBudget& budget)
      : simulator_(simulator), candidates_(simulator.candidates()), budget_(budget) {}

  Result<FoundFleets> run() {
    if (Result<void> done = compare_candidates(); !done) return std::unexpected(done.error());
    take_finalists();
    do {
      for (const auto step :
           {&ServiceSearch::simulate_whole_load, &ServiceSearch::refine_minimum, &ServiceSearch::prove}) {
        if (Result<void> done = (this->*step)(); !done) return std::unexpected(done.error());
      }
    } while (take_next_finalists());
    const TriedFleet& best = best_proven(nullptr);
    FoundFleets found{.best = best.key};
    const bool has_other = std::ranges::any_of(simulator_.tried(), [&](const auto& entry) {
      return entry.second.seeds.size() >= kSeeds && is_other_kind(entry.first, best.key);
    });
    if (has_other) found.runner_up = best_proven(&best.key).key;
    return found;
  }

 private:
  bool has_budget() const { return simulator_.requests() < (has_proven_ ? budget_.others : budget_.fleets); }
  std::size_t finalists_most() const { return budget_.is_huge ? kMaxHugeFinalists : kMaxFinalists; }

  /// Simulates candidates with several minima on a short part of the load, and orders the candidates by their best
  /// fleet. The candidates with the lowest modelled cost come first. The next ones follow as long as no fleet holds the
  /// SLO, or if their modelled cost is below that of the best fleet: the model knows only requests of mean length, so
  /// it may understate what long prompts cost on slow GPUs.
  Result<void> compare_candidates() {
    TriedFleets tried;
    for (std::size_t first = 0; first < candidates_.size(); first += kCandidatesOfRound) {
      if (first > 0 && !may_be_better(candidates_[first], tried)) break;
      if (Result<void> done = try_short(first, tried); !done) return done;
    }
    std::vector<const TriedFleet*> fleets;
    for (const auto& [key, fleet] : tried) fleets.push_back(&fleet);
    std::ranges::sort(fleets, [](const TriedFleet* a, const TriedFleet* b) { return is_better(*a, *b); });
    for (const TriedFleet* fleet : fleets) {
      const bool is_new = std::ranges::find(ranked_, fleet->key.candidate, &FleetKey::candidate) == ranked_.end();
      if (is_new) ranked_.push_back(fleet->key);
    }
    return {};
  }

  /// Takes the first candidates of the ranking as finalists.
  void take_finalists() {
    finalists_.assign(ranked_.begin(), ranked_.begin() + std::min(ranked_.size(), finalists_most()));
    // The runner-up has another GPU kind or parallelism than the best fleet, so at least one such fleet is a finalist.
    const auto is_another = [&](const FleetKey& key) { return is_other_kind(key, finalists_.front()); };
    const auto other = std::ranges::find_if(ranked_, is_another);
    if (std::ranges::none_of(finalists_, is_another) && other != ranked_.end()) {
      if (finalists_.size() == finalists_most()) finalists_.pop_back();
      finalists_.push_back(*other);
    }
  }

  /// Takes the next candidates of the ranking that may still be better than the best proven fleet. Returns false if
  /// there are none, if the budget is used up, or if the load is huge and a proven fleet holds the SLO.
  bool take_next_finalists() {
    for (const FleetKey& finalist : finalists_) std::erase(ranked_, finalist);
    finalists_.clear();
    const TriedFleet& proven = best_proven(nullptr);
    if (budget_.is_huge && proven.holds_slo) return false;
    for (const FleetKey& key : ranked_) {
      const bool may_cost_less = !proven.holds_slo || !is_dearer(candidates_[key.candidate], proven);
      if (may_cost_less && has_budget() && finalists_.size() < finalists_most()) finalists_.push_back(key);
    }
    return !finalists_.empty();
  }

  /// Returns true if the candidate costs at least as much as the fleet, by the model and for the mean rate.
  static bool is_dearer(const FleetCandidate& candidate, const TriedFleet& fleet) {
    return static_cast<double>(fleet.micro_usd_per_hour()) <= candidate.modelled_usd_per_hour * 1e6;
  }

  /// Simulates the candidates of one round on the short part of the load.
  /// @param first  index of the first candidate of the round
  Result<void> try_short(std::size_t first, TriedFleets& tried) {
    std::vector<FleetOrder> orders;
    for (std::size_t i = first; i < std::min(first + kCandidatesOfRound, candidates_.size()); ++i) {
      const ReplicaCount peak = peak_step(candidates_[i]);
      std::set<ReplicaCount> steps;
      for (const ReplicaCount thirds : {0, 1, 2, 3, 4}) {
        const ReplicaCount step = std::max<ReplicaCount>(1, (peak * thirds + 2) / 3);
        steps.insert(std::min(step, highest_step(candidates_[i])));
      }
      for (const ReplicaCount step : steps) orders.push_back(simulator_.order({i, step, 0}, 1));
    }
    Result<TriedFleets> round = simulator_.run_short(orders, "short part of the load");
    if (!round) return std::unexpected(round.error());
    tried.merge(*round);
    return {};
  }

  /// Returns true if the budget is not used up, and if no fleet holds the SLO or the modelled cost of the candidate is
  /// below the simulated cost of every fleet that does.
  bool may_be_better(const FleetCandidate& candidate, const TriedFleets& tried) const {
    const auto is_as_good = [&](const auto& entry) {
      return entry.second.holds_slo && is_dearer(candidate, entry.second);
    };
    return has_budget() && std::ranges::none_of(tried, is_as_good);
  }

  bool is_other_kind(const FleetKey& a, const FleetKey& b) const {
    const engine::EngineRow& row_a = candidates_[a.candidate].engine;
    const engine::EngineRow& row_b = candidates_[b.candidate].engine;
    return row_a.gpu != row_b.gpu || row_a.tp != row_b.tp;
  }

  /// Returns the shares of spot nodes that a candidate may have.
  std::vector<std::uint32_t> spot_shares(const FleetCandidate& candidate) const {
    const ClusterSpec& cluster = simulator_.spec().cluster;
    const bool may_buy = std::ranges::find(cluster.capacity, model::CapacityType::spot) != cluster.capacity.end();
    const auto spot = price_of(candidate.machine, model::CapacityType::spot);
    const bool helps = may_buy && spot && candidate.base != model::CapacityType::spot &&
                       spot->count < candidate.price().count && cluster.provisioner != Provisioner::none;
    return helps ? std::vector<std::uint32_t>{0, 500'000, 1'000'000} : std::vector<std::uint32_t>{0};
  }

  /// Adds the fleet of a key with another share of spot nodes, unless `orders` has a fleet with as many spot nodes.
  void add_spot(const FleetKey& key, std::uint32_t spot_ppm, std::vector<FleetOrder>& orders) const {
    FleetOrder order = simulator_.order({key.candidate, key.step, spot_ppm}, 1);
    const auto buys_as_many = [&](const FleetOrder& other) {
      return other.key.candidate == key.candidate && other.fleet.spot_machines() == order.fleet.spot_machines();
    };
    if (std::ranges::none_of(orders, buys_as_many)) orders.push_back(std::move(order));
  }

  Result<void> simulate_whole_load() {
    std::vector<FleetOrder> orders;
    for (const FleetKey& finalist : finalists_) {
      const bool is_first = finalist == finalists_.front();
      for (const std::uint32_t spot : spot_shares(candidates_[finalist.candidate])) {
        if (spot == 0 || is_first || !budget_.is_huge) add_spot(finalist, spot, orders);
      }
    }
    return simulator_.run(orders, "whole load");
  }

  /// Returns the best fleet of a candidate on the whole load.
  const TriedFleet& best_of(std::size_t candidate) const {
    const TriedFleet* best = nullptr;
    for (const auto& [key, fleet] : simulator_.tried()) {
      if (key.candidate == candidate && (best == nullptr || is_better(fleet, *best))) best = &fleet;
    }
    return *best;
  }

  /// Returns the next fleet to try in the search for the smallest minimum that holds the SLO; nothing if the search of
  /// the finalist is complete.
  std::optional<FleetKey> next_step(const FleetKey& finalist) const {
    const FleetKey best = best_of(finalist.candidate).key;
    ReplicaCount missed = 0, held = 0;  // largest step that misses and smallest that holds the SLO; 0: none is known
    for (const auto& [key, fleet] : simulator_.tried()) {
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
    return step == 0 || simulator_.tried().contains(next) ? std::nullopt : std::optional(next);
  }

  Result<void> refine_minimum() {
    for (int round = 0; round < kMaxRefinements && has_budget(); ++round) {
      std::vector<FleetOrder> orders;
      for (const FleetKey& finalist : finalists_) {
        if (const auto next = next_step(finalist)) orders.push_back(simulator_.order(*next, 1));
      }
      if (Result<void> done = simulator_.run(orders, "other minima"); !done) return done;
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

  /// Simulates the leaders under all seeds. A leader that misses the SLO gets a higher minimum and is simulated again.
  /// A fleet that was simulated under fewer seeds becomes a leader if its results so far are better than those of the
  /// best proven fleet. When the budget is used up, the rounds end as soon as a fleet holds the SLO, or after
  /// the third round.
  Result<void> prove() {
    leaders_ = leaders();
    if (has_proven_) {
      const TriedFleet& proven = best_proven(nullptr);
      std::erase_if(leaders_, [&](const FleetKey& key) { return !is_better(simulator_.result(key), proven); });
    }
    for (int round = 0; round <= kMaxLeaderRaises; ++round) {
      std::vector<FleetOrder> orders;
      for (const FleetKey& leader : leaders_) {
        const auto known = simulator_.tried().find(leader);
        const std::uint64_t done = known == simulator_.tried().end() ? 0 : known->second.seeds.size();
        for (std::uint64_t seed = done + 1; seed <= kSeeds; ++seed) orders.push_back(simulator_.order(leader, seed));
      }
      if (Result<void> done = simulator_.run(orders, fmt::format("{} seeds", kSeeds)); !done) return done;
      if (round == kMaxLeaderRaises) break;
      if (!has_budget()) {
        if (best_proven(nullptr).holds_slo || round > 1) break;
        leaders_.resize(std::min<std::size_t>(leaders_.size(), 1));  // later finalists may have no leader
      }
      const bool is_raised = raise_leaders();
      if (!(has_budget() && add_challenger()) && !is_raised) break;
    }
    has_proven_ = true;
    return {};
  }

  /// Adds the best fleet that was not simulated under all seeds to the leaders, if it is better than the best proven
  /// one. Returns false if there is no such fleet, or if it is a leader already.
  bool add_challenger() {
    const TriedFleet& proven = best_proven(nullptr);
    const TriedFleet* best = nullptr;
    for (const auto& [key, fleet] : simulator_.tried()) {
      if (fleet.seeds.size() >= kSeeds || !is_better(fleet, proven)) continue;
      if (best == nullptr || is_better(fleet, *best)) best = &fleet;
    }
    if (best == nullptr || std::ranges::find(leaders_, best->key) != leaders_.end()) return false;
    leaders_.push_back(best->key);
    return true;
  }

  /// Raises the minimum of the leaders that miss the SLO. The leaders of a later round of finalists are only raised
  /// while they cost less than the best fleet. Returns false if there is nothing to raise.
  bool raise_leaders() {
    bool is_raised = false;
    for (FleetKey& leader : leaders_) {
      const FleetCandidate& candidate = candidates_[leader.candidate];
      const TriedFleet tried = simulator_.result(leader);
      if (tried.holds_slo || leader.step >= highest_step(candidate)) continue;
      const TriedFleet& proven = best_proven(nullptr);
      const bool is_too_dear = proven.holds_slo && tried.micro_usd_per_hour() >= proven.micro_usd_per_hour();
      if (has_proven_ && is_too_dear) continue;
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
    for (const auto& [key, fleet] : simulator_.tried()) {
      if (fleet.seeds.size() < kSeeds || (unlike != nullptr && !is_other_kind(key, *unlike))) continue;
      if (best == nullptr || is_better(fleet, *best)) best = &fleet;
    }
    return *best;
  }

  FleetSimulator& simulator_;
  const std::vector<FleetCandidate>& candidates_;
  SearchBudget budget_;
  std::vector<FleetKey> ranked_;     ///< best fleet of each candidate on the short part, the best first
  std::vector<FleetKey> finalists_;  ///< best fleet of each candidate that is simulated on the whole load
  std::vector<FleetKey> leaders_;    ///< fleets that are simulated under all seeds
  bool has_proven_ = false;          ///< true: the first finalists were proven
};

}  // namespace

Result<FoundFleets> find_fleets(FleetSimulator& simulator, const SearchBudget& budget) {
  return ServiceSearch(simulator, budget).run();
}

}  // namespace capstan::plan
