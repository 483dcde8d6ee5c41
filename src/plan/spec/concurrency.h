#pragma once

#include <string>

#include "plan/spec/spec.h"

namespace capstan::plan {

/// The mean time of a request from arrival to its last token.
struct TimeInFlight {
  double seconds = 0;
  std::string arithmetic{};  ///< "1 s (half of the bound on TTFT) + 299 x 22 ms (one step of ...)"
};

/// Estimates the time in flight, with which Little's law turns a concurrency into a rate: half of the bound on TTFT,
/// then one step of the engine for each further token. The step is that of a replica with as many sequences as its SLO
/// allows, on the machine with the lowest price per token. Without a candidate that reaches the SLO, half of the bound
/// on TPOT stands for the step.
TimeInFlight time_in_flight(const ServiceSpec& service, const PlanSpec& spec);

}  // namespace capstan::plan
