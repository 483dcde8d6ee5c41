#pragma once

#include <cstdint>

#include "base/time.h"

namespace capstan::decide::scale {

/// Settings of Capstan's own policy. Every setting has a default: the service's model, GPU and SLO suffice.
struct Capstan {
  Duration sync_period = std::chrono::seconds(5);
  std::int64_t attainment_ppm = 0;  ///< share of requests that must meet the SLO; 0: as stated in the service's SLO
  /// Condition under which the last replicas of a service with a minimum of 0 are stopped.
  enum class ScaleToZero : std::uint8_t {
    within_slo,  ///< the requests that a cold start delays fit the SLO's error budget; else some replicas stay warm
    after_idle,  ///< the service was idle for long enough; the first requests then wait for a cold start
  };
  ScaleToZero to_zero = ScaleToZero::within_slo;
  friend bool operator==(const Capstan&, const Capstan&) = default;
};

}  // namespace capstan::decide::scale
