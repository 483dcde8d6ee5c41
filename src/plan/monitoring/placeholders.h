#pragma once

#include <expected>
#include <map>
#include <string>
#include <string_view>

#include "plan/fleet.h"
#include "plan/spec/spec.h"

namespace capstan::plan {

/// Texts by placeholder, without the braces.
using Placeholders = std::map<std::string, std::string, std::less<>>;

/// Replaces every placeholder of a query.
/// @return the name of a placeholder that has no text, which is what the engine or the cluster lacks
std::expected<std::string, std::string> expand(std::string_view query, const Placeholders& placeholders);

/// Returns the placeholders of a service: its engine's metrics with a selector of its pods, its bounds, and the limits
/// of the plan.
Placeholders placeholders_of(const PlanSpec& spec, const ServiceSpec& service, const ServicePlan& fleet);

/// Returns the name of an engine in schema/metrics.csv: "tensorrt-llm".
std::string_view engine_key(Engine engine);

}  // namespace capstan::plan
