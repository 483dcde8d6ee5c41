#include "plan/search/together.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/unit_text.h"
#include "experiment/text/words.h"
#include "plan/result/figures.h"
#include "plan/search/budget.h"
#include "plan/search/scaler_choice.h"
#include "plan/search/together_text.h"

namespace capstan::plan {

namespace {

constexpr int kMaxRemedies = 3;  ///< higher minima that are tried

class TogetherSearch {
 public:
  TogetherSearch(const PlanSpec& spec, const std::vector<ServicePlan>& plans, std::span<const ChosenFleet> chosen,
                 const SearchOptions& options)
      : spec_(spec), plans_(plans), chosen_(chosen.begin(), chosen.end()), options_(options) {}

  Result<TogetherResult> run() {
    TogetherResult out;
    out.proof.scenario = text();
    auto results = simulate(out.proof.scenario, seeds(), "all services on one cluster");
    if (!results) return std::unexpected(results.error());
    out.proof.trials = together_trials(spec_, *results);
    out.results = std::move(*results);
    const TogetherTrials* last = &out.proof.trials;
    left_ = kMaxTogetherRequests;
    for (int tries = 0; tries < kMaxRemedies && !last->holds_slo() && has_budget() && raise_missed(*last); ++tries) {
      auto tried = remedy_trials(worst_seed(out.proof.trials));
      if (!tried) return std::unexpected(tried.error());
      out.proof.remedy = TogetherRemedy{.minima = minima(), .trials = std::move(*tried)};
      last = &out.proof.remedy->trials;
    }
    out.simulations = simulations_;
    return out;
  }

 private:
  FleetOption fleet_of_service(std::size_t i) const {
    return scaled_fleet(*chosen_[i].simulator, chosen_[i].key, plans_[i]);
  }

  std::string text() const {
    std::vector<ServicePlan> plans = plans_;
    std::vector<ServiceFleet> fleets;
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      fleets.push_back({&chosen_[i].simulator->service(), &chosen_[i].simulator->load(), fleet_of_service(i)});
      for (std::size_t role = 0; role < plans[i].roles.size(); ++role) {
        plans[i].roles[role].minimum = fleets.back().fleet.minimum[role];
      }
    }
    return together_text(spec_, plans, fleets);
  }

  /// Returns the requests of all services in one simulation.
  RequestCount requests() const {
    RequestCount requests = 0;
    for (const ChosenFleet& fleet : chosen_) requests += fleet.simulator->load().requests;
    return requests;
  }

  std::vector<std::uint64_t> seeds() const {
    std::vector<std::uint64_t> seeds(together_seeds(requests()));
    std::iota(seeds.begin(), seeds.end(), std::uint64_t{1});
    return seeds;
  }

  /// Returns true if the budget of the higher minima allows one of them to be simulated under all seeds.
  bool has_budget() const { return left_ >= requests() * static_cast<RequestCount>(seeds().size()); }

  /// Simulates higher minima, first under the seed `first`. If a service misses its SLO under it, no other seed is
  /// simulated.
  Result<TogetherTrials> remedy_trials(std::uint64_t first) {
    constexpr std::string_view kStage = "all services on one cluster, with higher minima";
    const std::string words = text();
    auto results = simulate(words, {first}, std::string(kStage));
    if (!results) return std::unexpected(results.error());
    std::vector<std::uint64_t> others = seeds();
    std::erase(others, first);
    if (!others.empty() && together_trials(spec_, *results).holds_slo()) {
      auto more = simulate(words, others, fmt::format("{}, other seeds", kStage));
      if (!more) return std::unexpected(more.error());
      // The results are in the order of the seeds.
      results->insert(results->end(), std::make_move_iterator(more->begin()), std::make_move_iterator(more->end()));
      std::rotate(results->begin(), results->begin() + 1, results->begin() + static_cast<std::ptrdiff_t>(first));
    }
    return together_trials(spec_, *results);
  }

  /// Returns the seed under which a service that misses its SLO met the fewest requests.
  std::uint64_t worst_seed(const TogetherTrials& trials) const {
    std::uint64_t worst = 1;
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
    for (const TogetherService& service : trials.services) {
      if (service.holds_slo) continue;
      const auto least = std::ranges::min_element(service.attainment_ppm);
      if (least == service.attainment_ppm.end() || *least >= lowest) continue;
      lowest = *least;
      worst = 1 + static_cast<std::uint64_t>(least - service.attainment_ppm.begin());
    }
    return worst;
  }

  Result<std::vector<experiment::RunResult>> simulate(const std::string& words, const std::vector<std::uint64_t>& seeds,
                                                      const std::string& stage) {
    std::vector<scenario::Scenario> scenarios;
    for (const std::uint64_t seed : seeds) {
      auto scenario =
          scenario::parse_scenario(words, "together.yaml", {.sets = {}, .trace = {}, .seed = seed, .policies = {}});
      if (!scenario) {
        const Error& first = scenario.error().list.front();
        Error error = Error::about("services", "all of them on one cluster cannot be simulated: " + first.message);
        error.kind = first.kind;
        return std::unexpected(std::move(error));
      }
      for (std::size_t i = 0; i < spec_.services.size(); ++i) {
        const std::string& measured = spec_.services[i].load.profile_text;
        if (!measured.empty()) scenario->endpoints[i].load.from = workload::ProfileSpec{measured};
      }
      scenarios.push_back(std::move(*scenario));
    }
    std::vector<experiment::PlannedRun> planned;
    for (const scenario::Scenario& scenario : scenarios) planned.push_back({&scenario, &scenario.policies.front()});
    if (options_.progress) {
      options_.progress(fmt::format(
          "{}, {}", stage, count_text(static_cast<std::int64_t>(planned.size()), "simulation", "simulations")));
    }
    simulations_ += static_cast<std::int64_t>(planned.size());
    left_ -= std::min(left_, requests() * static_cast<RequestCount>(planned.size()));
    return experiment::run_batch(planned, options_.jobs, stage, {});
  }

