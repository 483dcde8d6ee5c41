#include "experiment/foresight/constant_fleet.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "experiment/run/ranking.h"

namespace capstan::experiment {
namespace {

/// The search tries pairs of a prefill count and a decode count. Each count is the smallest number found for its role,
/// plus 0 to this number.
constexpr ReplicaCount kPairSteps = 4;

/// Runs constant fleets, each once, and remembers which of them hold the SLO.
class FleetTrials {
 public:
  FleetTrials(const scenario::Scenario& scenario, std::span<const RunResult> results, ExtraRuns& extra)
      : scenario_(scenario), extra_(extra), miss_limit_(miss_limit(scenario, results.front())) {}

  bool has_budget() const { return extra_.has_budget(); }
  int runs() const { return runs_; }

  /// @param whole  true: run to the end even if the fleet misses the SLO, so that its attainment is known
  Result<void> run(std::vector<ReplicaCounts> fleets, bool whole) {
    std::erase_if(fleets, [&](const ReplicaCounts& fleet) { return known_.contains(fleet); });
    std::vector<scenario::Scenario> scenarios;
    std::vector<scenario::PolicySpec> policies;
    std::vector<Candidate> possible;
    for (ReplicaCounts& fleet : fleets) {
      const std::optional<StandingNodes> nodes = nodes_for(scenario_, fleet);
      if (!nodes || std::ranges::find(possible, fleet, &Candidate::fleet) != possible.end()) continue;
      scenarios.push_back(with_standing_fleet(scenario_, fleet, *nodes));
      policies.push_back(constant_policy(scenario_, fleet));
      const ReplicaCount all = std::accumulate(fleet.begin(), fleet.end(), ReplicaCount{0});
      possible.push_back({std::move(fleet), {nodes->micro_usd_per_hour, nodes->gpus, all}});
    }
    if (possible.empty()) return {};
    std::vector<PlannedRun> planned;
    for (std::size_t i = 0; i < possible.size(); ++i) {
      planned.push_back({&scenarios[i], &policies[i], whole ? std::nullopt : miss_limit_});
    }
    Result<std::vector<RunResult>> results = extra_.run(planned, "constant fleet");
    if (!results) return std::unexpected(results.error());
    runs_ += static_cast<int>(possible.size());
    for (std::size_t i = 0; i < possible.size(); ++i) note(possible[i], std::move((*results)[i]), whole);
    return {};
  }

  bool holds(const ReplicaCounts& fleet) const {
    const auto found = known_.find(fleet);
    return found != known_.end() && found->second;
  }
  /// Returns the cheapest fleet that holds the SLO. If none does, returns the fleet whose run met the most requests.
  std::optional<ConstantFleet> best() const {
    if (!best_) return std::nullopt;
    ConstantFleet fleet = *best_;
    fleet.runs = runs_;
    return fleet;
  }

 private:
  /// The price of a fleet per hour, by which fleets that hold the SLO are ordered. The cost of the run would favour
  /// larger fleets, because a smaller one takes a little longer to serve the last requests.
  struct Price {
    std::int64_t micro_usd_per_hour = 0;
    GpuCount gpus = 0;
    ReplicaCount replicas = 0;
    friend auto operator<=>(const Price&, const Price&) = default;
  };
  struct Candidate {
    ReplicaCounts fleet;
    Price price;
  };

  void note(const Candidate& candidate, RunResult result, bool whole) {
    const bool exceeds_limit = exceeds_miss_limit(result, miss_limit_);
    const bool holds = !exceeds_limit && experiment::holds_slo(result, scenario_.service().slo);
    known_[candidate.fleet] = holds;
    if (exceeds_limit && !whole) return;  // the figures are those of a part of the run
    if (best_) {
      const bool better = holds != best_->holds_slo ? holds
                          : holds                   ? candidate.price < best_price_
                                                    : result.requests.met > best_->result.requests.met;
      if (!better) return;
    }
    best_price_ = candidate.price;
    best_.emplace();
    best_->replicas = candidate.fleet;
    best_->words = fleet_words(scenario_, candidate.fleet);
    best_->holds_slo = holds;
    best_->result = std::move(result);
  }

