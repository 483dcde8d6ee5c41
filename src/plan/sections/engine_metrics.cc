#include "plan/sections/engine_metrics.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "plan/monitoring/template_values.h"
#include "signals/metric_catalog.h"

namespace capstan::plan {

namespace {

using signals::MetricRow;
using signals::SignalName;

constexpr std::string_view kEveryVersion = "all";

/// Returns the metric of a signal: for vLLM the first one that every version has, or otherwise the newest.
EngineGauge gauge_of(Engine engine, SignalName signal) {
  const signals::MetricCatalog& catalog = signals::MetricCatalog::bundled();
  const auto index = catalog.engine(engine_key(engine));
  CAPSTAN_ASSERT(index.has_value());
  const MetricRow* found = nullptr;
  for (const MetricRow& row : catalog.rows()) {
    if (row.engine != *index || row.signal != signal) continue;
    if (found == nullptr || (found->versions != kEveryVersion && row.versions == kEveryVersion && row.where.empty() &&
                             engine == Engine::vllm)) {
      found = &row;
    }
  }
  CAPSTAN_ASSERT(found != nullptr);
  return {.metric = found->metric, .where = found->where};
}

/// Returns the name of a pod label as Prometheus writes it: "app_kubernetes_io_name".
std::string prometheus_label(std::string_view label) {
  std::string name(label);
  std::ranges::replace_if(name, [](char c) { return c == '.' || c == '/' || c == '-'; }, '_');
  return name;
}

}  // namespace

EngineMetrics engine_metrics(Engine engine) {
  EngineMetrics metrics{.waiting = gauge_of(engine, SignalName::waiting),
                        .running = gauge_of(engine, SignalName::running),
                        .kv_usage = gauge_of(engine, SignalName::kv_usage_ppm)};
  if (engine == Engine::tensorrt_llm)
    metrics.path = "/prometheus/metrics";  // /metrics is JSON, and each read empties it
  if (engine == Engine::triton) metrics.port = "metrics";
  return metrics;
}

SeriesLabels series_labels(const PlanSpec& spec, const ServiceSpec& service, model::Role role) {
  SeriesLabels labels = {{"namespace", spec.namespace_}};
  const Yaml pods = pod_labels(service, role);
  for (const auto& [key, value] : pods.entries()) labels.emplace_back(prometheus_label(key), value.text());
  return labels;
}

std::string selector_text(const EngineGauge& gauge, const SeriesLabels& labels) {
  constexpr std::string_view kSglang = "sglang:";
  std::string matchers;
  const auto add = [&](std::string_view name, std::string_view relation, std::string_view value) {
    matchers += fmt::format("{}{}{}\"{}\"", matchers.empty() ? "" : ",", name, relation, value);
  };
  const bool has_two_names = gauge.metric.starts_with(kSglang);
  if (has_two_names) add("__name__", "=~", "sglang[:_]" + gauge.metric.substr(kSglang.size()));
  for (const auto& [name, value] : gauge.where) add(name, "=", value);
  for (const auto& [name, value] : labels) add(name, "=", value);
  return fmt::format("{}{{{}}}", has_two_names ? "" : gauge.metric, matchers);
}

std::string adapted_name(const EngineGauge& gauge) {
  std::string name = gauge.metric;
  std::ranges::replace(name, ':', '_');
  return name;
}

Yaml pod_monitor(const PlanSpec& spec, const ServiceSpec& service) {
  const EngineMetrics metrics = engine_metrics(service.engine);
  Yaml monitor = kube_object("monitoring.coreos.com/v1", "PodMonitor", service.name, spec.namespace_);
  monitor["spec"]["selector"].set("matchLabels", Yaml::map({{std::string(kServiceLabel), service.name}}));
  monitor["spec"].set("podTargetLabels", Yaml::list({kServiceLabel, kRoleLabel}),
                      "the queries of the scalers select by these labels");
  Yaml endpoints = Yaml::list();
  endpoints.add(Yaml::map({{"port", metrics.port}, {"path", metrics.path}, {"interval", "15s"}}));
  monitor["spec"].set("podMetricsEndpoints", std::move(endpoints));
  return monitor;
}

}  // namespace capstan::plan
