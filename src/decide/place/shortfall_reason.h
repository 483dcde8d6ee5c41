#pragma once

#include "decide/place/fit.h"
#include "decide/place/place.h"
#include "model/reason.h"

namespace capstan::decide::place {

/// Returns the reason for which a gang has no room. If enough GPUs are free in one domain, the reason names what
/// prevents their use: another resource, labels or taints of the nodes, or GPUs that are scattered over nodes. No node
/// is visited unless another resource is short.
/// @param request  the request for which no room was found, at the level that the gang requires
/// @param lack     the shortfall of the gang
model::Reason reason_of_shortfall(const Rooms& rooms, const Request& request, const Shortfall& lack);

/// Returns true for a reason of reason_of_shortfall() that names another cause than too few free GPUs.
inline bool has_unusable_gpus(const model::Reason& why) {
  using enum model::ReasonCode;
  return why.code == resource_short || why.code == nodes_exclude_pods || why.code == gpus_scattered;
}

}  // namespace capstan::decide::place