  const scenario::Scenario& scenario_;
  ExtraRuns& extra_;
  std::optional<RequestCount> miss_limit_;  ///< missed requests at which runs are ended early
  std::map<ReplicaCounts, bool> known_;     // true: the fleet holds the SLO
  std::optional<ConstantFleet> best_;
  Price best_price_;
  int runs_ = 0;
};

/// Fleets that differ in one number of replicas.
struct FleetLine {
  std::function<ReplicaCounts(ReplicaCount)> fleet;
  ReplicaCount least = 1;
  ReplicaCount most = 1;       ///< largest number that fits within the limits
  ReplicaCount guess_low = 1;  ///< the answer probably lies between the two guesses, which are run first
  ReplicaCount guess_high = 1;
};

struct Smallest {
  std::optional<ReplicaCount> replicas;  ///< none: not even the largest number holds the SLO
  bool is_exact = true;                  ///< true: the fleet that is smaller by one misses the SLO or is not allowed
};

/// Finds the smallest fleet of a line that holds the SLO. Each step chooses up to two fleets, whatever the number of
/// threads, so that the outcome does not depend on that number.
class LineSearch {
 public:
  LineSearch(FleetTrials& trials, const FleetLine& line)
      : trials_(trials), line_(line), low_(line.least - 1), runs_before_(trials.runs()) {}

  Result<Smallest> find() {
    const ReplicaCount first = std::clamp(line_.guess_high, line_.least, line_.most);
    if (Result<void> done = probe(std::clamp(line_.guess_low, line_.least, first), first); !done) {
      return std::unexpected(done.error());
    }
    while (!high_ && low_ < line_.most && may_go_on()) {
      const ReplicaCount far = std::min(line_.most, 2 * low_ + 1);
      if (Result<void> done = probe(std::min(far, low_ + std::max<ReplicaCount>(1, low_ / 2)), far); !done) {
        return std::unexpected(done.error());
      }
    }
    while (high_ && *high_ - low_ > 1 && may_go_on()) {
      const ReplicaCount gap = *high_ - low_;
      const ReplicaCount third = std::max<ReplicaCount>(1, gap / 3);
      if (Result<void> done = probe(low_ + third, std::min(low_ + 2 * third, *high_ - 1)); !done) {
        return std::unexpected(done.error());
      }
    }
    // The largest number was not run yet. If it misses the SLO, the result states its attainment, so it is run to the
    // end.
    if (!high_ && low_ < line_.most) {
      if (Result<void> done = probe(line_.most, line_.most); !done) return std::unexpected(done.error());
    }
    return Smallest{high_, high_ && *high_ - low_ == 1};
  }

 private:
  bool may_go_on() const { return trials_.has_budget() && trials_.runs() - runs_before_ < kMaxFleetSearchRuns; }

  Result<void> probe(ReplicaCount a, ReplicaCount b) {
    std::vector<ReplicaCounts> fleets;
    for (const ReplicaCount count : {a, b}) {
      if (count == line_.most) {
        if (Result<void> done = trials_.run({line_.fleet(count)}, true); !done) return done;
      } else {
        fleets.push_back(line_.fleet(count));
      }
    }
    if (Result<void> done = trials_.run(std::move(fleets), false); !done) return done;
    for (const ReplicaCount count : {b, a}) {
      const bool holds = trials_.holds(line_.fleet(count));
      if (holds) high_ = std::min(count, high_.value_or(count));
    }
    for (const ReplicaCount count : {a, b}) {
      if (!trials_.holds(line_.fleet(count)) && (!high_ || count < *high_)) low_ = std::max(low_, count);
    }
    return {};
  }