  /// For each service that misses its SLO, raises the minimum by a quarter, but at least by one. Returns false if no
  /// minimum can be raised.
  bool raise_missed(const TogetherTrials& trials) {
    bool is_raised = false;
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      FleetKey& key = chosen_[i].key;
      const ReplicaCount highest = highest_step(chosen_[i].simulator->candidates()[key.candidate]);
      if (trials.services[i].holds_slo || key.step >= highest) continue;
      key.step = std::min(key.step + std::max<ReplicaCount>(1, key.step / 4), highest);
      is_raised = true;
    }
    return is_raised;
  }

  std::vector<std::vector<RoleReplicas>> minima() const {
    std::vector<std::vector<RoleReplicas>> out(chosen_.size());
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      const FleetOption fleet = fleet_of_service(i);
      bool is_raised = false;
      for (std::size_t role = 0; role < fleet.minimum.size(); ++role) {
        out[i].push_back({.minimum = fleet.minimum[role], .maximum = fleet.maximum[role]});
        is_raised = is_raised || fleet.minimum[role] != plans_[i].roles[role].minimum;
      }
      if (!is_raised) out[i].clear();
    }
    return out;
  }

  const PlanSpec& spec_;
  const std::vector<ServicePlan>& plans_;
  std::vector<ChosenFleet> chosen_;
  const SearchOptions& options_;
  std::int64_t simulations_ = 0;
  RequestCount left_ = kMaxTogetherRequests;  ///< requests that the next simulations may have
};

}  // namespace

namespace {

/// Adds what one simulation showed of a class of jobs.
void add_jobs(const experiment::JobFigures& figures, TogetherJobs& sum) {
  sum.tenant = figures.team;
  sum.name = figures.name;
  sum.arrived += figures.arrived;
  sum.ended += figures.ended;
  sum.computing += figures.computing;
  sum.waiting += figures.waiting;
  sum.wait_p50 = std::max(sum.wait_p50, figures.wait_p50);
  sum.wait_p99 = std::max(sum.wait_p99, figures.wait_p99);
  sum.restarts += figures.restarts;
  sum.preempted += figures.preempted;
  sum.resized += figures.resized;
  sum.gpu_ns += figures.gpu_ns;
  sum.lost_gpu_ns += figures.lost_gpu_ns;
  sum.micro_usd += figures.micro_usd;
}

}  // namespace

TogetherTrials together_trials(const PlanSpec& spec, std::span<const experiment::RunResult> results) {
  TogetherTrials out{.seeds = static_cast<std::int64_t>(results.size())};
  for (const ServiceSpec& service : spec.services) out.services.push_back({.service = service.name});
  std::int64_t micro_usd_per_hour = 0, jobs_micro_usd_per_hour = 0;
  for (const experiment::RunResult& result : results) {
    Trial whole{.micro_usd = result.total_micro_usd(), .simulated = result.simulated};
    micro_usd_per_hour += plan::micro_usd_per_hour(whole);
    out.jobs.resize(result.jobs.size());
    for (std::size_t i = 0; i < result.jobs.size(); ++i) {
      add_jobs(result.jobs[i], out.jobs[i]);
      Trial part{.micro_usd = result.jobs[i].micro_usd, .simulated = result.simulated};
      jobs_micro_usd_per_hour += plan::micro_usd_per_hour(part);
    }
    for (std::size_t i = 0; i < out.services.size(); ++i) {
      const ServiceSpec& service = spec.services[i];
      TogetherService& found = out.services[i];
      if (i >= result.services.size()) {  // the run does not report the service, so nothing shows that its SLO holds
        found.holds_slo = false;
        continue;
      }
      const experiment::ServiceFigures& figures = result.services[i];
      const std::int64_t met = figures.attainment_ppm();
      found.attainment_ppm.push_back(met);
      found.ttft_p99 = std::max<Duration>(found.ttft_p99, std::chrono::microseconds(figures.ttft.p99_us));
      found.tpot_p99 = std::max<Duration>(found.tpot_p99, std::chrono::microseconds(figures.tpot.p99_us));
      const double goodput = static_cast<double>(goodput_milli(figures.minutes, result.simulated)) / 1000;
      found.holds_slo &= met >= service.slo.attainment_ppm;
      found.holds_slo &= !service.goodput_per_s || goodput >= *service.goodput_per_s;
    }
  }
  if (!results.empty()) {
    out.micro_usd_per_hour = micro_usd_per_hour / static_cast<std::int64_t>(results.size());
    out.jobs_micro_usd_per_hour = jobs_micro_usd_per_hour / static_cast<std::int64_t>(results.size());
  }
  return out;
}

Result<TogetherResult> prove_together(const PlanSpec& spec, const std::vector<ServicePlan>& plans,
                                      std::span<const ChosenFleet> chosen, const SearchOptions& options) {
  return TogetherSearch(spec, plans, chosen, options).run();
}

}  // namespace capstan::plan
