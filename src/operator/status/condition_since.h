#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/common_views.h"
#include "kube/wall_time.h"

namespace capstan::op {

/// When a condition came to be what it is, True, False or (neither) Unknown: as was written, where it was so already.
inline std::string condition_since(const std::vector<kube::Condition>& written, std::string_view type, bool is_true,
                                   bool is_false, kube::WallTime now) {
  const kube::Condition* before = kube::find_condition(written, type);
  const bool same =
      before != nullptr && before->since.is_set() && before->is_true == is_true && before->is_false == is_false;
  return kube::wall_time_seconds(same ? before->since : now);
}

}  // namespace capstan::op
