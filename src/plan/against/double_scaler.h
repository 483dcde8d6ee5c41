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

/// Returns the autoscalers to delete. Of several with one target, the one that the plan chose stays, else the first
/// that the plan has an object for. Targets that the plan does not scale, HPAs that KEDA made, and files that the plan
/// itself wrote are left alone.
std::vector<DoubleScaler> double_scalers(const std::vector<ObjectMatch>& matches,
                                         const std::vector<ExistingObject>& existing);

/// Returns the advice to delete `scaler.deleted`.
Difference delete_scaler(const DoubleScaler& scaler);

}  // namespace capstan::plan
