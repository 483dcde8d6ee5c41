#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/quantity.h"
#include "base/time.h"
#include "sim/fleet/latency_histogram.h"

namespace capstan::emulator {

/// The result of a load test. Times are in the load's clock. Latencies count from the time when a request was due, not
/// when it was sent, so that a slow driver cannot make a server look faster; `send_delay` shows the delay of the
/// driver.
struct LoadReport {
  RequestCount sent = 0;
  RequestCount completed = 0;
  RequestCount in_flight = 0;
  std::map<std::string, RequestCount> errors;   ///< errors by kind: "http_503", "connect", "cut_short" …
  std::map<std::string, std::string> messages;  ///< message of the first error of a kind; some kinds have none
  Tokens input_tokens = 0;                      ///< prompt tokens of completed requests
  Tokens output_tokens = 0;                     ///< output tokens of completed requests
  sim::LatencyHistogram ttft;
  sim::LatencyHistogram tpot;  ///< mean time per token after the first, of requests with two tokens or more
  sim::LatencyHistogram e2e;
  sim::LatencyHistogram send_delay;  ///< time between a request's due time and its sending
  Duration elapsed{};                ///< time from the start to the end of the last request

  RequestCount failed() const;
};

std::string render_text(const LoadReport& report);
std::string render_json(const LoadReport& report);

}  // namespace capstan::emulator
