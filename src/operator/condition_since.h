#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/common_views.h"
#include "kube/wall_time.h"

namespace capstan::op {

/// When a condition came to be True, or False, as an object's status has it: as was written, where it is so already.
inline std::string condition_since(const std::vector<kube::Condition>& written, std::string_view type, bool is_true,
                                   kube::WallTime now) {
  const kube::Condition* before = kube::find_condition(written, type);
  const bool same = before != nullptr && before->since.is_set() && (is_true ? before->is_true : before->is_false);
  return kube::wall_time_seconds(same ? before->since : now);
}

}  // namespace capstan::op
