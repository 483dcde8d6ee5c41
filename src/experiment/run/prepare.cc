#include "experiment/run/prepare.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/table.h"

namespace capstan::experiment {

namespace {

constexpr std::uint64_t kSeedStep = 0x9e37'79b9'7f4a'7c15;  // 2^64 over the golden ratio

RoleEngine engine_of(const scenario::RoleSpec& role, std::uint64_t seed, std::int64_t perturbation_ppm) {
  RoleEngine made;
  made.model =
      std::make_unique<const engine::StepModel>(engine::perturbed(role.engine->coefficients, seed, perturbation_ppm));
  made.work = std::make_unique<const engine::RequestWork>(*made.model, role.replica.max_batched_tokens,
                                                          role.replica.max_seqs, role.engine->tp);
  return made;
}

/// Prepares the load, the SLO and the engines of one endpoint.
EndpointSetup setup_of(const scenario::EndpointSpec& endpoint, const model::Catalog& catalog, std::uint64_t seed,
                       std::vector<RoleEngine>& engines) {
  EndpointSetup setup;
  setup.name = endpoint.name;
  setup.team = endpoint.team;
  setup.first = endpoint.first;
  setup.fleet = endpoint.fleet;
  setup.slo = catalog.service(endpoint.first).slo;
  setup.workload = endpoint.load;
  for (std::size_t i = 0; i < endpoint.roles.size(); ++i) {
    const scenario::RoleSpec& role = endpoint.roles[i];
    // Each variant has its own errors of the engine model. Prefill and decode have the same errors.
    const std::uint64_t drawn = endpoint.has_variants() ? seed + i * kSeedStep : seed;
    const RoleEngine& engine = engines.emplace_back(engine_of(role, drawn, endpoint.engine_perturbation_ppm));
    setup.variants.push_back({.model = engine.model.get(),
                              .replica = role.replica,
                              .front_end = role.front_end,
                              .kv_bytes_per_token = role.engine->kv_per_token().count,
                              .kv_link_bytes_per_s = endpoint.kv_transfer.bytes_per_s,
                              .kv_setup = endpoint.kv_transfer.setup,
                              .work = engine.work.get(),
                              .weight = role.weight});
  }
  return setup;
}

/// Draws the batch jobs of all classes and adds them to the cluster.
void add_jobs(const scenario::Scenario& scenario, std::uint64_t seed, SimulationSetup& setup) {
  for (std::uint32_t c = 0; c < scenario.jobs.size(); ++c) {
    const scenario::JobSpec& spec = scenario.jobs[c];
    setup.cluster.job_classes.push_back(spec.job_class);
    setup.job_goals.push_back(spec.goal);
    setup.job_teams.push_back(spec.team);
    const auto add = [&](const workload::JobArrival& job) -> sim::Job& {
      return setup.cluster.jobs.emplace_back(sim::Job{job.at, c, job.pods, job.gpus_per_pod, job.work, job.min_pods});
    };
    const std::size_t first = setup.cluster.jobs.size();
    if (!spec.recorded) {
      for (const workload::JobArrival& job : workload::draw_jobs(spec.load, seed + c * kSeedStep)) add(job);
    } else {
      for (const scenario::RecordedJob& recorded : *spec.recorded) {
        sim::Job& job = add(recorded.arrival);
        job.pod_class = recorded.pod_class;
        job.gpus = recorded.gpus;
      }
    }
    const auto arrives = [&](const sim::Job& job) {
      return !scenario.duration || job.at.since_start < *scenario.duration;
    };
    if (std::none_of(setup.cluster.jobs.begin() + static_cast<std::ptrdiff_t>(first), setup.cluster.jobs.end(),
                     arrives)) {
      setup.warnings.push_back(
          fmt::format("no job of {} arrives in this run, so its figures are zeros", spec.job_class.name));
    }
  }
  std::ranges::stable_sort(setup.cluster.jobs, {}, &sim::Job::at);
}

/// Returns the shortest interval of scrapes that any peer states. All peers share it.
std::optional<Duration> shortest_scrape(const scenario::PolicySpec& policy) {
  std::optional<Duration> shortest;
  for (const std::optional<scenario::PeerSpec>& peer : policy.peers) {
    if (peer && peer->scrape_interval)
      shortest = std::min(shortest.value_or(*peer->scrape_interval), *peer->scrape_interval);
  }
  return shortest;
}

/// Returns true if the placement policy respects the domain of a gang. `first_fit` models kube-scheduler, which does
/// not respect it, and no API server refuses the bindings of kube-scheduler.
bool keeps_gangs_in_one_domain(const scenario::PolicySpec& policy) {
  return policy.policies.place && policy.policies.place->kind == decide::place::Policy::Kind::gang;
}

}  // namespace

namespace {

/// Returns the catalog with the bounds of the policy's manifest.
std::shared_ptr<const model::Catalog> catalog_of(const scenario::Scenario& scenario,
                                                 const scenario::PolicySpec& policy) {
  const auto is_stated = [](const auto& bounds) { return bounds.has_value(); };
  if (std::ranges::none_of(policy.bounds, is_stated)) return scenario.cluster.catalog;
  auto catalog = std::make_shared<model::Catalog>(*scenario.cluster.catalog);
  for (std::size_t i = 0; i < policy.bounds.size(); ++i) {
    if (!policy.bounds[i]) continue;
    model::Service& service = catalog->services[i];
    if (const std::optional<model::RoleLimits>& limits = policy.bounds[i]->role_limits) {
      const Duration conversion = service.role_limits.conversion;
      service.role_limits = *limits;
      service.role_limits.conversion = conversion;
    }
    const settings::ReplicaBounds& replicas = policy.bounds[i]->replicas;
    service.min_replicas = replicas.min;
    service.max_replicas = replicas.max;
    service.survives = replicas.survives;
    service.windows = replicas.windows;
  }
  return catalog;
}

}  // namespace

PreparedRun prepare(const scenario::Scenario& scenario, const scenario::PolicySpec& policy, std::uint64_t seed) {
  PreparedRun prepared;
  SimulationSetup& setup = prepared.setup;
  setup.cluster = scenario.cluster;
  setup.cluster.catalog = catalog_of(scenario, policy);
  setup.cluster.provider = policy.provider;
  setup.cluster.enforce_together = scenario.enforce_together.value_or(keeps_gangs_in_one_domain(policy));
  for (sim::VariantStart& start : setup.cluster.starts) {
    if (!policy.sleep) continue;
    start.sleep.max_replicas = policy.sleep->max_replicas;
    start.sleep.max_duration = policy.sleep->max_duration;
  }
  if (const std::optional<Duration> asked = shortest_scrape(policy)) {
    setup.cluster.scrape.interval = *asked;
    setup.cluster.scrape.delay = std::min(setup.cluster.scrape.delay, *asked / 10);
  }
  setup.peers = policy.peers;
  setup.warnings = policy.warnings;
  for (std::size_t i = 0; i < scenario.endpoints.size(); ++i) {
    setup.endpoints.push_back(
        setup_of(scenario.endpoints[i], *setup.cluster.catalog, endpoint_seed(seed, i), prepared.engines));
  }
  add_jobs(scenario, seed, setup);
  setup.policies = policy.policies;
  setup.seed = seed;
  setup.duration = scenario.duration;
  setup.settle_time = scenario.settle_time;
  return prepared;
}

Result<RunResult> run(const scenario::Scenario& scenario, const scenario::PolicySpec& policy, std::uint64_t seed,
                      const ProgressCallback& progress) {
  const PreparedRun prepared = prepare(scenario, policy, seed);
  Result<RunResult> result = simulate(prepared.setup, progress);
  if (result) result->swept_from = policy.swept_from;
  return result;
}

}  // namespace capstan::experiment
