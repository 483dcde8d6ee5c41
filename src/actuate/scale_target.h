#pragma once

#include <string>

#include "actuate/change.h"
#include "base/quantity.h"
#include "kube/workload_views.h"

namespace capstan::actuate {

/// Returns the name of another owner that would reset the replicas of a workload, or "": the controlling owner of the
/// workload, or a GitOps controller that was the last to write `spec.replicas`. People with `kubectl scale` and
/// installers are not owners, because they write only once.
std::string other_owner(const kube::Workload& workload);

/// Checks that the target's replicas have no other owner. If they have, the change is refused with `replicas_owned`.
Change check_owner(const Ref& target);

/// Sets the replicas of the target through /scale. The change is refused with `replicas_changed` if the current value
/// is neither the value at the decision nor the desired value.
Change set_replicas(const Ref& target, ReplicaCount requested_before, ReplicaCount wanted);

}  // namespace capstan::actuate
