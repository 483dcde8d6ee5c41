#pragma once

#include <vector>

#include "plan/result/plan.h"

namespace capstan::plan {

/// Returns the PriorityClass of balloon pods. Its priority is below that of pods without a PriorityClass.
Yaml balloon_priority_class();

/// Returns a Deployment of pods of low priority that hold the GPUs of one replica of a role, so that its node is there
/// before the replica is. The scheduler of the GPU pods places them too.
Yaml balloon_deployment(const PlanSpec& spec, const ServiceSpec& service, const RoleFleet& role);

/// Returns a CapacityBuffer for the same GPUs, with its PodTemplate, for a node autoscaler that supports it.
std::vector<Yaml> capacity_buffer_objects(const PlanSpec& spec, const ServiceSpec& service, const RoleFleet& role);

}  // namespace capstan::plan
