#include "experiment/foresight/clairvoyant.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bound/lower_bound.h"
#include "experiment/foresight/known_requests.h"
#include "experiment/foresight/start_terms.h"
#include "experiment/run/foreseen_plan.h"
#include "experiment/run/prepare.h"

namespace capstan::experiment {
namespace {

constexpr std::int64_t kPercent = 10'000;  // one percent, ppm
constexpr std::int64_t kMaxRaised = 320 * kPercent;

/// Returns the GPUs of the service's kind on nodes that exist at the start.
/// @param permanent  true: counts only nodes that are never released
GpuCount existing_gpus(const scenario::Scenario& scenario, bool permanent) {
  GpuCount gpus = 0;
  for (const sim::ExistingNodes& nodes : scenario.cluster.existing) {
    const model::Offering& offering = scenario.catalog->offering(nodes.offering);
    if (offering.gpu == scenario.workload().gpu && (!permanent || !nodes.pool.valid()))
      gpus += nodes.count * offering.gpus;
  }
  return gpus;
}

bound::FleetTerms fleet_terms(const scenario::Scenario& scenario, Duration span) {
  const auto per_replica = static_cast<double>(scenario.workload().gpus_per_replica);
  bound::FleetTerms terms;
  terms.start_s = in_seconds(shortest_start(scenario) + shortest_boot(scenario));
  // At any time, a policy pays at least for the nodes that are never released and for the service's minimum of
  // replicas.
  terms.standing = std::max(static_cast<double>(existing_gpus(scenario, true)) / per_replica,
                            static_cast<double>(scenario.service().min_replicas));
  terms.initial = std::max(static_cast<double>(existing_gpus(scenario, false)) / per_replica, terms.standing);
  terms.span = span;
  return terms;
}

/// Returns the lowest price of a GPU of the service's kind, on existing nodes or in the offerings, in millionths of a
/// USD per second.
double micro_usd_per_gpu_second(const scenario::Scenario& scenario) {
  double cheapest = HUGE_VAL;
  for (const model::Offering& offering : scenario.catalog->offerings) {
    if (offering.gpu != scenario.workload().gpu || offering.gpus == 0) continue;
    const double an_hour = static_cast<double>(offering.price_per_hour.count) / static_cast<double>(offering.gpus);
    cheapest = std::min(cheapest, an_hour / 3600);
  }
  return std::isinf(cheapest) ? 0 : cheapest;
}

/// Returns the latest end of the run.
Instant end_of(const scenario::Scenario& scenario, Instant last_arrival) {
  return scenario.duration ? Instant{*scenario.duration} : last_arrival + scenario.settle_time;
}

bool holds(const RunResult& result, RequestCount unattainable, const model::Slo& slo) {
  const RequestCount asked = result.requests.arrived - unattainable;
  return asked <= 0 ||
         static_cast<__int128>(result.requests.met) * 1'000'000 >= static_cast<__int128>(asked) * slo.attainment_ppm;
}

/// Searches for the smallest share by which a plan must be raised to hold the SLO. Each try runs the raised plan. The
/// found share exceeds the smallest one by at most one percentage point, or by 1/16 of itself if that is more.
class Search {
 public:
  Search(const scenario::Scenario& scenario, const scenario::PolicySpec& layers, const bound::LowerBound& bound,
         const ProgressCallback& progress, const std::stop_token& stop)
      : scenario_(scenario),
        spec_(layers),
        bound_(bound),
        progress_(progress),
        stop_(stop),
        lead_(lead_time(scenario, layers)) {
    spec_.peers.clear();
    spec_.swept_from.clear();
    spec_.policies.name = "achievable with foresight";
    spec_.policies.scale = {decide::scale::Fixed{.replicas = 0, .period = std::chrono::seconds(1)}};
  }

  Result<Clairvoyant::AchievableResult> run() {
    if (Result<bool> done = learn_lead(); !done) return std::unexpected(done.error());
    std::int64_t low = 0;  // the largest share that is known to miss the SLO; no smaller share is tried
    std::int64_t high = 10 * kPercent;
    if (best_.holds) return std::move(best_);
    for (;; low = std::exchange(high, 2 * high)) {
      const Result<bool> holds = attempt(high);
      if (!holds) return std::unexpected(holds.error());
      if (*holds || high >= kMaxRaised) break;
    }
    while (best_.holds && high - low > std::max(kPercent, high / 16)) {
      const std::int64_t middle = (low + high) / 2 / kPercent * kPercent;
      const Result<bool> holds = attempt(middle);
      if (!holds) return std::unexpected(holds.error());
      (*holds ? high : low) = middle;
    }
    return std::move(best_);
  }

