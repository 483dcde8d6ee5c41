#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "explain/signal_path.h"

// Queries for a server with Prometheus' HTTP API, and the facts about a service's signals that its answers contain.
namespace capstan::op {

/// Returns the URL of an instant query.
std::string query_url(const std::string& server, std::string_view query);

/// Returns the query for the state of a namespace's scrape targets.
std::string targets_query(std::string_view ns);
/// Returns the query that has a row if the server has series with these labels, whatever their metric.
/// @param matchers  label matchers without braces: `namespace="chat"`
std::string series_query(std::string_view matchers);
/// Returns the query for the requests that the endpoint picker of the gateway holds, by model. The name of the metric
/// depends on the version of the gateway.
std::string gateway_query(std::string_view ns);
/// Returns the query for the GPU duty cycle of each pod, in percent. DCGM_FI_PROF_GR_ENGINE_ACTIVE replaces
/// DCGM_FI_DEV_GPU_UTIL where that is missing, as on MIG devices. Prometheus renames the exporter's label "pod" to
/// "exported_pod" unless honorLabels is set.
std::string gpu_duty_query(std::string_view ns);

/// Counts the targets that are up and down.
void count_targets(const std::string& body, explain::PrometheusFacts& server);
/// Notes whether the server has series of the service. An answer that cannot be read changes nothing.
void note_series(const std::string& body, explain::PrometheusFacts& server);
/// Returns the requests that wait at the gateway for a model. Series without a model count for every model. Returns
/// nothing if there is no such series, or if the answer cannot be read.
std::optional<std::int64_t> gateway_waiting(const std::string& body, std::string_view model);
/// Returns the GPU duty cycle by pod, in percent. Pods without a usable value are left out.
std::map<std::string, std::int64_t> gpu_duty(const std::string& body);

}  // namespace capstan::op
