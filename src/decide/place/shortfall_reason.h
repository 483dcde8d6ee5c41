#pragma once

#include <optional>
#include <vector>

#include "decide/place/fit.h"
#include "decide/place/place.h"
#include "model/reason.h"

namespace capstan::decide::place {

/// Returns the reason for which a gang has no room. If enough GPUs are free in one domain, the reason names what
/// prevents their use: another resource, running pods that keep the gang's pods away, labels or taints of the nodes, or
/// GPUs that are scattered over nodes. Nodes are visited only where enough GPUs are free.
/// @param request  the request for which no room was found, at the level that the gang requires
/// @param lack     the shortfall of the gang
model::Reason reason_of_shortfall(const Rooms& rooms, const Request& request, const Shortfall& lack);

/// Returns the reason for a gang in which the pods with the most GPUs have room, but some pods of another set have
/// none. The reason says so if only a required anti-affinity of running pods keeps them from nodes with room. Also
/// returns a reason for a gang that needs no GPUs and lacks room. Otherwise returns no value.
/// @param rooms  are changed during a search, and equal before and after it
/// @param sets   the requests of all sets of the gang
std::optional<model::Reason> reason_of_other_set(Rooms& rooms, std::vector<Request> sets, const Shortfall& lack);

/// Returns true for a reason of reason_of_shortfall() or reason_of_other_set() that names another cause than too few
/// free GPUs for the largest pods.
inline bool has_unusable_gpus(const model::Reason& why) {
  using enum model::ReasonCode;
  return why.code == resource_short || why.code == nodes_exclude_pods || why.code == gpus_scattered ||
         why.code == pod_set_short || why.code == pods_kept_apart || why.code == pod_set_kept_apart;
}

}  // namespace capstan::decide::place
