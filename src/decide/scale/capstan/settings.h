#pragma once

#include <cstdint>

#include "base/time.h"

namespace capstan::decide::scale {

/// Settings of Capstan's own policy. Every setting has a default: the service's model, GPU and SLO suffice.
struct Capstan {
  Duration sync_period = std::chrono::seconds(5);
  std::int64_t attainment_ppm = 0;  ///< share of requests that must meet the SLO; 0: as stated in the service's SLO
  /// When the last replicas are stopped, if the minimum is 0.
  enum class ToZero : std::uint8_t {
    within_slo,  ///< if the requests that a cold start delays fit the SLO's error budget; else some replicas stay warm
    after_idle,  ///< after a sufficient idle time: the first requests wait for a cold start
  };
  ToZero to_zero = ToZero::within_slo;
  friend bool operator==(const Capstan&, const Capstan&) = default;
};

}  // namespace capstan::decide::scale
