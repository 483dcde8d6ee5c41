#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/quantity.h"

/// NVIDIA Dynamo's planner: predictors of load, the loop that follows it, the loop that plans for it, and the budget.
/// Source: ai-dynamo/dynamo components/src/dynamo/planner/core (2026).
namespace capstan::decide::scale::dynamo {

// Predictors. NaN and the infinities count as 0, and zeros before the first load are skipped.

/// The last value again.
class ConstantPredictor {
 public:
  void add(double value);
  double predict() const { return last_; }

 private:
  double last_ = 0;
  bool seen_ = false;
};

/// kalman_q_level, kalman_q_trend and kalman_r of the planner's configuration.
struct KalmanSettings {
  double q_level = 1;
  double q_trend = 0.1;
  double r = 10;
};

/// A level and its trend, seen through noise (local linear trend): the level of one step ahead. Asked again before the
/// next value it says the same, and the filter takes that step only once.
class KalmanPredictor {
 public:
  explicit KalmanPredictor(const KalmanSettings& settings) : settings_(settings) {}
  void add(double value);
  double predict();

 private:
  void step();

  KalmanSettings settings_;
  bool seen_ = false;
  bool stepped_ = false;
  double level_ = 0, trend_ = 0;
  double p_level_ = 1000, p_cross_ = 0, p_trend_ = 1000;  ///< covariance; the two cross terms are equal
};

// The loop that follows the load: one replica at a time.

enum class Target : std::uint8_t { throughput, latency };

struct LoadSettings {
  Target target = Target::throughput;
  ReplicaCount min_endpoint = 1;
};

/// Forward-pass metrics of one engine.
struct Engine {
  double scheduled_kv_tokens = 0;
  double queued_kv_tokens = 0;
  double queued_prefill_tokens = 0;
};

/// An aggregated engine, or one that decodes: up where any holds more of its KV cache than the bound, down where all
/// hold less. Nothing: no change, or nothing to go by.
std::optional<ReplicaCount> follow_kv(const LoadSettings& settings, std::span<const Engine> engines,
                                      double max_kv_tokens, bool with_prefill);
/// One that prefills: the same by queued tokens over the context's length.
std::optional<ReplicaCount> follow_queue(const LoadSettings& settings, std::span<const Engine> engines,
                                         double context_length);
/// With a model of latency (optimization_target sla): up where ALL estimates are above the bound, so one replica that
/// is idle keeps all others late; down where all are below the bound times the sensitivity.
std::optional<ReplicaCount> follow_latency(const LoadSettings& settings, std::span<const double> estimates_ms,
                                           double sla_ms, ReplicaCount workers, double sensitivity_percent);

// The loop that plans for the load.

/// ceil(requests / interval / what one engine serves), at least min_endpoint; nothing where no rate is known.
std::optional<ReplicaCount> replicas_for_rate(double predicted_requests, double interval_s, double engine_rps,
                                              ReplicaCount min_endpoint);
/// What the planner's regression of decode steps learned: seconds of a step.
struct StepTime {
  double base_s = 0;
  double per_request_s = 0;
  double per_kv_token_s = 0;
};
struct DecodeBatch {
  std::int64_t size = 0;
  double itl_ms = 0;
  double rps = 0;  ///< by Little's law: size / (output tokens * step)
};
/// The largest batch whose step stays within the bound, not above what the KV cache and the engine hold; a batch of one
/// where even that is too slow. Nothing where an input makes no sense.
/// @param context_tokens  of a request: its input and half of its output
std::optional<DecodeBatch> best_decode_batch(const StepTime& step, double itl_ms, double context_tokens,
                                             double output_tokens, std::int64_t max_kv_tokens, std::int64_t max_seqs);

/// As many as the GPU budget allows; a service of one component.
ReplicaCount within_budget(ReplicaCount wanted, std::int64_t gpus_per_engine, std::int64_t max_gpu_budget,
                           ReplicaCount min_endpoint);

struct PrefillDecode {
  ReplicaCount prefill = 0, decode = 0;
  friend bool operator==(const PrefillDecode&, const PrefillDecode&) = default;
};
/// Both shrink by the same share; (0, 0) where not even the least of both fits.
PrefillDecode within_budget(PrefillDecode wanted, std::int64_t prefill_gpus, std::int64_t decode_gpus,
                            std::int64_t max_gpu_budget, ReplicaCount min_endpoint);

}  // namespace capstan::decide::scale::dynamo