 private:
  /// Runs the plan as it is. If it misses the SLO and a start took longer than the lead time allows, because starts
  /// share network links, extends the lead time to the duration of that start, and runs the plan again.
  Result<bool> learn_lead() {
    const Result<bool> holds = attempt(0);
    const Duration excess = best_.result.cold_start_max - (lead_ - shortest_boot(scenario_));
    if (!holds || *holds || excess <= Duration{}) return holds;
    lead_ += excess;
    return attempt(0);
  }

  Result<bool> attempt(std::int64_t raised_ppm) {
    PreparedRun prepared = prepare(scenario_, spec_, scenario_.seed);
    const model::Service& service = scenario_.service();
    prepared.setup.script =
        foreseen_plan(bound_.level, bound_.bin, raised_ppm, lead_, service.min_replicas, service.max_replicas);
    prepared.setup.stop = stop_;
    const std::string stage = "foresight, run " + std::to_string(best_.runs + 1);
    const ProgressCallback staged = [&](Progress progress) {
      progress.stage = stage;
      progress_(progress);
    };
    Result<RunResult> result = simulate(prepared.setup, progress_ ? staged : ProgressCallback());
    if (!result) return std::unexpected(result.error());
    const bool held = holds(*result, bound_.unattainable_requests, service.slo);
    ++best_.runs;
    if (held || !best_.holds) {
      best_.raised_ppm = raised_ppm;
      best_.holds = held;
      best_.result = std::move(*result);
    }
    return held;
  }

  const scenario::Scenario& scenario_;
  scenario::PolicySpec spec_;
  const bound::LowerBound& bound_;
  const ProgressCallback& progress_;
  const std::stop_token& stop_;
  Duration lead_;
  Clairvoyant::AchievableResult best_;
};

}  // namespace

bool Clairvoyant::has_wide_gap() const { return achievable.result.paid_gpu_ns() * 10 > bound.gpu_ns * 11; }

std::int64_t over_achievable_milli(const RunResult& result, const Clairvoyant& clairvoyant) {
  const GpuNanoseconds least = clairvoyant.achievable.result.paid_gpu_ns();
  return least <= 0 ? 0 : static_cast<std::int64_t>(result.paid_gpu_ns() * 1000 / least);
}

Result<Clairvoyant> foresee(const scenario::Scenario& scenario, const scenario::PolicySpec& layers,
                            const ProgressCallback& progress, const std::stop_token& stop) {
  Progress computing;
  computing.stage = "computing the lower bound";
  if (progress) progress(computing);
  Result<std::vector<bound::KnownRequest>> requests = known_requests(scenario, scenario.seed);
  if (!requests) return std::unexpected(requests.error());
  const Instant last_arrival = requests->empty() ? Instant{} : requests->back().arrival;
  const Instant end = end_of(scenario, last_arrival);
  const PreparedRun prepared = prepare(scenario, layers, scenario.seed);
  const bound::ServiceTerms service{.model = prepared.engines.front().model.get(),
                                    .slo = scenario.service().slo,
                                    .front_end = scenario.role().front_end,
                                    .max_batched_tokens = scenario.role().replica.max_batched_tokens,
                                    .max_seqs = scenario.role().replica.max_seqs,
                                    .kv_blocks = scenario.role().replica.kv_blocks,
                                    .shares_kv = shares_prefixes(scenario, *requests)};
  const Duration span = std::min(end, last_arrival).since_start;
  const bound::LowerBound found = bound::lower_bound(std::move(*requests), service, fleet_terms(scenario, span), end);

  Clairvoyant clairvoyant;
  const double gpus = static_cast<double>(scenario.workload().gpus_per_replica);
  const auto gpu_ns = [&](double replica_s) { return static_cast<GpuNanoseconds>(std::floor(replica_s * gpus * 1e9)); };
  clairvoyant.bound = {
      .gpu_ns = gpu_ns(found.least_replica_s),
      .micro_usd = static_cast<std::int64_t>(found.least_replica_s * gpus * micro_usd_per_gpu_second(scenario)),
      .work_gpu_ns = gpu_ns(found.work_replica_s),
      .unattainable_requests = found.unattainable_requests,
      .solved = found.solved,
      .bin = found.bin};
  Result<Clairvoyant::AchievableResult> achievable = Search(scenario, layers, found, progress, stop).run();
  if (!achievable) return std::unexpected(achievable.error());
  clairvoyant.achievable = std::move(*achievable);
  return clairvoyant;
}

}  // namespace capstan::experiment
