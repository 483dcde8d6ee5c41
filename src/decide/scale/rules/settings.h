#pragma once

#include <cstdint>

#include "base/quantity.h"
#include "base/time.h"

namespace capstan::decide::scale {

/// Policy with explicit thresholds: scales up as soon as any signal crosses its upper bound, and down by a tenth when
/// all signals have stayed below their lower bounds for the cool-down. `Capstan` needs no thresholds.
struct Rules {
  /// The signals that count. Use queue depth for prefill-bound work, KV pressure for decode-bound work, and goodput for
  /// both.
  enum class ScaleOn : std::uint8_t { all, queue, kv, latency, goodput };
  ScaleOn scale_on = ScaleOn::all;
  RequestCount waiting_above = 5;           ///< waiting requests, mean over the serving replicas
  RequestCount waiting_below = 0;           ///< lower bound of the same mean, inclusive
  std::int64_t kv_above_ppm = 850'000;      ///< share of the KV memory in use, mean over the serving replicas
  std::int64_t kv_below_ppm = 300'000;      ///< lower bound of the same share, exclusive
  std::int64_t latency_below_percent = 80;  ///< lower bound, percent of the SLO's bound; the upper bound is the SLO's
  std::int64_t goodput_below_ppm = 0;  ///< share of tokens from replicas that hold the SLO; 0: the SLO's attainment
  Duration cool_down = std::chrono::minutes(5);
  Duration sync_period = std::chrono::seconds(15);
  friend bool operator==(const Rules&, const Rules&) = default;
};

}  // namespace capstan::decide::scale
