#include "plan/scalers/engine_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "signals/metric_catalog.h"

namespace capstan::plan {

namespace {

using signals::MetricRow;
using signals::SignalName;

constexpr std::string_view kEveryVersion = "all";
/// Value of `MetricRow::versions` for a metric of Triton that this backend adds. The plan runs Triton with this
/// backend, all versions of which have the metric.
constexpr std::string_view kTritonBackend = "TensorRT-LLM backend";

/// Returns the name of a pod label as Prometheus writes it: "app_kubernetes_io_name".
std::string prometheus_label(std::string_view label) {
  std::string name(label);
  std::ranges::replace_if(name, [](char c) { return c == '.' || c == '/' || c == '-'; }, '_');
  return name;
}

}  // namespace

std::optional<EngineMetric> find_metric(Engine engine, SignalName signal) {
  const signals::MetricCatalog& catalog = signals::MetricCatalog::bundled();
  const auto index = catalog.engine(engine_key(engine));
  CAPSTAN_ASSERT(index.has_value());
  const MetricRow* found = nullptr;
  for (const MetricRow& row : catalog.rows()) {
    if (row.engine != *index || row.signal != signal) continue;
    const bool is_certain = found != nullptr && (found->versions == kEveryVersion || found->versions == kTritonBackend);
    if (found == nullptr || (!is_certain && row.versions == kEveryVersion)) found = &row;
  }
  if (found == nullptr) return std::nullopt;
  return EngineMetric{.metric = found->metric, .where = found->where, .kind = found->kind, .scale = found->scale};
}

EngineMetrics engine_metrics(Engine engine) {
  const auto gauge = [&](SignalName signal) {
    std::optional<EngineMetric> found = find_metric(engine, signal);
    CAPSTAN_ASSERT(found.has_value());
    return std::move(*found);
  };
  EngineMetrics metrics{.waiting = gauge(SignalName::waiting),
                        .running = gauge(SignalName::running),
                        .kv_usage = gauge(SignalName::kv_usage_ppm)};
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

std::string name_pattern(const EngineMetric& metric, std::string_view suffix) {
  constexpr std::string_view kSglang = "sglang:";
  if (!metric.metric.starts_with(kSglang)) return {};
  return fmt::format("sglang[:_]{}{}", metric.metric.substr(kSglang.size()), suffix);
}

std::string selector_text(const EngineMetric& metric, const SeriesLabels& labels, std::string_view suffix) {
  std::string matchers;
  const auto add = [&](std::string_view name, std::string_view relation, std::string_view value) {
    matchers += fmt::format("{}{}{}\"{}\"", matchers.empty() ? "" : ",", name, relation, value);
  };
  const std::string pattern = name_pattern(metric, suffix);
  if (!pattern.empty()) add("__name__", "=~", pattern);
  for (const auto& [name, value] : metric.where) add(name, "=", value);
  for (const auto& [name, value] : labels) add(name, "=", value);
  return fmt::format("{}{{{}}}", pattern.empty() ? fmt::format("{}{}", metric.metric, suffix) : "", matchers);
}

std::string adapted_name(const EngineMetric& metric) {
  std::string name = metric.metric;
  std::ranges::replace(name, ':', '_');
  return name;
}

std::string adapted_rate_name(const EngineMetric& counter) {
  constexpr std::string_view kTotal = "_total";
  std::string name = adapted_name(counter);
  if (name.ends_with(kTotal)) name.resize(name.size() - kTotal.size());
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
