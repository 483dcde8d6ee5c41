#pragma once

#include <array>
#include <string_view>

#include "model/workload.h"

namespace capstan::model {

/// Names of the roles in files and Kubernetes objects, in the order of `Role`.
inline constexpr std::array<std::string_view, 3> kRoleNames{"both", "prefill", "decode"};

constexpr std::string_view name(Role role) { return kRoleNames[static_cast<std::size_t>(role)]; }

}  // namespace capstan::model
