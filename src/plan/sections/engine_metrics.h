#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/names.h"
#include "signals/signal_name.h"

// The metrics of an engine by which a scaler sees its load, and the labels by which a query selects one service.
namespace capstan::plan {

using SeriesLabels = std::vector<std::pair<std::string, std::string>>;

/// A gauge of an engine: a metric, and labels that the series must have.
struct EngineGauge {
  std::string metric{};
  SeriesLabels where{};
};

/// The gauges that scalers read, and the port and path at which the engine serves them.
struct EngineMetrics {
  EngineGauge waiting{};
  EngineGauge running{};
  EngineGauge kv_usage{};  ///< 0 to 1
  std::string_view port = kPort;
  std::string_view path = "/metrics";
};

/// Returns the gauges of an engine from schema/metrics.csv. It uses metrics that all versions of the engine have, where
/// there is a choice.
EngineMetrics engine_metrics(Engine engine);

/// Returns the labels that the series of a role have, because the PodMonitor copies the labels of the pods: namespace,
/// app_kubernetes_io_name and, for disaggregated services, capstan_dev_role. A scenario that runs the manifests states
/// them as `scale.labels`.
SeriesLabels series_labels(const PlanSpec& spec, const ServiceSpec& service, model::Role role);

/// Returns `vllm:num_requests_waiting{namespace="llm",app_kubernetes_io_name="chat"}`. SGLang's metrics have two
/// spellings, and the selector of one matches both.
std::string selector_text(const EngineGauge& gauge, const SeriesLabels& labels);

/// Returns the name under which prometheus-adapter offers a metric: "vllm_num_requests_waiting". The metrics API allows
/// no colon.
std::string adapted_name(const EngineGauge& gauge);

/// Returns the PodMonitor that scrapes the pods of a service, and copies the labels of the pods to their series.
Yaml pod_monitor(const PlanSpec& spec, const ServiceSpec& service);

}  // namespace capstan::plan
