#pragma once

#include <string>

#include "plan/spec/spec.h"

namespace capstan::plan {

/// The mean time of a request from arrival to its last token.
struct TimeInFlight {
  double seconds = 0;
  std::string arithmetic{};  ///< "1 s (half of the bound on TTFT) + 299 tokens x 22 ms (step of ...)"
};

/// Estimates the time of a request in flight: half of the bound on TTFT, then one engine step for each further token.
/// By Little's law, concurrency divided by this time is the request rate. The step time is that of the machine with the
/// lowest price per token, at the largest batch within the SLO. If no candidate reaches the SLO, half of the bound on
/// TPOT replaces the step time. Without these bounds, 1 s to the first token and steps of 30 ms are assumed.
TimeInFlight time_in_flight(const ServiceSpec& service, const PlanSpec& spec);

}  // namespace capstan::plan
