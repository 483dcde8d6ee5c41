#pragma once

#include <vector>

#include "plan/against/difference.h"
#include "plan/against/match.h"

namespace capstan::plan {

/// An existing autoscaler that should be deleted, because another one has the same target.
struct DoubleScaler {
  const ExistingObject* deleted = nullptr;
  const ExistingObject* stays = nullptr;
};

/// Returns the autoscalers to delete. Of several autoscalers with the same target, the one that matches the plan's
/// choice stays, or else the first that matches another object of the plan. Autoscalers of targets that the plan does
/// not scale, HPAs that KEDA made, and files that the plan itself wrote are not deleted.
std::vector<DoubleScaler> double_scalers(const std::vector<ObjectMatch>& matches,
                                         const std::vector<ExistingObject>& existing);

/// Returns true if an existing autoscaler that the plan does not delete has this workload as its target. Files that the
/// plan itself wrote do not count: they contain all alternatives, of which the user applies at most one.
bool is_scaled(const ExistingObject& workload, const std::vector<ObjectMatch>& matches,
               const std::vector<ExistingObject>& existing);

/// Returns the advice to delete `scaler.deleted`.
Difference delete_scaler(const DoubleScaler& scaler);

}  // namespace capstan::plan
