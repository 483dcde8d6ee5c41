#pragma once

#include <span>

#include "decide/place/fit.h"
#include "fleet/rooms.h"

namespace capstan::decide::place {

/// Finds nodes for the pods of all sets of a gang inside one domain, or for none of them. The sets are served in their
/// order, and each set takes room that the earlier ones leave. Of several domains, the fullest one with room for all
/// pods is chosen, as best_fit() does for one set. Pods without GPUs may go to nodes of every GPU kind: to nodes
/// without GPUs first, then to nodes in use.
/// @param rooms  are changed during the search, and equal before and after it
/// @param sets   requests with equal levels, domains and nodes; the pods with the most GPUs first
Fit best_fit_of_sets(Rooms& rooms, std::span<const Request> sets);

}  // namespace capstan::decide::place
