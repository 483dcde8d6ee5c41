#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "plan/read/read_spec.h"

// Specs of services for the tests of the plan.
namespace capstan::plan::sample_specs {

/// Reads a spec that has no mistake.
inline PlanSpec spec_of(std::string_view text) {
  const auto spec = parse_plan_spec(std::string(text), "spec.yaml");
  if (!spec) {
    ADD_FAILURE() << "the spec has a mistake: " << spec.error().list.front().text();
    return {};
  }
  return *spec;
}

/// Returns a spec of Llama-3.3-70B in FP8 on H100 or H200, with bursts of four times the rate.
inline PlanSpec chat_spec() {
  return spec_of(R"(
cluster:
  instances: [p5.48xlarge, p5en.48xlarge]
services:
  - name: chat
    model: RedHatAI/Llama-3.3-70B-Instruct-FP8
    slo: {ttft_p99: 2s, tpot: 50ms}
    load: {requests_per_second: 2, burst_factor: 4, burst_length: 5m, burst_every: 20m, duration: 20m}
)");
}

/// Returns a spec of Llama-3.1-8B on machines with one H100, which have a spot price.
inline PlanSpec small_spec() {
  return spec_of(R"(
cluster:
  instances:
    - {instance: p5.4xlarge, usd_per_hour: 6.88, spot_usd_per_hour: 2.50}
  capacity: [on_demand, spot]
services:
  - name: small
    model: Llama-3.1-8B
    slo: {ttft_p99: 1s, tpot: 50ms}
    load: {requests_per_second: 6, burst_factor: 3, burst_length: 5m, burst_every: 20m, duration: 20m}
)");
}

/// Returns a spec of Llama-3.1-8B on separate prefill and decode replicas.
inline PlanSpec disaggregated_spec() {
  return spec_of(R"(
cluster:
  instances: [p5.4xlarge]
services:
  - name: split
    model: Llama-3.1-8B
    disaggregated: true
    slo: {ttft_p99: 1s, tpot: 50ms}
    load: {requests_per_second: 10, burst_factor: 2, burst_length: 5m, burst_every: 20m, duration: 20m}
)");
}

}  // namespace capstan::plan::sample_specs
