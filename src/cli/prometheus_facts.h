#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "explain/signal_path.h"

// Questions to a server with Prometheus' HTTP API, and what its answers say about the signals of a service.
namespace capstan::cli {

/// Returns the address of an instant query.
std::string query_url(const std::string& server, std::string_view query);

/// Asks whether the scrape targets of a namespace are up.
std::string targets_query(std::string_view ns);
/// Asks for the requests that the endpoint picker of the gateway holds, by model. It has two names, by version.
std::string gateway_query(std::string_view ns);
/// Asks for the GPU duty cycle of each pod, in percent. DCGM_FI_PROF_GR_ENGINE_ACTIVE replaces DCGM_FI_DEV_GPU_UTIL
/// where that is missing, as on MIG devices. Prometheus renames the exporter's label "pod" to "exported_pod" unless
/// honorLabels is set.
std::string gpu_duty_query(std::string_view ns);

/// Counts the targets that are up and down.
void count_targets(const std::string& body, explain::PrometheusFacts& server);
/// Returns the requests that wait at the gateway for a model. Series without a model count for every model. Returns
/// nothing if there is no such series, or if the answer cannot be read.
std::optional<std::int64_t> gateway_waiting(const std::string& body, std::string_view model);
/// Returns the GPU duty cycle by pod, in percent. Pods without a usable value are left out.
std::map<std::string, std::int64_t> gpu_duty(const std::string& body);

}  // namespace capstan::cli
