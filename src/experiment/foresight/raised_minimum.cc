#include "experiment/foresight/raised_minimum.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "base/known_row.h"
#include "experiment/run/ranking.h"

namespace capstan::experiment {
namespace {

constexpr ReplicaCount kFirstValues = 4;  ///< values that are tried first; the others are just below the best of these

scenario::Scenario with_minimum(const scenario::Scenario& scenario, const ReplicaCounts& min) {
  scenario::Scenario raised = scenario;
  raised.policies.clear();
  auto catalog = std::make_shared<model::Catalog>(*scenario.catalog);
  for (std::size_t i = 0; i < min.size(); ++i) {
    catalog->services[i].min_replicas = min[i];
    catalog->services[i].max_replicas = std::max(catalog->services[i].max_replicas, min[i]);
  }
  raised.catalog = raised.cluster.catalog = std::move(catalog);
  ReplicaCounts initial = min;
  for (sim::InitialReplicas& stated : raised.cluster.initial) {
    stated.replicas = std::max(stated.replicas, known_row(min, stated.service.value));
    initial[stated.service.value] = stated.replicas;
  }
  if (std::optional<StandingNodes> nodes = nodes_for(scenario, initial, RemainingNodes::all)) {
    raised.cluster.existing = std::move(nodes->nodes);
  }
  return raised;
}

std::string setting_words(const scenario::Scenario& scenario, const ReplicaCounts& min) {
  if (min.size() == 1) return fmt::format("service.replicas.min: {}", min.front());
  std::string words;
  for (std::size_t i = 0; i < min.size(); ++i) {
    const model::Service& service = scenario.catalog->services[i];
    if (min[i] == service.min_replicas) continue;
    words += fmt::format("{}{} replicas.min: {}", words.empty() ? "" : " and ", part_name(*scenario.catalog, service),
                         min[i]);
  }
  return words;
}

ReplicaCount initial_of(const scenario::Scenario& scenario) {
  return scenario.cluster.initial.empty() ? 0 : scenario.cluster.initial.front().replicas;
}

/// Returns the arguments that state the existing nodes of the raised scenario as counts of the stated entries; nothing
/// if other entries would be needed.
std::optional<std::vector<std::string>> node_arguments(const std::vector<sim::ExistingNodes>& stated,
                                                       const std::vector<sim::ExistingNodes>& raised) {
  std::vector<std::string> arguments;
  std::int64_t matched = 0;
  for (const sim::ExistingNodes& nodes : stated) {
    const auto is_alike = [&](const sim::ExistingNodes& other) {
      return other.offering == nodes.offering && other.pool == nodes.pool;
    };
    const auto is_same_entry = [&](const sim::ExistingNodes& other) { return other.entry == nodes.entry; };
    if (std::ranges::count_if(stated, is_alike) > 1 || std::ranges::count_if(stated, is_same_entry) > 1) return {};
    std::int64_t count = 0;
    for (const sim::ExistingNodes& other : raised) {
      if (!is_alike(other)) continue;
      count += other.count;
      ++matched;
    }
    if (count != nodes.count) arguments.push_back(fmt::format("cluster.existing.{}.count={}", nodes.entry, count));
  }
  if (matched != std::ssize(raised)) return {};
  return arguments;
}

/// Returns the arguments of `--set` that turn the stated scenario of one service into the raised one; empty if they
/// cannot do so.
std::vector<std::string> set_arguments(const scenario::Scenario& stated, const ReplicaCounts& min) {
  if (min.size() != 1) return {};
  const scenario::Scenario raised = with_minimum(stated, min);
  std::vector<std::string> arguments{fmt::format("service.replicas.min={}", min.front())};
  const ReplicaCount max = raised.catalog->services.front().max_replicas;
  if (max != stated.catalog->services.front().max_replicas) {
    arguments.push_back(fmt::format("service.replicas.max={}", max));
  }
  if (initial_of(raised) != initial_of(stated)) {
    arguments.push_back(fmt::format("service.replicas.initial={}", initial_of(raised)));
  }
  const auto nodes = node_arguments(stated.cluster.existing, raised.cluster.existing);
  if (!nodes) return {};
  arguments.insert(arguments.end(), nodes->begin(), nodes->end());
  return arguments;
}

bool is_fixed(const scenario::PolicySpec& policy) {
  const bool has_peer = std::ranges::any_of(policy.peers, [](const auto& peer) { return peer.has_value(); });
  return !has_peer && std::ranges::all_of(policy.policies.scale, [](const decide::scale::Policy& scale) {
    return std::holds_alternative<decide::scale::Fixed>(scale);
  });
}

class MinimumTrials {
 public:
  /// @param by_chance  true: the policy holds the SLO as stated, but with some seeds only
  MinimumTrials(const scenario::Scenario& scenario, const scenario::PolicySpec& policy, const RunResult& stated,
                bool by_chance, const ReplicaCounts& goal, ExtraRuns& extra)
      : scenario_(scenario), policy_(policy), stated_(stated), goal_(goal), extra_(extra) {
    must_save_ = holds_slo(stated, scenario.service().slo) && !by_chance;
    for (std::size_t i = 0; i < goal.size(); ++i) steps_ = std::max(steps_, goal[i] - stated_min(i));
  }

