#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/against/existing_object.h"
#include "plan/plan.h"

namespace capstan::plan {

/// An object of the plan, and the existing object that stands for it.
struct ObjectMatch {
  const Section* section = nullptr;
  const Manifest* planned = nullptr;
  const ExistingObject* existing = nullptr;  ///< object that exists; null: there is none
};

/// Pairs the objects of a plan with existing ones of the same group and kind. Objects pair by namespace and name; an
/// object that states no namespace has the planned one. Of the objects that are left, autoscalers pair by their target,
/// a workload pairs with the only one that has the model of its service, and a single planned object pairs with a
/// single existing one of its kind, whatever their names are. Optional objects of the plan pair only by name or target.
/// Last, workloads pair if their autoscalers do. A PodMonitor or a ServiceMonitor pairs by name or by what it selects
/// (monitor.h), so the existing object may be of the other of these two kinds.
/// @return one entry for each object of the plan, in the order of the page
std::vector<ObjectMatch> match_objects(const Plan& plan, const std::vector<ExistingObject>& existing);

/// Names of the plan and the names that exist in their place: ("chat", "llm-server").
using Renames = std::vector<std::pair<std::string, std::string>>;
Renames renames_of(const std::vector<ObjectMatch>& matches);

}  // namespace capstan::plan
