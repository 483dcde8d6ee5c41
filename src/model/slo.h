#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace capstan::model {

/// What a user is promised. A request is *met* when it completes and every bound that is set holds for it.
struct Slo {
  Duration ttft{};                         ///< time to first token, from the client's first attempt; 0 = no bound
  Duration tpot{};                         ///< mean time per output token after the first; 0 = no bound
  Duration e2e{};                          ///< whole request; 0 = no bound
  std::uint32_t attainment_ppm = 990'000;  ///< the share of requests that must be met
  /// A prompt may always take so many times as long as a replica that does nothing else needs for it, none of it
  /// cached: then the bound on TTFT is the longer of the two. Thousandths; 0 = `ttft` for every prompt.
  std::uint32_t ttft_prefills_milli = 0;

  bool scales_with_prompt() const { return ttft > Duration{} && ttft_prefills_milli > 0; }
  /// Of a prompt for which an idle replica needs `alone`.
  Duration ttft_of(Duration alone) const {
    return scales_with_prompt() ? std::max(ttft, alone / 1000 * ttft_prefills_milli) : ttft;
  }
  /// The longest wait in an engine's queue that makes no first token late, whatever the prompt. Where k times its own
  /// prefill is promised too, it is shortest for the prompt whose prefill takes `ttft` / k; a quarter of that goes to
  /// the step which computes it, as that holds parts of other prompts.
  Duration queue_time() const {
    if (!scales_with_prompt() || ttft_prefills_milli <= 1000) return ttft;
    return (ttft - ttft / ttft_prefills_milli * 1000) * 3 / 4;
  }
};

}  // namespace capstan::model
