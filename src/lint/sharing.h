#pragma once

#include <cstdint>
#include <functional>

#include "lint/embedded.h"
#include "lint/rule.h"

// How the device plugin is told to share GPUs: files in a ConfigMap, or in the values of the operator's chart.
namespace capstan::lint {

/// Calls `visit` with each `timeSlicing` and `mps` of an object's files.
void each_sharing(const Object& object, const std::function<void(const Value& sharing)>& visit);

/// Into how many shares a GPU is divided at most, by what stands beside the object; 0 where nothing says it.
std::int64_t most_shares(const Subject& s);

}  // namespace capstan::lint
