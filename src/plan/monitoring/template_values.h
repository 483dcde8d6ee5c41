#pragma once

#include <expected>
#include <map>
#include <string>
#include <string_view>

#include "plan/fleet.h"
#include "plan/spec/spec.h"

namespace capstan::plan {

/// The value of each variable of a query in schema/monitoring.yaml.
using TemplateValues = std::map<std::string, std::string, std::less<>>;

/// Replaces every variable of a query.
/// @return the query, or the name of a variable without a value: the engine or the spec does not give it
std::expected<std::string, std::string> expand(std::string_view query, const TemplateValues& values);

/// Returns the values of a service: its engine's metrics with a selector of its pods, its bounds, and the limits
/// of the plan.
TemplateValues template_values(const PlanSpec& spec, const ServiceSpec& service, const ServicePlan& fleet);

/// Returns the name of an engine in schema/metrics.csv: "tensorrt-llm".
std::string_view engine_key(Engine engine);

}  // namespace capstan::plan
