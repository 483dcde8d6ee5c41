#pragma once

#include <cstdint>

#include "base/time.h"

namespace capstan::model {

/// What a user is promised. A request is *met* when it completes and every bound that is set holds for it.
struct Slo {
  Duration ttft{};                         ///< time to first token, from the client's first attempt; 0 = no bound
  Duration tpot{};                         ///< mean time per output token after the first; 0 = no bound
  Duration e2e{};                          ///< whole request; 0 = no bound
  std::uint32_t attainment_ppm = 990'000;  ///< the share of requests that must be met
};

}  // namespace capstan::model
