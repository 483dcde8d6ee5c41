#pragma once

#include <cstdint>
#include <optional>
#include <vector>

/// The queueing model of llm-d's Workload Variant Autoscaler ("inferno"), in the single precision of its source.
/// Source: llm-d/llm-d-workload-variant-autoscaler pkg/analyzer.
namespace capstan::peers::wva {

/// Parts of the time of a step, milliseconds: alpha is fixed, beta is per computed token, gamma per attended token.
struct ServiceParameters {
  float alpha = 0, beta = 0, gamma = 0;
};

struct RequestSize {
  float avg_input = 0, avg_output = 0;  ///< tokens
  bool valid() const { return avg_input >= 0 && avg_output >= 1; }
};

/// @param batch mean number of requests in a step, may be fractional
float iteration_ms(const ServiceParameters& service, const RequestSize& size, float batch);
/// Returns 0 if there is nothing to prefill.
float prefill_ms(const ServiceParameters& service, const RequestSize& size, float batch);
float decode_ms(const ServiceParameters& service, const RequestSize& size, float batch);

/// Returns true if the parameters of an M/M/1/K queue are valid. Its load (arrivals / services) may be above 1, up to
/// K, because requests that find the queue full are lost.
bool is_valid_queue(float capacity, float arrivals, float services);

/// One engine as an M/M/1/K queue whose service rate depends on the number in service.
struct QueueConfig {
  std::int64_t max_batch = 1;  ///< requests served at once
  std::int64_t max_queue = 0;  ///< further requests that wait
  ServiceParameters service;
  bool valid() const { return max_batch > 0 && max_queue >= 0; }
};

/// Targets in milliseconds and tokens/s; 0 and below: no target.
struct SizingTargets {
  float ttft_ms = 0, itl_ms = 0, tps = 0;
};

struct QueueFigures {
  float throughput = 0;  ///< requests/s
  float response_ms = 0, wait_ms = 0, ttft_ms = 0, token_ms = 0;
  float in_service = 0;
};

struct Sizing {
  float rate_for_ttft = 0, rate_for_itl = 0, rate_for_tps = 0;  ///< requests/s
  float rate = 0;                                               ///< lowest of these rates
  QueueFigures at_rate;
};

/// Returns the behaviour of one engine at a request rate; empty if an argument is invalid or the rate exceeds the
/// queue's maximum.
std::optional<QueueFigures> analyze_queue(const QueueConfig& config, const RequestSize& size,
                                          float requests_per_second);

/// Returns the highest rate that keeps the targets; empty if there is none. As in the source, a target of tokens/s has
/// only one effect, whatever its value: 10 % of the engine's maximum rate stay unused.
std::optional<Sizing> size_queue(const QueueConfig& config, const RequestSize& size, const SizingTargets& targets);

/// Returns ceil(demand / rate of one engine).
std::int64_t replicas_for(float requests_per_second, const Sizing& sizing);

}  // namespace capstan::peers::wva
