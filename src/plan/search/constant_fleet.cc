#include "plan/search/constant_fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "plan/search/budget.h"
#include "plan/search/fleet_candidates.h"
#include "plan/search/fleet_simulator.h"
#include "plan/search/widened_search.h"

namespace capstan::plan {

namespace {

constexpr int kMaxSizes = 10;  ///< sizes that are tried under the hardest seed
constexpr int kMaxRaises = 3;  ///< larger sizes that are tried if another seed misses the SLO

/// Searches the size of a constant fleet of one candidate by bisection.
class SizeSearch {
 public:
  SizeSearch(FleetSimulator& simulator, std::uint64_t hardest_seed, RequestCount most_requests)
      : simulator_(simulator), most_requests_(most_requests), highest_(highest_step(simulator.candidates().front())) {
    seeds_ = {hardest_seed};
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      if (seed != hardest_seed) seeds_.push_back(seed);
    }
  }

  /// Returns the key of the smallest fleet that holds the SLO under every seed, or of the largest one that was tried.
  Result<FleetKey> run() {
    ReplicaCount missed = 0, held = 0;  // held 0: no size is known to hold the SLO
    // The candidate is widened, so that half of its peak step is the need by the engine table.
    ReplicaCount step = std::min(ceil_div(peak_step(simulator_.candidates().front()), 2), highest_);
    for (int tries = 0; tries < kMaxSizes && (tries == 0 || has_budget()); ++tries) {
      const auto is_held = holds(step, 1);
      if (!is_held) return std::unexpected(is_held.error());
      (*is_held ? held : missed) = step;
      if (missed == highest_ || (held > 0 && held - missed <= 1)) break;
      step =
          held > 0 ? missed + (held - missed) / 2 : std::min(missed + std::max<ReplicaCount>(1, missed / 4), highest_);
    }
    if (held == 0) return key_of(missed);
    for (int raises = 0;; ++raises) {
      const auto is_held = holds(held, seeds_.size());
      if (!is_held) return std::unexpected(is_held.error());
      if (*is_held || held == highest_ || raises == kMaxRaises) return key_of(held);
      held = std::min(held + std::max<ReplicaCount>(1, held / 16), highest_);
    }
  }

 private:
  bool has_budget() const { return simulator_.requests() < most_requests_; }

  static FleetKey key_of(ReplicaCount step) { return {.step = step, .scaler = ScalerKind::constant}; }

  /// Simulates a size under the first seeds, the hardest one first, unless that was done.
  Result<bool> holds(ReplicaCount step, std::size_t seeds) {
    const FleetKey key = key_of(step);
    std::vector<FleetOrder> orders;
    const auto known = simulator_.tried().find(key);
    for (std::size_t i = known == simulator_.tried().end() ? 0 : known->second.seeds.size(); i < seeds; ++i) {
      orders.push_back(simulator_.order(key, seeds_[i]));
    }
    const std::string stage = fmt::format("without limits, {} replicas", step);
    if (Result<void> done = simulator_.run(orders, stage); !done) return std::unexpected(done.error());
    return simulator_.result(key).holds_slo;
  }

  FleetSimulator& simulator_;
  RequestCount most_requests_;
  ReplicaCount highest_;
  std::vector<std::uint64_t> seeds_;  ///< the hardest first
};

/// Returns the plan with the roles and the results of a constant fleet.
ServicePlan with_constant(ServicePlan plan, const TriedFleet& tried) {
  const std::vector<RoleReplicas> replicas = tried.replicas();
  for (std::size_t i = 0; i < plan.roles.size(); ++i) {
    plan.roles[i].minimum = replicas[i].minimum;
    plan.roles[i].maximum = replicas[i].maximum;
  }
  plan.scaler = ScalerKind::constant;
  plan.seeds = tried.seeds;
  plan.holds_slo = tried.holds_slo && tried.seeds.size() >= kSeeds;
  plan.variants = {
      {.kind = ScalerKind::constant, .roles = replicas, .seeds = tried.seeds, .holds_slo = plan.holds_slo}};
  return plan;
}

}  // namespace

Result<ServicePlan> find_constant_fleet_of(const PlanSpec& spec, const ServiceSpec& service, const ServicePlan& plan,
                                           const SearchOptions& options, RequestCount most_requests,
                                           std::int64_t& simulations) {
  const Result<LoadFacts> load = count_load(service);
  if (!load) return std::unexpected(load.error());
  auto candidates = fleet_candidates(spec, service, *load, whole_limits(spec, service));
  if (!candidates) return std::unexpected(candidates.error());
  const RoleFleet& role = plan.roles.front();
  std::erase_if(*candidates, [&](const FleetCandidate& candidate) {
    return candidate.engine.gpu != role.engine.gpu || candidate.engine.tp != role.engine.tp ||
           candidate.engine.stages != role.engine.stages || candidate.machine.name != role.machine.name;
  });
  if (candidates->empty()) return plan;
  candidates->resize(1);
  const std::uint64_t hardest = std::ranges::min_element(plan.seeds, {}, &Trial::attainment_ppm)->seed;
  widen(candidates->front());  // the engine table may understate the need, and no second search follows
  FleetSimulator simulator(spec, service, *load, std::move(*candidates), options);
  const Result<FleetKey> found = SizeSearch(simulator, hardest, most_requests).run();
  simulations += simulator.simulations();
  if (!found) return std::unexpected(found.error());
  return with_constant(plan, simulator.result(*found));
}

}  // namespace capstan::plan
