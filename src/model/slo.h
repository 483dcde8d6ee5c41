#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace capstan::model {

/// The service level objective. A request is *met* if it completes and satisfies every bound that is set.
struct Slo {
  Duration ttft{};                         ///< time to first token, from the client's first attempt; 0 = no bound
  Duration tpot{};                         ///< mean time per output token after the first; 0 = no bound
  Duration e2e{};                          ///< time of the whole request; 0 = no bound
  std::uint32_t attainment_ppm = 990'000;  ///< share of requests that must be met, millionths
  /// Scales the bound on TTFT with the prompt: the bound is the longer of `ttft` and this multiple of the time that an
  /// idle replica without a cached prefix needs for the prompt. Thousandths; 0: `ttft` for every prompt.
  std::uint32_t ttft_prefills_milli = 0;

  friend bool operator==(const Slo&, const Slo&) = default;

  bool scales_with_prompt() const { return ttft > Duration{} && ttft_prefills_milli > 0; }
  /// Returns the TTFT bound of a prompt. `alone` is the time that an idle replica needs for this prompt.
  Duration ttft_of(Duration alone) const {
    return scales_with_prompt() ? std::max(ttft, alone / 1000 * ttft_prefills_milli) : ttft;
  }
  /// Returns the longest time that a request may wait in an engine's queue. With a fixed bound on TTFT this is `ttft`:
  /// the time of the prefill is not subtracted. If the bound grows with the prompt (k times its prefill, but at least
  /// `ttft`), the prompt whose prefill takes `ttft` / k has the least time to wait: `ttft` - `ttft` / k. The result is
  /// then three quarters of this difference, because the step that computes the prompt also computes other prompts.
  Duration max_queue_time() const {
    if (!scales_with_prompt() || ttft_prefills_milli <= 1000) return ttft;
    return (ttft - ttft / ttft_prefills_milli * 1000) * 3 / 4;
  }
};

}  // namespace capstan::model
