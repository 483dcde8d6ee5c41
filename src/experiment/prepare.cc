#include "experiment/prepare.h"

#include "engine/table.h"

namespace capstan::experiment {

Prepared prepare(const Scenario& scenario, const PolicySpec& policy, std::uint64_t seed) {
  Prepared prepared;
  prepared.model = std::make_unique<const engine::StepModel>(
      engine::perturbed(scenario.engine->coefficients, seed, scenario.engine_perturbation_ppm));
  prepared.work = std::make_unique<const engine::RequestWork>(*prepared.model, scenario.replica.max_batched_tokens,
                                                              scenario.replica.max_seqs, scenario.engine->tp);
  SimulationSetup& setup = prepared.setup;
  setup.cluster = scenario.cluster;
  setup.cluster.provider = policy.provider;
  setup.fleet = scenario.fleet;
  setup.variants.push_back({.model = prepared.model.get(),
                            .replica = scenario.replica,
                            .front_end = scenario.front_end,
                            .kv_bytes_per_token = scenario.engine->kv_per_token().count,
                            .work = prepared.work.get()});
  setup.slo = scenario.service().slo;
  setup.workload = scenario.load;
  setup.policies = policy.policies;
  setup.seed = seed;
  setup.duration = scenario.duration;
  setup.settle = scenario.settle;
  return prepared;
}

Result<RunResult> run(const Scenario& scenario, const PolicySpec& policy, std::uint64_t seed,
                      const ProgressCallback& progress) {
  const Prepared prepared = prepare(scenario, policy, seed);
  return simulate(prepared.setup, progress);
}

}  // namespace capstan::experiment
