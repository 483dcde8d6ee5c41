#include "peers/formula/dynamo.h"

#include <algorithm>
#include <cmath>

namespace capstan::peers::dynamo {
namespace {

struct Bounds {
  double up, down;
};

Bounds kv_bounds(Target target) { return target == Target::latency ? Bounds{0.4, 0.1} : Bounds{1.0, 0.6}; }
Bounds queue_bounds(Target target) { return target == Target::latency ? Bounds{0.1, 0.0} : Bounds{1.0, 0.1}; }

ReplicaCount workers_of(std::span<const Engine> engines) { return static_cast<ReplicaCount>(engines.size()); }

/// Returns the value to store: 0 for a non-finite one; empty for zeros before the first load.
std::optional<double> stored_value(double value, bool& seen) {
  if (!std::isfinite(value)) value = 0;
  if (value == 0 && !seen) return std::nullopt;
  seen = true;
  return value;
}

}  // namespace

void ConstantPredictor::add(double value) { last_ = stored_value(value, seen_).value_or(last_); }

/// Implements the filter's predict(): x = F x, P = F P F' + Q with F = [[1, 1], [0, 1]].
void KalmanPredictor::step() {
  level_ += trend_;
  const double p_level = (p_level_ + p_cross_) + (p_cross_ + p_trend_);
  p_level_ = p_level + std::max(1e-12, settings_.q_level);
  p_cross_ = p_cross_ + p_trend_;
  p_trend_ = p_trend_ + std::max(1e-12, settings_.q_trend);
}

/// Implements update() in Joseph's form, as in filterpy: P = (I - K H) P (I - K H)' + K R K'.
void KalmanPredictor::add(double value) {
  const bool first = !seen_;
  const std::optional<double> z = stored_value(value, seen_);
  if (!z) return;
  if (first) {
    level_ = *z;
    trend_ = 0;
  } else {
    if (!stepped_) step();
    const double r = std::max(1e-9, settings_.r);
    const double s = p_level_ + r;
    const double k_level = p_level_ / s, k_trend = p_cross_ / s;
    const double error = *z - level_;
    level_ += k_level * error;
    trend_ += k_trend * error;
    const double left = 1 - k_level;
    const double p_level = left * p_level_ * left + k_level * r * k_level;
    const double p_cross = left * (p_cross_ - k_trend * p_level_) + k_level * r * k_trend;
    const double p_trend =
        (p_trend_ - k_trend * p_cross_) - k_trend * (p_cross_ - k_trend * p_level_) + k_trend * r * k_trend;
    p_level_ = p_level, p_cross_ = p_cross, p_trend_ = p_trend;
  }
  stepped_ = false;
}

double KalmanPredictor::predict() {
  if (!seen_) return 0;
  if (!stepped_) step();
  stepped_ = true;
  return level_;
}

std::optional<ReplicaCount> follow_kv(const LoadSettings& settings, std::span<const Engine> engines,
                                      double max_kv_tokens, bool with_prefill) {
  if (engines.empty() || !(max_kv_tokens > 0)) return std::nullopt;
  const Bounds bounds = kv_bounds(settings.target);
  const auto use = [&](const Engine& engine) {
    return (engine.scheduled_kv_tokens + engine.queued_kv_tokens + (with_prefill ? engine.queued_prefill_tokens : 0)) /
           max_kv_tokens;
  };
  const ReplicaCount workers = workers_of(engines);
  if (std::ranges::any_of(engines, [&](const Engine& engine) { return use(engine) > bounds.up; })) return workers + 1;
  const bool all_low = std::ranges::all_of(engines, [&](const Engine& engine) { return use(engine) < bounds.down; });
  if (workers > 1 && all_low) return std::max(workers - 1, settings.min_endpoint);
  return std::nullopt;
}

std::optional<ReplicaCount> follow_queue(const LoadSettings& settings, std::span<const Engine> engines,
                                         double context_length) {
  if (engines.empty() || !(context_length > 0)) return std::nullopt;
  const Bounds bounds = queue_bounds(settings.target);
  const auto queue = [&](const Engine& engine) { return engine.queued_prefill_tokens / context_length; };
  const ReplicaCount workers = workers_of(engines);
  if (std::ranges::any_of(engines, [&](const Engine& engine) { return queue(engine) >= bounds.up; }))
    return workers + 1;
  const bool all_low = std::ranges::all_of(engines, [&](const Engine& engine) {
    return settings.target == Target::latency ? queue(engine) <= bounds.down : queue(engine) < bounds.down;
  });
  if (workers > 1 && all_low) return std::max(workers - 1, settings.min_endpoint);
  return std::nullopt;
}

std::optional<ReplicaCount> follow_latency(const LoadSettings& settings, std::span<const double> estimates_ms,
                                           double sla_ms, ReplicaCount workers, double sensitivity_percent) {
  if (estimates_ms.empty()) return std::nullopt;
  if (std::ranges::all_of(estimates_ms, [&](double estimate) { return estimate > sla_ms; })) return workers + 1;
  const double low = sla_ms * (sensitivity_percent / 100.0);
  const bool all_low = std::ranges::all_of(estimates_ms, [&](double estimate) { return estimate < low; });
  if (workers > 1 && all_low) return std::max(workers - 1, settings.min_endpoint);
  return std::nullopt;
}

std::optional<ReplicaCount> replicas_for_rate(double predicted_requests, double interval_s, double engine_rps,
                                              ReplicaCount min_endpoint) {
  if (!(interval_s > 0) || !(engine_rps > 0)) return std::nullopt;
  constexpr double kMax = 1e9;
  const double wanted = std::ceil(predicted_requests / interval_s / engine_rps);
  return std::max(static_cast<ReplicaCount>(std::clamp(wanted, 0.0, kMax)), min_endpoint);
}

std::optional<DecodeBatch> best_decode_batch(const StepTime& step, double itl_ms, double context_tokens,
                                             double output_tokens, std::int64_t max_kv_tokens, std::int64_t max_seqs) {
  if (!(context_tokens > 0) || !(output_tokens > 0) || !(itl_ms > 0)) return std::nullopt;
  constexpr double kMaxBatch = 1e9;
  const auto seconds = [&](std::int64_t batch) {
    const auto requests = static_cast<double>(batch);
    return std::max(1e-6,
                    step.base_s + step.per_request_s * requests + step.per_kv_token_s * (requests * context_tokens));
  };
  const auto by_kv =
      static_cast<std::int64_t>(std::clamp(static_cast<double>(max_kv_tokens) / context_tokens, 1.0, kMaxBatch));
  std::int64_t low = 1, high = max_seqs > 0 ? std::min(by_kv, max_seqs) : by_kv;
  std::int64_t best = 1;
  if (seconds(1) * 1000.0 > itl_ms) high = 0;
  while (low <= high) {
    const std::int64_t middle = (low + high) / 2;
    if (seconds(middle) * 1000.0 <= itl_ms) {
      best = middle;
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  return DecodeBatch{best, seconds(best) * 1000.0, static_cast<double>(best) / (output_tokens * seconds(best))};
}

ReplicaCount within_budget(ReplicaCount wanted, std::int64_t gpus_per_engine, std::int64_t max_gpu_budget,
                           ReplicaCount min_endpoint) {
  if (max_gpu_budget < 0 || gpus_per_engine <= 0 || wanted * gpus_per_engine <= max_gpu_budget) return wanted;
  if (min_endpoint * gpus_per_engine > max_gpu_budget) return 0;
  return std::max(min_endpoint, max_gpu_budget / gpus_per_engine);
}

PrefillDecode within_budget(PrefillDecode wanted, std::int64_t prefill_gpus, std::int64_t decode_gpus,
                            std::int64_t max_gpu_budget, ReplicaCount min_endpoint) {
  if (max_gpu_budget < 0 || prefill_gpus <= 0 || decode_gpus <= 0) return wanted;
  const std::int64_t total = wanted.prefill * prefill_gpus + wanted.decode * decode_gpus;
  if (total <= max_gpu_budget) return wanted;
  if (max_gpu_budget < min_endpoint * (prefill_gpus + decode_gpus)) return {0, 0};
  const double share = static_cast<double>(max_gpu_budget) / static_cast<double>(total);
  const std::int64_t most = (max_gpu_budget - min_endpoint * decode_gpus) / prefill_gpus;
  const auto scaled = static_cast<ReplicaCount>(std::floor(static_cast<double>(wanted.prefill) * share));
  const ReplicaCount prefill = std::max(min_endpoint, std::min(most, scaled));
  return {prefill, std::max(min_endpoint, (max_gpu_budget - prefill * prefill_gpus) / decode_gpus)};
}

}  // namespace capstan::peers::dynamo
