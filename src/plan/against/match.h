#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/against/existing_object.h"
#include "plan/result/plan.h"

namespace capstan::plan {

/// An object of the plan, and the existing object that stands for it.
struct ObjectMatch {
  const Section* section = nullptr;
  const Manifest* planned = nullptr;
  const ExistingObject* existing = nullptr;  ///< object that exists; null: there is none
};

/// Pairs the objects of a plan with existing ones of the same group and kind. The rules below apply in order, each to
/// the objects that are left. Optional objects of the plan pair only by name or target.
/// - Objects pair if namespace and name are the same. An object that states no namespace has the planned one.
/// - Objects pair by name if only one existing object has this name.
/// - Autoscalers pair by their target.
/// - A workload pairs with the only existing one that has the model of its service.
/// - A single planned object pairs with a single existing one of its kind, whatever their names are. Monitors do not.
/// - Workloads pair if their autoscalers do.
/// - A PodMonitor or a ServiceMonitor pairs with a monitor of either kind that scrapes the same (monitor.h).
/// @return one entry for each object of the plan, in the order of the page
std::vector<ObjectMatch> match_objects(const Plan& plan, const std::vector<ExistingObject>& existing);

/// Names of the plan and the names that exist in their place: ("chat", "llm-server").
using Renames = std::vector<std::pair<std::string, std::string>>;
Renames renames_of(const std::vector<ObjectMatch>& matches);

}  // namespace capstan::plan