  Result<std::optional<RaisedMinimum>> run() {
    if (steps_ <= 0 || !extra_.has_budget()) return std::nullopt;
    std::vector<ReplicaCount> first;
    for (ReplicaCount i = 1; i <= kFirstValues; ++i) first.push_back((steps_ * i + kFirstValues - 1) / kFirstValues);
    if (Result<void> done = try_all(first); !done) return std::unexpected(done.error());
    if (best_ && extra_.has_budget()) {
      const ReplicaCount below = best_step_ == first.front() ? 0 : *std::prev(std::ranges::find(first, best_step_));
      const ReplicaCount gap = best_step_ - below;
      const Result<void> done = try_all({below + (gap + 2) / 3, below + (2 * gap + 2) / 3});
      if (!done) return std::unexpected(done.error());
    }
    RaisedMinimum raised;
    raised.policy = stated_.policy;
    raised.min = min_at(best_ ? best_step_ : steps_);
    raised.runs = runs_;
    raised.setting = setting_words(scenario_, raised.min);
    raised.result = std::move(best_);
    return raised;
  }

 private:
  ReplicaCount stated_min(std::size_t service) const { return scenario_.catalog->services[service].min_replicas; }

  /// Returns the minimum of one step. Step 0 is the stated minimum, the last step is the goal, and the steps between
  /// them are evenly spaced.
  ReplicaCounts min_at(ReplicaCount step) const {
    ReplicaCounts min;
    for (std::size_t i = 0; i < goal_.size(); ++i) {
      const ReplicaCount more = std::max<ReplicaCount>(0, goal_[i] - stated_min(i));
      min.push_back(stated_min(i) + (more * step + steps_ - 1) / steps_);
    }
    return min;
  }

  Result<void> try_all(const std::vector<ReplicaCount>& steps) {
    std::vector<ReplicaCount> fresh;
    for (const ReplicaCount step : steps) {
      if (tried_.insert(step).second) fresh.push_back(step);
    }
    std::vector<scenario::Scenario> scenarios;
    for (const ReplicaCount step : fresh) scenarios.push_back(with_minimum(scenario_, min_at(step)));
    const std::optional<RequestCount> limit = miss_limit(scenario_, stated_);
    std::vector<PlannedRun> planned;
    for (const scenario::Scenario& scenario : scenarios) planned.push_back({&scenario, &policy_, limit});
    if (planned.empty()) return {};
    Result<std::vector<RunResult>> results = extra_.run(planned, "higher minimum");
    if (!results) return std::unexpected(results.error());
    runs_ += static_cast<int>(fresh.size());
    for (std::size_t i = 0; i < fresh.size(); ++i) note(fresh[i], std::move((*results)[i]), limit);
    return {};
  }

  void note(ReplicaCount step, RunResult result, std::optional<RequestCount> limit) {
    const model::Slo& slo = scenario_.service().slo;
    if (exceeds_miss_limit(result, limit) || !holds_slo(result, slo)) return;
    if (must_save_ && !saves_enough(result)) return;
    if (best_ && !is_cheaper(result, *best_)) return;
    best_ = std::move(result);
    best_step_ = step;
  }

  bool saves_enough(const RunResult& result) const {
    const auto below = [](__int128 cost, __int128 stated) {
      return cost * 100 <= stated * (100 - kMinimumSavingPercent);
    };
    if (stated_.total_micro_usd() > 0) return below(result.total_micro_usd(), stated_.total_micro_usd());
    return below(result.paid_gpu_ns(), stated_.paid_gpu_ns());
  }

