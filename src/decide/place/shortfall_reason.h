#pragma once

#include <optional>

#include "decide/place/fit.h"
#include "decide/place/place.h"
#include "model/reason.h"

namespace capstan::decide::place {

/// Returns the reason for which a gang has no room. If enough GPUs are free in one domain, the reason names what
/// prevents their use: another resource, labels or taints of the nodes, or GPUs that are scattered over nodes. Nodes
/// are visited only where enough GPUs are free.
/// @param request  the request for which no room was found, at the level that the gang requires
/// @param lack     the shortfall of the gang
model::Reason reason_of_shortfall(const Rooms& rooms, const Request& request, const Shortfall& lack);

/// Returns the reason for a gang in which the pods with the most GPUs have room, but some pods of another set have
/// none. Also returns a reason for a gang that needs no GPUs and lacks room. Otherwise returns no value.
std::optional<model::Reason> reason_of_other_set(const Shortfall& lack);

/// Returns true for a reason of reason_of_shortfall() that names another cause than too few free GPUs.
inline bool has_unusable_gpus(const model::Reason& why) {
  using enum model::ReasonCode;
  return why.code == resource_short || why.code == nodes_exclude_pods || why.code == gpus_scattered ||
         why.code == pod_set_short || why.code == pods_kept_apart;
}

}  // namespace capstan::decide::place
