#pragma once

#include <cstdint>
#include <functional>

#include "lint/embedded.h"
#include "lint/rule.h"

// The sharing configuration of NVIDIA's device plugin: files in a ConfigMap, or in the values of the GPU operator's
// chart.
namespace capstan::lint {

/// Calls `visit` with each `timeSlicing` and `mps` section of an object's files.
void for_each_sharing(const Object& object, const std::function<void(const Value& sharing)>& visit);

/// Returns the largest number of shares of one GPU in the sharing configurations of the object's folder; 0 if it has
/// none.
std::int64_t max_shares(const Subject& s);

}  // namespace capstan::lint
