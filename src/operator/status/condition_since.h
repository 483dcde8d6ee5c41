#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/common_views.h"
#include "kube/wall_time.h"

namespace capstan::op {

/// Returns the time since which a condition has its state: True, False or, if it is neither, Unknown. If the written
/// condition has the same state, its time is kept.
inline std::string condition_since(const std::vector<kube::Condition>& written, std::string_view type, bool is_true,
                                   bool is_false, kube::WallTime now) {
  const kube::Condition* before = kube::find_condition(written, type);
  const bool same =
      before != nullptr && before->since.is_set() && before->is_true == is_true && before->is_false == is_false;
  return kube::wall_time_seconds(same ? before->since : now);
}

}  // namespace capstan::op
