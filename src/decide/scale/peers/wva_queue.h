#pragma once

#include <cstdint>
#include <optional>
#include <vector>

/// The queueing model of llm-d's Workload Variant Autoscaler ("inferno"), in the single precision of its source.
/// Source: llm-d/llm-d-workload-variant-autoscaler pkg/analyzer.
namespace capstan::decide::scale::wva {

/// Milliseconds of a step: alpha for each, beta for a token that is computed, gamma for one that is looked back at.
struct ServiceParameters {
  float alpha = 0, beta = 0, gamma = 0;
};

struct RequestSize {
  float avg_input = 0, avg_output = 0;  ///< tokens
  bool valid() const { return avg_input >= 0 && avg_output >= 1; }
};

/// @param batch mean number of requests in a step, not always whole
float iteration_ms(const ServiceParameters& service, const RequestSize& size, float batch);
/// 0 where there is nothing to prefill.
float prefill_ms(const ServiceParameters& service, const RequestSize& size, float batch);
float decode_ms(const ServiceParameters& service, const RequestSize& size, float batch);

/// An M/M/1/K queue. Its load may be up to K, not 1: what does not fit is lost.
bool is_valid_queue(float capacity, float arrivals, float services);

/// An M/M/1/K queue whose rate of service depends on how many are served: one engine.
struct QueueConfig {
  std::int64_t max_batch = 1;  ///< requests that are served at once
  std::int64_t max_queue = 0;  ///< that wait besides them
  ServiceParameters service;
  bool valid() const { return max_batch > 0 && max_queue >= 0; }
};

/// Milliseconds, and tokens a second; 0 and below: no such target.
struct SizingTargets {
  float ttft_ms = 0, itl_ms = 0, tps = 0;
};

struct QueueFigures {
  float throughput = 0;  ///< requests a second
  float response_ms = 0, wait_ms = 0, ttft_ms = 0, token_ms = 0;
  float in_service = 0;
};

struct Sizing {
  float rate_for_ttft = 0, rate_for_itl = 0, rate_for_tps = 0;  ///< requests a second
  float rate = 0;                                               ///< the least of them
  QueueFigures at_rate;
};

/// What one engine does under a rate of requests; nothing where it is above what the queue is good for.
std::optional<QueueFigures> analyze_queue(const QueueConfig& config, const RequestSize& size,
                                          float requests_per_second);

/// The highest rate that keeps the targets; nothing where no rate does.
std::optional<Sizing> size_queue(const QueueConfig& config, const RequestSize& size, const SizingTargets& targets);

/// ceil(demand / rate of one engine).
std::int64_t replicas_for(float requests_per_second, const Sizing& sizing);

}  // namespace capstan::decide::scale::wva