  FleetTrials& trials_;
  const FleetLine& line_;
  /// Largest number that is known to miss the SLO; `FleetLine::least` - 1 if none is known.
  ReplicaCount low_;
  std::optional<ReplicaCount> high_;  ///< smallest number that is known to hold the SLO
  int runs_before_;
};

/// Mean and peak of the ready replicas of one service.
struct ReadyReplicas {
  ReplicaCount mean = 1;
  ReplicaCount peak = 1;
};

ReadyReplicas ready_of(const RunResult& result, std::size_t service) {
  ReadyReplicas ready;
  const auto minutes = static_cast<std::int64_t>(std::max<std::size_t>(1, result.minutes.size()));
  if (service < result.roles.size()) {
    ready = {result.roles[service].ready_minutes / minutes, result.roles[service].ready_peak};
  } else {
    ReplicaCount sum = 0;
    for (const Minute& minute : result.minutes) sum += minute.ready;
    ready = {sum / minutes, result.replicas_peak};
  }
  return {std::max<ReplicaCount>(1, ready.mean), std::max<ReplicaCount>(1, ready.peak)};
}

class ConstantFleetSearch {
 public:
  ConstantFleetSearch(const scenario::Scenario& scenario, std::span<const RunResult> results, ExtraRuns& extra)
      : scenario_(scenario), best_policy_(results.front()), trials_(scenario, results, extra) {}

  Result<std::optional<ConstantFleet>> run() {
    const Result<bool> exact = scenario_.endpoint().is_disaggregated() ? search_pairs() : search_by_variant();
    if (!exact) return std::unexpected(exact.error());
    std::optional<ConstantFleet> best = trials_.best();
    if (best) best->is_smallest = *exact;
    if (best && !best->holds_slo) best->limits = size_limits(scenario_, best->replicas);
    return best;
  }

 private:
  const model::Service& service(std::size_t index) const { return scenario_.catalog->services[index]; }

  /// Returns the largest number that fits within the limits, or `least_of(index)` - 1 if none fits.
  ReplicaCount most_that_fit(std::size_t index, const std::function<ReplicaCounts(ReplicaCount)>& fleet) const {
    ReplicaCount low = least_of(index) - 1, high = std::max(service(index).max_replicas, low) + 1;
    while (high - low > 1) {
      const ReplicaCount middle = low + (high - low) / 2;
      (nodes_for(scenario_, fleet(middle)) ? low : high) = middle;
    }
    return low;
  }
  ReplicaCount least_of(std::size_t index) const { return std::max<ReplicaCount>(1, service(index).min_replicas); }

  FleetLine line_of(std::size_t index, std::function<ReplicaCounts(ReplicaCount)> fleet) const {
    const ReadyReplicas ready = ready_of(best_policy_, index);
    FleetLine line;
    line.fleet = std::move(fleet);
    line.least = least_of(index);
    line.guess_low = std::max(ready.mean, ready.peak / 2);
    line.guess_high = ready.peak;
    line.most = most_that_fit(index, line.fleet);
    return line;
  }

  /// Searches the number of replicas of the service. If it has variants, searches the number of each variant while the
  /// other variants stay at their minimum.
  /// @return false if a smaller fleet may hold the SLO
  Result<bool> search_by_variant() {
    ReplicaCounts others;
    for (const model::Service& service : scenario_.catalog->services) others.push_back(service.min_replicas);
    bool exact = true;
    for (std::size_t i = 0; i < others.size(); ++i) {
      const FleetLine line = line_of(i, [i, others](ReplicaCount count) {
        ReplicaCounts fleet = others;
        fleet[i] = count;
        return fleet;
      });
      if (line.most < line.least) continue;
      const Result<Smallest> smallest = LineSearch(trials_, line).find();
      if (!smallest) return std::unexpected(smallest.error());
      exact = exact && (smallest->is_exact || !smallest->replicas);
    }
    return exact;
  }

