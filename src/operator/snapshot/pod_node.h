#pragma once

#include <string>

#include "kube/pod_view.h"
#include "operator/view/cluster_view.h"
#include "operator/view/pod_groups.h"

namespace capstan::op {

/// Returns the node that a pod is bound to, or that a bind transaction in progress has chosen for it.
std::string node_of(const kube::Pod& pod);

/// Returns the node on which a pod takes room. For a pod that another scheduler places, it may be the nominated node:
/// the scheduler has chosen it and waits until the pods that it preempts there have ended.
std::string node_held_by(const kube::Pod& pod, const FleetPolicy& fleet);

/// Returns true if no pod of the group is bound and a bind transaction has annotated only some of its pods. If no
/// process carries out the transaction any more, it is rolled back, and then the gang is placed as a whole. Placement
/// knows the transactions that this process still carries out.
bool is_annotated_in_part(const PodGroup& group);

}  // namespace capstan::op
