#include "explain/slow_replica.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "explain/words.h"

namespace capstan::explain {
namespace {

constexpr std::int64_t kDefaultSequences = 256;  ///< vLLM's --max-num-seqs
constexpr std::int64_t kKvFullPpm = 900'000;     ///< above this no further sequence of usual length fits
constexpr std::int64_t kNearLimitPercent = 95;   ///< share of a limit from which the limit counts as reached
/// If clients wait this much longer for the first token than the engine reports (both p99), the time is lost in front
/// of the engine.
constexpr std::int64_t kSlowerThanEngineMs = 200;

bool is_near(std::int64_t value, std::int64_t limit) { return limit > 0 && value * 100 >= limit * kNearLimitPercent; }

std::vector<std::string> missing_facts(const ReplicaLoad& load) {
  std::vector<std::string> missing;
  if (!load.running) missing.emplace_back("running requests");
  if (!load.waiting) missing.emplace_back("waiting requests");
  if (!load.kv_usage_ppm) missing.emplace_back("KV cache use");
  return missing;
}

std::string batch_text(const ReplicaLoad& load, std::int64_t limit) {
  return fmt::format("{} of {} sequences run{}, {} wait, KV memory is {} full", *load.running, limit,
                     load.max_sequences ? "" : " (the default limit)", *load.waiting, percent_text(*load.kv_usage_ppm));
}

/// Finds the bottleneck in front of an engine whose queue is empty.
SlowDiagnosis before_engine(const ReplicaLoad& load) {
  if (load.gateway_waiting.value_or(0) > 0) {
    return {SlowPart::gateway,
            fmt::format("the gateway holds {} while the engine has an empty queue",
                        count_text(*load.gateway_waiting, "request", "requests")),
            "raise the concurrency limit of the gateway, or check that it routes to all ready replicas",
            "llm_d_epp_flow_control_queue_size"};
  }
  if (load.cpu_percent && is_near(*load.cpu_percent, load.cpu_limit_percent.value_or(100))) {
    return {SlowPart::cpu,
            fmt::format("the front end uses {} % of {} % CPU while the engine has an empty queue", *load.cpu_percent,
                        load.cpu_limit_percent.value_or(100)),
            "give the container more CPU, or start more front ends (vLLM: --api-server-count)",
            "process_cpu_seconds_total"};
  }
  const bool measured = load.ttft_ms && load.engine_ttft_ms;
  if (measured && *load.ttft_ms - *load.engine_ttft_ms >= kSlowerThanEngineMs) {
    return {SlowPart::cpu,
            fmt::format("clients wait {} for the first token, the engine needs {}",
                        time_text(std::chrono::milliseconds(*load.ttft_ms)),
                        time_text(std::chrono::milliseconds(*load.engine_ttft_ms))),
            "look in front of the engine: tokenizer, HTTP server, proxy, network", "vllm:time_to_first_token_seconds"};
  }
  return {SlowPart::none,
          "these signals show nothing slow: no request waits, and no limit is reached",
          "if clients report late answers, compare their time to the first token with the engine's",
          {}};
}

}  // namespace

std::string_view name(SlowPart part) {
  constexpr std::array<std::string_view, 7> kNames = {"none",      "unknown",     "gateway", "batch limit",
                                                      "KV memory", "step tokens", "CPU"};
  return kNames[static_cast<std::size_t>(part)];
}

SlowDiagnosis diagnose(const ReplicaLoad& load) {
  if (const std::vector<std::string> missing = missing_facts(load); !missing.empty()) {
    return {SlowPart::unknown,
            fmt::format("signals are missing: {}", fmt::join(missing, ", ")),
            "first find these signals with the stages above",
            {}};
  }
  const std::int64_t limit = load.max_sequences.value_or(kDefaultSequences);
  const std::string batch = batch_text(load, limit);
  if (*load.kv_usage_ppm >= kKvFullPpm && (*load.waiting > 0 || load.preemptions.value_or(0) > 0)) {
    return {
        SlowPart::kv_memory,
        batch + (load.preemptions.value_or(0) > 0 ? fmt::format(", {} preempted", *load.preemptions) : std::string()),
        "add replicas, or give the KV cache more memory (vLLM: --gpu-memory-utilization, --kv-cache-dtype fp8, a "
        "smaller --max-model-len)",
        "vllm:kv_cache_usage_perc"};
  }
  if (*load.waiting > 0 && is_near(*load.running, limit)) {
    return {SlowPart::batch_limit, batch,
            "raise the limit of sequences (vLLM: --max-num-seqs) while the time between tokens is inside the SLO, else "
            "add replicas",
            "vllm:num_requests_running"};
  }
  if (*load.waiting > 0) {
    return {SlowPart::step_tokens, batch,
            "prompts use up the tokens of each step: raise --max-num-batched-tokens, or serve prefill and decode on "
            "different replicas",
            "vllm:num_requests_waiting"};
  }
  return before_engine(load);
}

std::string text(const SlowDiagnosis& diagnosis, const ReplicaLoad& load) {
  std::string text = fmt::format("bottleneck: {}: {}", name(diagnosis.part), diagnosis.text);
  if (load.gpu_percent) {
    text += fmt::format(" (GPU duty cycle {} %, which shows no spare capacity)", *load.gpu_percent);
  }
  if (!diagnosis.remedy.empty()) text += "; " + diagnosis.remedy;
  if (!diagnosis.metric.empty()) text += fmt::format(" (metric: {})", diagnosis.metric);
  return text;
}

}  // namespace capstan::explain
