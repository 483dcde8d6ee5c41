#pragma once

#include "base/time.h"
#include "scenario/scenario.h"

// The time that the start of a replica takes in a scenario: the least, and the longest that a plan allows for.
namespace capstan::experiment {

/// Returns the shortest time from bound to ready: the image is on the node, and the weights come from the nearest
/// possible place over links without other traffic. A log-normal step counts with its 1e-9 quantile.
Duration shortest_start(const scenario::Scenario& scenario);

/// Returns the shortest paid time from a launch to a node that accepts pods, under any policy; 0 if no node can be
/// bought.
Duration shortest_boot(const scenario::Scenario& scenario);

/// Returns the longest time from the decision for a replica until it is ready, with every step at the upper end of its
/// range. It includes the start of a node if nodes can be bought.
Duration lead_time(const scenario::Scenario& scenario, const scenario::PolicySpec& policy);

}  // namespace capstan::experiment
