#include "experiment/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/unit_text.h"
#include "experiment/foresight/steady_fleet.h"
#include "experiment/run/batch.h"
#include "experiment/run/ranking.h"
#include "experiment/text/words.h"
#include "model/role_names.h"
#include "model/topology_names.h"

namespace capstan::experiment {

namespace {

std::string load_words(const workload::WorkloadSpec& load) {
  std::string words;
  if (const auto* trace = std::get_if<workload::TraceSpec>(&load.from)) {
    words = "trace " + trace->path.substr(trace->path.find_last_of('/') + 1);
  } else if (const auto* profile = std::get_if<workload::ProfileSpec>(&load.from)) {
    words = "profile " + profile->name.substr(profile->name.find_last_of('/') + 1);
  } else if (const auto* loop = std::get_if<workload::ClosedLoopSpec>(&load.from)) {
    words = fmt::format("{} clients in a closed loop", loop->concurrency);
  } else {
    words = "generated";
  }
  if (load.scale != 1) words += fmt::format(", {} times", load.scale);
  return words;
}

std::string replica_words(const model::Catalog& catalog, const model::Workload& workload,
                          const scenario::RoleSpec& role) {
  std::string words =
      fmt::format("TP{}{} on {}", role.engine->tensor_parallel(),
                  role.engine->stages > 1 ? fmt::format(" x PP{}", role.engine->stages) : "", role.engine->gpu_name);
  if (workload.pods > 1) {
    words += fmt::format(", gangs of {} pods in one {}", workload.pods, catalog.level_words(workload.required_level));
  }
  return words;
}

/// Returns the loads of all services in words.
std::string all_load_words(const scenario::Scenario& scenario) {
  if (scenario.is_alone()) return load_words(scenario.endpoint().load);
  if (scenario.has_only_jobs()) return count_text(std::ssize(scenario.jobs), "class", "classes") + " of jobs";
  std::string words = scenario.endpoints.size() == 1
                          ? load_words(scenario.endpoint().load)
                          : "loads of " + count_text(std::ssize(scenario.endpoints), "service", "services");
  if (!scenario.jobs.empty()) words += " and " + count_text(std::ssize(scenario.jobs), "class", "classes") + " of jobs";
  return words;
}

/// Returns the names of the services and classes of jobs that share a cluster. Of many, it names four and counts the
/// others.
std::string names_of_all(const scenario::Scenario& scenario) {
  constexpr std::size_t kMaxNames = 4;
  std::vector<std::string> names;
  for (const scenario::EndpointSpec& endpoint : scenario.endpoints) names.push_back(endpoint.name);
  for (const scenario::JobSpec& spec : scenario.jobs) names.push_back(spec.job_class.name);
  const std::size_t named = std::min(names.size(), kMaxNames);
  std::string words;
  for (std::size_t i = 0; i < named; ++i) words += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > named) words += fmt::format(" and {} more", names.size() - named);
  return words;
}

std::string service_words(const scenario::Scenario& scenario) {
  if (!scenario.is_alone()) return names_of_all(scenario);
  std::string words = scenario.workload().model;
  for (std::size_t i = 0; i < scenario.endpoint().roles.size(); ++i) {
    const model::Workload& workload = scenario.catalog->services[i].workload;
    const std::string& name = scenario.endpoint().roles[i].name;
    if (scenario.endpoint().roles.size() > 1) {
      const bool last = i + 1 == scenario.endpoint().roles.size();
      words += fmt::format("{} {}", i == 0 || !last ? "," : " and",
                           name.empty() ? model::name(workload.role) : std::string_view(name));
    }
    words += " " + replica_words(*scenario.catalog, workload, scenario.endpoint().roles[i]);
  }
  return words;
}

/// Returns the start time that the simulator assumes for an engine: for the first role or variant whose start time the
/// scenario does not state. None if the scenario states all start times.
std::optional<sim::Latency> assumed_engine_init(const scenario::Scenario& scenario) {
  for (const scenario::EndpointSpec& endpoint : scenario.endpoints) {
    for (std::size_t i = 0; i < endpoint.roles.size(); ++i) {
      if (!endpoint.roles[i].states_engine_init) return scenario.cluster.starts[endpoint.first.value + i].engine_init;
    }
  }
  return std::nullopt;
}

/// Returns the policy that buys the nodes for the plan with foresight: the policy with the highest score, because it
/// uses paid GPU time best. The cheapest policy that holds the SLO may be a fixed fleet, whose nodes are never
/// released.
const scenario::PolicySpec& policy_for_foresight(const scenario::Scenario& scenario,
                                                 const std::vector<RunResult>& results) {
  const auto before = [](const RunResult& a, const RunResult& b) {
    return a.score_milli() != b.score_milli() ? a.score_milli() > b.score_milli() : a.policy < b.policy;
  };
  return *find_policy(scenario, std::ranges::min_element(results, before)->policy);
}

/// Further runs may simulate twice as many requests as the policies did, or this number of requests if it is larger.
constexpr RequestCount kExtraRequestsAlways = 8'000'000;

/// Returns true if a policy that holds the SLO with every seed costs no more than the one with the raised minimum, or
/// if the latter misses the SLO with one of them.
bool is_useless(const RaisedMinimum& raised, const Comparison& c) {
  if (c.seed_checks.empty()) return false;
  if (!raised.result || !raised.is_steady()) return true;
  const SeedCheck* steady = cheapest_steady(c.seed_checks);
  if (steady == nullptr) return false;
  const MicroUsd stated_price = steady->mean_per_hour(), raised_price = raised.seeds->mean_per_hour();
  if (stated_price.count > 0 && raised_price.count > 0) return raised_price >= stated_price;
  return !is_cheaper(*raised.result, c.results.front());
}

Result<void> search_advice(const scenario::Scenario& scenario, Comparison& comparison, ExtraRuns& extra) {
  Result<std::vector<SeedCheck>> checks = check_seeds(scenario, comparison.results, extra);
  if (!checks) return std::unexpected(std::move(checks.error()));
  comparison.seed_checks = std::move(*checks);
  put_steady_first(comparison.seed_checks, comparison.results);
  if (!scenario.is_alone()) {
    comparison.advice_left_out =
        "The best constant fleet is searched for only where one service has the cluster alone. A policy with "
        "scale: {policy: fixed, replicas: N} shows a constant fleet of your choice";
    return {};
  }
  if (!scenario.pod_needs.empty()) {
    comparison.advice_left_out =
        "The best constant fleet is searched for only where pods ask for nothing but GPUs, without cpu, memory and "
        "node_selector";
    return {};
  }
  Result<std::optional<ConstantFleet>> constant = find_constant_fleet(scenario, comparison.results, extra);
  if (!constant) return std::unexpected(std::move(constant.error()));
  comparison.constant_fleet = std::move(*constant);
  if (comparison.constant_fleet) {
    const Result<void> done = check_constant_fleet(scenario, *comparison.constant_fleet, extra);
    if (!done) return done;
  }
  Result<std::optional<RaisedMinimum>> raised =
      try_higher_minimum(scenario, comparison.results, comparison.seed_checks, comparison.constant_fleet, extra);
  if (!raised) return std::unexpected(std::move(raised.error()));
  if (*raised && !is_useless(**raised, comparison)) comparison.raised_minimum = std::move(*raised);
  return {};
}

/// Returns the time after which the policy gives back a node without pods; none if it gives no node back.
std::optional<Duration> empty_node_delay(const scenario::PolicySpec& policy) {
  if (!policy.policies.provision || !policy.policies.provision->consolidation.enabled) return std::nullopt;
  return policy.policies.provision->consolidation.after;
}

}  // namespace