  const scenario::Scenario& scenario_;
  const scenario::PolicySpec& policy_;
  const RunResult& stated_;
  const ReplicaCounts& goal_;
  ExtraRuns& extra_;
  bool must_save_ = false;
  ReplicaCount steps_ = 0;
  std::set<ReplicaCount> tried_;
  std::optional<RunResult> best_;
  ReplicaCount best_step_ = 0;
  int runs_ = 0;
};

/// Simulates the policy with the raised minimum and other seeds, and does the same for the highest value that was tried
/// if the raised minimum misses the SLO with one of them.
Result<void> check_raised(const scenario::Scenario& scenario, const ReplicaCounts& goal, RaisedMinimum& raised,
                          ExtraRuns& extra) {
  const scenario::PolicySpec* policy = find_policy(scenario, raised.policy);
  if (policy == nullptr || !raised.result || !extra.has_budget()) return {};
  Result<SeedCheck> check = check_policy(with_minimum(scenario, raised.min), *policy, *raised.result, extra);
  if (!check) return std::unexpected(std::move(check.error()));
  raised.runs += static_cast<int>(kCheckedSeeds) - 1;
  raised.seeds = std::move(*check);
  if (raised.is_steady() || raised.min == goal || !extra.has_budget()) return {};

  const scenario::Scenario larger = with_minimum(scenario, goal);
  const PlannedRun planned{.scenario = &larger, .policy = policy};
  Result<std::vector<RunResult>> result = extra.run(std::span(&planned, 1), "higher minimum");
  if (!result) return std::unexpected(std::move(result.error()));
  check = check_policy(larger, *policy, result->front(), extra);
  if (!check) return std::unexpected(std::move(check.error()));
  raised.runs += static_cast<int>(kCheckedSeeds);
  if (!check->holds_with_all()) return {};
  raised.min = goal;
  raised.setting = setting_words(scenario, goal);
  raised.result = std::move(result->front());
  raised.seeds = std::move(*check);
  return {};
}

/// Returns the first policy, then the policies that cost less, the cheapest first.
std::vector<const RunResult*> policies_to_try(std::span<const RunResult> results) {
  std::vector<const RunResult*> tried = {&results.front()};
  for (const RunResult& result : results.subspan(1)) {
    if (is_cheaper(result, results.front())) tried.push_back(&result);
  }
  std::ranges::stable_sort(tried.begin() + 1, tried.end(),
                           [](const RunResult* a, const RunResult* b) { return is_cheaper(*a, *b); });
  if (tried.size() > kMaxRaisedPolicies) tried.resize(kMaxRaisedPolicies);
  return tried;
}

}  // namespace

Result<std::optional<RaisedMinimum>> try_higher_minimum(const scenario::Scenario& scenario,
                                                        std::span<const RunResult> results,
                                                        std::span<const SeedCheck> checks,
                                                        const std::optional<ConstantFleet>& constant,
                                                        ExtraRuns& extra) {
  if (results.empty() || !constant || !constant->holds_slo) return std::nullopt;
  const ReplicaCounts& goal = constant->steady ? constant->steady->replicas : constant->replicas;
  const bool is_first_steady = holds_slo(results.front(), scenario.service().slo) &&
                               (checks.empty() || std::ranges::any_of(checks, &SeedCheck::holds_with_all));
  std::optional<RaisedMinimum> best;
  for (const RunResult* result : policies_to_try(results)) {
    const scenario::PolicySpec* policy = find_policy(scenario, result->policy);
    if (policy == nullptr || is_fixed(*policy)) continue;
    const auto check = std::ranges::find(checks, result->policy, &SeedCheck::policy);
    const bool by_chance = check != checks.end() && !check->holds_with_all();
    Result<std::optional<RaisedMinimum>> raised =
        MinimumTrials(scenario, *policy, *result, by_chance, goal, extra).run();
    if (!raised) return std::unexpected(raised.error());
    if (!*raised) continue;
    // The first policy may hold the SLO as it is, for less than another one with a higher minimum.
    const bool is_useful = (*raised)->result && (result == &results.front() || !is_first_steady ||
                                                 is_cheaper(*(*raised)->result, results.front()));
    const bool is_better = is_useful && (!best || !best->result || is_cheaper(*(*raised)->result, *best->result));
    if (is_better || (!best && result == &results.front())) best = std::move(*raised);
  }
  if (best) {
    if (Result<void> done = check_raised(scenario, goal, *best, extra); !done) {
      return std::unexpected(std::move(done.error()));
    }
    if (best->result) best->sets = set_arguments(scenario, best->min);
  }
  return best;
}

}  // namespace capstan::experiment
