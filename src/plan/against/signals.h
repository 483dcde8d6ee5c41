#pragma once

#include <string>
#include <vector>

#include "manifest/yaml.h"
#include "plan/objects/yaml.h"

// The metrics that an HPA or a ScaledObject scales on.
namespace capstan::plan {

/// Returns the names of the metrics that an element of `spec.metrics` of an HPA or of `spec.triggers` of a ScaledObject
/// reads, sorted: {"vllm:num_requests_waiting"}. A trigger without a query gives its type. The result is empty if the
/// element is neither a metric nor a trigger.
std::vector<std::string> scaler_metrics(const Yaml& element);

/// Returns why a metric that the plan does not use should be removed from an autoscaler, as a sentence without a full
/// stop.
/// @param metrics   metrics of the element to remove
/// @param planned   metrics of each element that the plan has for this autoscaler
/// @param is_alone  true if the autoscaler had no other metric
std::string why_remove(const std::vector<std::string>& metrics, const std::vector<std::vector<std::string>>& planned,
                       bool is_alone);

}  // namespace capstan::plan