Comparison describe(const scenario::Scenario& scenario) {
  std::map<std::string, std::optional<Duration>> empty_node_delays;
  for (const scenario::PolicySpec& policy : scenario.policies) {
    empty_node_delays.emplace(policy.policies.name, empty_node_delay(policy));
  }
  return {.scenario = scenario.name,
          .title = scenario.title,
          .seed = scenario.seed,
          .load = all_load_words(scenario),
          .service = service_words(scenario),
          .assumed_engine_init = assumed_engine_init(scenario),
          .slo = scenario.has_only_jobs() ? model::Slo() : scenario.service().slo,
          .results = {},
          .empty_node_delays = std::move(empty_node_delays),
          .jobs = scenario.jobs,
          .catalog = scenario.catalog};
}

Result<void> advise(const scenario::Scenario& scenario, unsigned jobs, const ProgressCallback& progress,
                    Comparison& comparison, const std::stop_token& stop) {
  if (scenario.has_only_jobs()) return {};  // scale policies and constant fleets have no meaning for jobs
  RequestCount requests = 0;
  for (const RunResult& result : comparison.results) requests += result.requests.arrived;
  ExtraRuns extra(jobs, std::max(kExtraRequestsAlways, 2 * requests), progress, stop);
  const Result<void> done = search_advice(scenario, comparison, extra);
  comparison.extra_runs = extra.runs();
  comparison.extra_requests = extra.requests();
  return done;
}

Result<Comparison> compare(const scenario::Scenario& scenario, unsigned jobs, const ProgressCallback& progress,
                           const std::stop_token& stop) {
  std::vector<PlannedRun> planned;
  for (const scenario::PolicySpec& policy : scenario.policies) {
    planned.push_back({.scenario = &scenario, .policy = &policy, .keep_history = scenario.history});
  }
  Result<std::vector<RunResult>> results = run_batch(planned, jobs, "", progress, stop);
  if (!results) return std::unexpected(std::move(results.error()));

  Comparison comparison = describe(scenario);
  comparison.results = std::move(*results);
  rank(comparison.results, comparison.slo);
  if (scenario.advice) {
    if (Result<void> done = advise(scenario, jobs, progress, comparison, stop); !done) {
      return std::unexpected(std::move(done.error()));
    }
  }
  if (scenario.bound) {
    Result<Clairvoyant> clairvoyant =
        foresee(scenario, policy_for_foresight(scenario, comparison.results), progress, stop);
    if (!clairvoyant) return std::unexpected(std::move(clairvoyant.error()));
    comparison.clairvoyant = std::move(*clairvoyant);
  }
  return comparison;
}

}  // namespace capstan::experiment
