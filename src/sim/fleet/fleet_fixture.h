#pragma once

#include <cstdint>

#include "base/testing/moment.h"
#include "engine/step_model.h"
#include "engine/work.h"
#include "sim/fleet/fleet.h"

// A small engine for tests of fleets.
namespace capstan::sim::fleet_fixture {

/// Returns a model with steps of about 10 ms, whatever the batch, so that expected times are easy to compute.
inline engine::StepModel ten_ms_steps() {
  engine::StepCoefficients c;
  c.linear_ps.fill(10'000'000'000);
  c.kappa_milli = 1000;
  c.per_request_ps = 0;
  return engine::StepModel(c);
}

inline const engine::StepModel kModel = ten_ms_steps();
inline const engine::RequestWork kWork(kModel, 2048, 8, 1);

inline FleetVariant variant() {
  FleetVariant v;
  v.model = &kModel;
  v.work = &kWork;
  v.front_end = {};
  v.replica = {.max_batched_tokens = 2048, .max_seqs = 2, .max_waiting = 2, .kv_blocks = 200};
  return v;
}

inline workload::Request row(std::int64_t ms, std::int32_t input, std::int32_t output) {
  return {.arrival = capstan::testing::at_ms(ms), .input_tokens = input, .output_tokens = output};
}

}  // namespace capstan::sim::fleet_fixture
