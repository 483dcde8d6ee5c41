#pragma once

#include <map>

#include "control/controller.h"
#include "operator/snapshot/snapshot_builder.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {

/// Adds the FleetPolicy's settings for SLO breaches, and for each service the time until which breaches are
/// acknowledged.
void add_slo_breach(control::Policies& policies, const ClusterView& view,
                    const std::map<model::ServiceId, ServiceOrigin>& services);

}  // namespace capstan::op
