#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/quantity.h"

/// NVIDIA Dynamo's planner: load predictors, the reactive loop, the planning loop, and the GPU budget. Source:
/// ai-dynamo/dynamo components/src/dynamo/planner/core (2026).
namespace capstan::peers::dynamo {

// Predictors. NaN and infinities count as 0. Zeros before the first load are skipped.

/// Predicts the last value.
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

/// Predicts one step ahead with a level and a trend observed through noise (local linear trend). A repeated `predict`
/// before the next value returns the same result, and the filter steps only once.
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

// The reactive loop changes by one replica at a time.

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

/// Decides for aggregated and decode engines: one more if any engine's KV use is above the upper bound, one fewer if
/// all are below the lower bound. Empty: no change or no data.
std::optional<ReplicaCount> follow_kv(const LoadSettings& settings, std::span<const Engine> engines,
                                      double max_kv_tokens, bool with_prefill);
/// Decides for prefill engines in the same way, by queued tokens divided by the context length.
std::optional<ReplicaCount> follow_queue(const LoadSettings& settings, std::span<const Engine> engines,
                                         double context_length);
/// Decides with a latency model (optimization_target sla): one more if ALL estimates are above the bound, so that a
/// single idle replica prevents it; one fewer if all are below the bound times the sensitivity.
std::optional<ReplicaCount> follow_latency(const LoadSettings& settings, std::span<const double> estimates_ms,
                                           double sla_ms, ReplicaCount workers, double sensitivity_percent);

// The planning loop.

/// Returns ceil(requests / interval / rate of one engine), at least min_endpoint; empty if no rate is known.
std::optional<ReplicaCount> replicas_for_rate(double predicted_requests, double interval_s, double engine_rps,
                                              ReplicaCount min_endpoint);
/// Result of the planner's regression on decode steps, in seconds per step.
struct StepTime {
  double base_s = 0;
  double per_request_s = 0;
  double per_kv_token_s = 0;
};
struct DecodeBatch {
  std::int64_t size = 0;
  double itl_ms = 0;
  double rps = 0;  ///< requests/s by Little's law: size / (output tokens * step time)
};
/// Returns the largest batch whose step stays within the bound and within the limits of KV cache and engine; a batch of
/// one if even that is too slow. Empty if an input is not valid.
/// @param context_tokens  KV tokens of a request: its input and half of its output
std::optional<DecodeBatch> best_decode_batch(const StepTime& step, double itl_ms, double context_tokens,
                                             double output_tokens, std::int64_t max_kv_tokens, std::int64_t max_seqs);

/// Cuts the count to the GPU budget, for a service of one component; 0 if not even the minimum fits.
ReplicaCount within_budget(ReplicaCount wanted, std::int64_t gpus_per_engine, std::int64_t max_gpu_budget,
                           ReplicaCount min_endpoint);

struct PrefillDecode {
  ReplicaCount prefill = 0, decode = 0;
  friend bool operator==(const PrefillDecode&, const PrefillDecode&) = default;
};
/// Cuts the prefill count in proportion to the GPU budget, and gives the rest of the budget to decode replicas.
/// Returns (0, 0) if not even the minimum of both fits.
PrefillDecode within_budget(PrefillDecode wanted, std::int64_t prefill_gpus, std::int64_t decode_gpus,
                            std::int64_t max_gpu_budget, ReplicaCount min_endpoint);

}  // namespace capstan::peers::dynamo