  /// Returns the fewest replicas of one role that hold the SLO if the other role has more replicas than it needs; none
  /// if no number holds it.
  /// @param others  replicas of the other role
  Result<Smallest> fewest_of(std::size_t role, ReplicaCount others) {
    const FleetLine line = line_of(role, [role, others](ReplicaCount count) {
      return role == 0 ? ReplicaCounts{count, others} : ReplicaCounts{others, count};
    });
    if (line.most < line.least) return Smallest{};
    return LineSearch(trials_, line).find();
  }

  Result<bool> search_pairs() {
    // Twice the peak of a role under the best policy is assumed to be more than the role needs. If the nodes have no
    // room for both numbers, lower ones are used: otherwise one role would leave no GPUs for the other.
    std::array<ReplicaCount, 2> more_than_needed{};
    for (std::size_t role : {0, 1}) {
      more_than_needed[role] =
          std::clamp(2 * ready_of(best_policy_, role).peak, least_of(role), service(role).max_replicas);
    }
    while (!nodes_for(scenario_, {more_than_needed[0], more_than_needed[1]}) &&
           (more_than_needed[0] > least_of(0) || more_than_needed[1] > least_of(1))) {
      more_than_needed[0] = std::max(least_of(0), more_than_needed[0] * 3 / 4);
      more_than_needed[1] = std::max(least_of(1), more_than_needed[1] * 3 / 4);
    }
    const Result<Smallest> decode = fewest_of(1, more_than_needed[0]);
    if (!decode) return std::unexpected(decode.error());
    const Result<Smallest> prefill = fewest_of(0, more_than_needed[1]);
    if (!prefill) return std::unexpected(prefill.error());
    if (!decode->replicas || !prefill->replicas) return true;
    const Result<bool> found = try_pairs_above(*prefill->replicas, *decode->replicas);
    if (!found) return found;
    return *found && decode->is_exact && prefill->is_exact;
  }

  /// Tries pairs in the order of their cost until one holds the SLO.
  /// @return false if none of them holds it
  Result<bool> try_pairs_above(ReplicaCount prefill, ReplicaCount decode) {
    struct Pair {
      std::int64_t micro_usd = 0;
      GpuCount gpus = 0;
      ReplicaCounts fleet;
    };
    std::vector<Pair> pairs;
    for (ReplicaCount i = 0; i <= kPairSteps; ++i) {
      for (ReplicaCount j = 0; j <= kPairSteps; ++j) {
        const ReplicaCounts fleet{prefill + i, decode + j};
        if (fleet[0] > service(0).max_replicas || fleet[1] > service(1).max_replicas) continue;
        const std::optional<StandingNodes> nodes = nodes_for(scenario_, fleet);
        if (nodes) pairs.push_back({nodes->micro_usd_per_hour, nodes->gpus, fleet});
      }
    }
    std::ranges::stable_sort(pairs, {}, [](const Pair& pair) { return std::pair(pair.micro_usd, pair.gpus); });
    std::vector<ReplicaCounts> failed;
    for (std::size_t tried = 0; const Pair& pair : pairs) {
      const bool is_below_a_failed_fleet = std::ranges::any_of(failed, [&](const ReplicaCounts& larger) {
        return pair.fleet[0] <= larger[0] && pair.fleet[1] <= larger[1];
      });
      if (is_below_a_failed_fleet) continue;
      if (tried++ == kMaxFleetSearchRuns || !trials_.has_budget()) return false;
      if (Result<void> done = trials_.run({pair.fleet}, false); !done) return std::unexpected(done.error());
      if (trials_.holds(pair.fleet)) return true;
      failed.push_back(pair.fleet);
    }
    return false;
  }

  const scenario::Scenario& scenario_;
  const RunResult& best_policy_;  ///< the best policy, whose replicas give the first guesses
  FleetTrials trials_;
};

}  // namespace

Result<std::optional<ConstantFleet>> find_constant_fleet(const scenario::Scenario& scenario,
                                                         std::span<const RunResult> results, ExtraRuns& extra) {
  if (results.empty() || results.front().requests.arrived == 0) return std::nullopt;
  return ConstantFleetSearch(scenario, results, extra).run();
}

}  // namespace capstan::experiment
