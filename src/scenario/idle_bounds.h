#pragma once

#include <optional>
#include <string>

#include "model/slo.h"
#include "scenario/scenario.h"

namespace capstan::scenario {

/// A bound of an SLO that not even one request on an idle replica can meet.
struct ImpossibleBound {
  std::string key;     ///< "ttft" or "tpot"
  std::string reason;  ///< "6ms is shorter than ..., expected ..."
};

/// Returns a bound that is shorter than the engine's own time for one request on an idle replica; nothing if there is
/// none. The times are lower bounds: of the fastest variant, for the shortest prompt of the load, and with an engine
/// that is as much faster than its table as `engine_perturbation` allows.
std::optional<ImpossibleBound> impossible_bound(const EndpointSpec& endpoint, const model::Slo& slo);

}  // namespace capstan::scenario
