#include "experiment/run.h"

#include "engine/step_model.h"
#include "engine/work.h"

namespace capstan::experiment {

Result<RunResult> run(const Scenario& scenario, const PolicySpec& policy, const RunOptions& options,
                      const ProgressCallback& progress) {
  const engine::EngineRow& row = *scenario.engine;
  const engine::StepModel model(engine::perturbed(row.coefficients, scenario.seed, scenario.engine_perturbation_ppm));
  const engine::RequestWork work(model, scenario.replica.max_batched_tokens, scenario.replica.max_seqs, row.tp);

  SimulationSetup setup;
  setup.cluster = scenario.cluster;
  setup.cluster.provider = policy.provider;
  setup.fleet = scenario.fleet;
  sim::FleetVariant variant;
  variant.model = &model;
  variant.work = &work;
  variant.replica = scenario.replica;
  variant.front_end = scenario.front_end;
  variant.kv_bytes_per_token = row.kv_per_token().count;
  setup.variants = {variant};
  setup.slo = scenario.service().slo;
  setup.workload = scenario.load;
  setup.policies = policy.policies;
  setup.seed = scenario.seed;
  setup.duration = scenario.duration;
  setup.settle = scenario.settle;
  setup.verify = options.verify;
  return simulate(setup, progress);
}

}  // namespace capstan::experiment
