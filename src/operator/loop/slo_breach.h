#pragma once

#include <map>

#include "control/controller.h"
#include "operator/snapshot/snapshot_builder.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {

/// Adds what the FleetPolicy says of broken promises, and until when each service's breaches are acknowledged.
void add_slo_breach(control::Policies& policies, const ClusterView& view,
                    const std::map<model::ServiceId, ServiceOrigin>& services);

}  // namespace capstan::op
