#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/objects/names.h"
#include "signals/metric_catalog.h"
#include "signals/signal_name.h"

// The metrics of an engine, and the labels by which a query selects one service. Scalers, rules of prometheus-adapter,
// dashboards and alerts take them from here, so that all of them read the same series.
namespace capstan::plan {

using SeriesLabels = std::vector<std::pair<std::string, std::string>>;

/// A metric of an engine, and labels that its series must have.
struct EngineMetric {
  std::string metric{};
  SeriesLabels where{};
  signals::MetricKind kind = signals::MetricKind::gauge;
  double scale = 1;  ///< microseconds per unit, for a metric that is a time
};

/// Returns the metric of a signal from schema/metrics.csv, or nothing if the engine has none. Of several metrics,
/// returns one that all versions of the engine have, or else the newest.
std::optional<EngineMetric> find_metric(Engine engine, signals::SignalName signal);

/// The gauges that scalers read, and the port and path at which the engine serves them.
struct EngineMetrics {
  EngineMetric waiting{};
  EngineMetric running{};
  EngineMetric kv_usage{};  ///< 0 to 1
  std::string_view port = kPort;
  std::string_view path = "/metrics";
};

/// Returns the gauges of an engine. Every engine has them.
EngineMetrics engine_metrics(Engine engine);

/// Returns the labels that the series of a role have, because the PodMonitor copies the labels of the pods: namespace,
/// app_kubernetes_io_name and, for disaggregated services, capstan_dev_role. A scenario that runs the manifests states
/// them as `scale.labels`.
SeriesLabels series_labels(const PlanSpec& spec, const ServiceSpec& service, model::Role role);

/// Returns the pattern of the names of a metric with two spellings: SGLang exports "sglang:num_queue_reqs", and its
/// router exports the same metric as "sglang_num_queue_reqs". Empty for a metric with one name.
std::string name_pattern(const EngineMetric& metric, std::string_view suffix = {});

/// Returns `vllm:num_requests_waiting{namespace="llm",app_kubernetes_io_name="chat"}`, which matches all spellings.
/// @param suffix  suffix of the name: "_bucket" for a histogram
std::string selector_text(const EngineMetric& metric, const SeriesLabels& labels, std::string_view suffix = {});

/// Returns the name under which prometheus-adapter offers a metric: "vllm_num_requests_waiting". The metrics API allows
/// no colon.
std::string adapted_name(const EngineMetric& metric);

/// Returns the name under which prometheus-adapter offers the rate of a counter: "vllm_generation_tokens".
std::string adapted_rate_name(const EngineMetric& counter);

/// Returns the PodMonitor that scrapes the pods of a service, and copies the labels of the pods to their series.
Yaml pod_monitor(const PlanSpec& spec, const ServiceSpec& service);

}  // namespace capstan::plan
