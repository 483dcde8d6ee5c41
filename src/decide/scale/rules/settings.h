#pragma once

#include <cstdint>

#include "base/quantity.h"
#include "base/time.h"

namespace capstan::decide::scale {

/// Thresholds that a person can read: up as soon as any signal crosses its upper bound, down by a tenth when all have
/// stayed below their lower ones for a while. For who prefers that to a policy which learns; `Capstan` needs none of
/// it.
struct Rules {
  /// Which signals have a say. Queue depth is the signal of work bound by prompts, KV pressure that of work bound by
  /// answers, goodput the composite for both.
  enum class ScaleOn : std::uint8_t { all, queue, kv, latency, goodput };
  ScaleOn scale_on = ScaleOn::all;
  RequestCount waiting_above = 5;           ///< requests that wait, mean over the replicas that serve
  RequestCount waiting_below = 0;           ///< no more than this counts as below
  std::int64_t kv_above_ppm = 850'000;      ///< of the KV memory, mean over the replicas that serve
  std::int64_t kv_below_ppm = 300'000;      ///< below it
  std::int64_t latency_below_percent = 80;  ///< of the SLO's bounds; above is above the bound itself
  std::int64_t goodput_below_ppm = 0;       ///< tokens from replicas that hold the SLO; 0: its attainment
  Duration cool_down = std::chrono::minutes(5);
  Duration sync_period = std::chrono::seconds(15);
  friend bool operator==(const Rules&, const Rules&) = default;
};

}  // namespace capstan::decide::scale
