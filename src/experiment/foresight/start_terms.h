#pragma once

#include "base/time.h"
#include "scenario/scenario.h"

// What a replica's start takes in a scenario: at least, and as long as it is wise to plan for.
namespace capstan::experiment {

/// The replica's own chain, from bound to ready, that no start is shorter than: its image there, its weights from the
/// nearest place that it can have them from, alone on their links. A log-normal step is taken at one in a thousand
/// million.
Duration shortest_start(const scenario::Scenario& scenario);

/// From a launch to a node that takes pods, paid for: the least of all policies; nothing where no node can be bought.
Duration shortest_boot(const scenario::Scenario& scenario);

/// From asking for a replica to its being ready, its node included where nodes can be bought, every step at the long
/// end of its draws.
Duration lead_time(const scenario::Scenario& scenario, const scenario::PolicySpec& policy);

}  // namespace capstan::experiment
