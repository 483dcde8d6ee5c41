#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "plan/measure/measured_load.h"
#include "plan/read/read_spec.h"
#include "signals/prometheus_api.h"

// Specs and recorded answers of a Prometheus server for tests.
namespace capstan::plan::testing {

/// Returns the spec of a service with this engine, whose load is measured.
inline PlanSpec measured_spec(const std::string& engine = "vllm", const std::string& more = "") {
  const auto spec = parse_plan_spec(
      "namespace: llm\n"
      "services:\n- name: chat\n  model: meta-llama/Llama-3.1-8B-Instruct\n  slo: {ttft_p99: 1s}\n  engine: " +
          engine + "\n  load: {prometheus: {url: 'http://prom:9090', over: 30m" + more + "}}\n",
      "s.yaml");
  if (!spec) throw std::invalid_argument(spec.error().text());
  return *spec;
}

inline signals::ApiAnswer answer_of(const std::string& json) {
  const auto answer = signals::parse_api_answer(json, "recorded");
  if (!answer) throw std::invalid_argument(answer.error().text());
  return *answer;
}

/// Returns the answer to an inventory query: series of these metrics, each of every model.
inline signals::ApiAnswer inventory_of(const std::vector<std::string>& metrics, const std::vector<std::string>& models,
                                       const std::string& label = "model_name") {
  std::string rows;
  for (const std::string& metric : metrics) {
    for (const std::string& model : models) {
      rows += (rows.empty() ? "" : ",") + ("{\"metric\":{\"__name__\":\"" + metric + "\",\"" + label + "\":\"" + model +
                                           "\"},\"value\":[1763985600,\"2\"]}");
    }
  }
  return answer_of("{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[" + rows + "]}}");
}

inline constexpr const char* kMeasuredModel = "meta-llama/Llama-3.1-8B-Instruct";

/// Metrics of vLLM that a load is measured with.
inline const std::vector<std::string> kVllmSeries = {
    "vllm:request_success_total",        "vllm:num_requests_running", "vllm:num_requests_waiting",
    "vllm:request_prompt_tokens_bucket", "vllm:prompt_tokens_total",  "vllm:request_generation_tokens_bucket",
    "vllm:generation_tokens_total"};

}  // namespace capstan::plan::testing
