#pragma once

#include <cstdint>

#include "base/time.h"

namespace capstan::decide::scale {

/// Capstan's own policy. Model, GPU and SLO are enough: nothing here has to be set.
struct Capstan {
  Duration sync_period = std::chrono::seconds(5);
  std::int64_t attainment_ppm = 0;  ///< share of the requests to be met; 0: what the service's SLO says
  friend bool operator==(const Capstan&, const Capstan&) = default;
};

}  // namespace capstan::decide::scale
