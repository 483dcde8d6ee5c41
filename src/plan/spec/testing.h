#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "plan/spec/spec.h"

namespace capstan::plan {

/// Returns the value of a default that a plan used; empty if the spec states the value.
inline std::string default_of(const PlanSpec& spec, std::string_view path) {
  const auto found = std::ranges::find(spec.defaults, path, &DefaultUsed::path);
  return found == spec.defaults.end() ? "" : found->value;
}

}  // namespace capstan::plan
