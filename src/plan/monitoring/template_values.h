#pragma once

#include <expected>
#include <map>
#include <string>
#include <string_view>

#include "plan/result/plan_facts.h"

namespace capstan::plan {

/// The value of each variable of a query in schema/monitoring.yaml.
using TemplateValues = std::map<std::string, std::string, std::less<>>;

/// Replaces every variable of a query.
/// @return the query, or the name of a variable without a value: the engine or the spec does not give it
std::expected<std::string, std::string> expand(std::string_view query, const TemplateValues& values);

/// Returns the values of a service: its engine's metrics with a selector of its pods, and its bounds.
TemplateValues service_values(const PlanSpec& spec, const ServiceSpec& service);

/// Returns the values of the cluster: its node pools, their cost and the limits of the plan.
TemplateValues cluster_values(const PlanFacts& facts);

/// Returns true if the variable comes from a bound or limit that the spec may leave out. The other variables that may
/// lack a value come from the engine's metrics and from prices.
bool is_optional_in_spec(std::string_view variable);

/// Returns why a variable has no value: "the spec has no limits.usd_per_hour".
std::string missing_words(std::string_view variable, std::string_view engine);

/// Returns a pattern for the names of a service's pods. The pods of its cache, of its balloons and of a service with a
/// longer name do not match it. There is one exception: the LeaderWorkerSet "chat-2" has a pod "chat-2-0", and the
/// pattern of the LeaderWorkerSet "chat" matches this name.
std::string pod_pattern(const ServiceSpec& service);

}  // namespace capstan::plan
