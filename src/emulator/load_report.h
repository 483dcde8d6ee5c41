#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/quantity.h"
#include "base/time.h"
#include "sim/fleet/latency_histogram.h"

namespace capstan::emulator {

/// What a load test came to. Times are those of the load's clock; latencies count from when a request was due, not from
/// when it could be sent, so that a slow driver cannot flatter a server (it says how late it was).
struct LoadReport {
  RequestCount sent = 0;
  RequestCount completed = 0;
  RequestCount in_flight = 0;
  std::map<std::string, RequestCount> errors;   ///< by kind: "http_503", "connect", "total_timeout", "cut_short"
  std::map<std::string, std::string> messages;  ///< by kind, of the first such error; not every kind has one
  Tokens input_tokens = 0;                      ///< of completed requests
  Tokens output_tokens = 0;                     ///< of completed requests
  sim::LatencyHistogram ttft;
  sim::LatencyHistogram tpot;  ///< mean of a request, of those with two tokens or more
  sim::LatencyHistogram e2e;
  sim::LatencyHistogram late;  ///< sent after it was due
  Duration elapsed{};          ///< from the start to the last end

  RequestCount failed() const;
};

std::string render_text(const LoadReport& report);
std::string render_json(const LoadReport& report);

}  // namespace capstan::emulator
