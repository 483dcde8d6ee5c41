#include "experiment/prepare.h"

#include <algorithm>

#include "engine/table.h"

namespace capstan::experiment {

engine::StepCoefficients perturbed_by(const engine::StepCoefficients& coefficients, std::int64_t share_ppm,
                                      std::uint64_t seed) {
  constexpr std::int64_t kWhole = 100'000;
  const engine::StepCoefficients far = engine::perturbed(coefficients, seed);
  engine::StepCoefficients near = coefficients;
  const auto move = [&](std::int64_t& value, std::int64_t target) {
    value = std::max<std::int64_t>(0, value + (target - value) * share_ppm / kWhole);
  };
  for (std::size_t i = 0; i < near.linear_ps.size(); ++i) {
    move(near.linear_ps[i], far.linear_ps[i]);
    if (i > 0) near.linear_ps[i] = std::max(near.linear_ps[i], near.linear_ps[i - 1]);  // rounding keeps it monotone
  }
  move(near.decode_fixed_ps, far.decode_fixed_ps);
  move(near.decode_per_request_ps, far.decode_per_request_ps);
  move(near.decode_per_kv_token_ps, far.decode_per_kv_token_ps);
  move(near.prefill_fixed_ps, far.prefill_fixed_ps);
  move(near.prefill_per_pair_fs, far.prefill_per_pair_fs);
  move(near.kappa_milli, far.kappa_milli);
  move(near.per_request_ps, far.per_request_ps);
  move(near.per_step_ps, far.per_step_ps);
  return near;
}

Prepared prepare(const Scenario& scenario, const PolicySpec& policy, std::uint64_t seed) {
  Prepared prepared;
  prepared.model = std::make_unique<const engine::StepModel>(
      perturbed_by(scenario.engine->coefficients, scenario.engine_perturbation_ppm, seed));
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
