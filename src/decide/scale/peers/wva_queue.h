#pragma once

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

}  // namespace capstan::decide::scale::wva
