#pragma once

#include <string>

#include "actuate/change.h"
#include "base/quantity.h"
#include "kube/workload_views.h"

namespace capstan::actuate {

/// Who else sets a workload's replicas and would set them back: the manager that wrote `spec.replicas` last, where it
/// is a GitOps controller, which writes again by itself, or the workload's controlling
/// owner. Empty: nobody. A person's `kubectl scale` and an installer's first write are nobody's in this sense.
std::string other_owner(const kube::Workload& workload);

/// Sees that nobody else owns the target's replicas; refused with `replicas_owned` where somebody does.
Change check_owner(const Ref& target);

/// Sets the target's replicas through /scale. Refused with `replicas_changed` where they are neither what the decision
/// saw nor what it wants.
Change set_replicas(const Ref& target, ReplicaCount seen, ReplicaCount wanted);

}  // namespace capstan::actuate
