#pragma once

#include <cstdint>

#include "base/time.h"

namespace capstan::decide::scale {

/// Capstan's own policy. Model, GPU and SLO are enough: nothing here has to be set.
struct Capstan {
  Duration sync_period = std::chrono::seconds(5);
  std::int64_t attainment_ppm = 0;  ///< share of the requests to be met; 0: what the service's SLO says
  /// When the last replicas go, where a minimum of 0 allows it.
  enum class ToZero : std::uint8_t {
    within_slo,  ///< where what a start makes late fits into what the SLO lets miss; else as many stay as that takes
    after_idle,  ///< once idle for long enough: who uses it accepts that the first requests wait for a start
  };
  ToZero to_zero = ToZero::within_slo;
  friend bool operator==(const Capstan&, const Capstan&) = default;
};

}  // namespace capstan::decide::scale
