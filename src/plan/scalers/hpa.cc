#include <fmt/format.h>

#include "plan/scalers/engine_metrics.h"
#include "plan/scalers/scalers.h"

namespace capstan::plan {

namespace {

Yaml external_metric(const ScalerFacts& facts, const EngineMetric& source, const std::string& name,
                     const std::string& target) {
  Yaml metric = Yaml::map({{"type", "External"}});
  Yaml& external = metric["external"];
  external["metric"].set("name", name);
  Yaml labels;
  for (const auto& [label, value] : source.where) labels.set(label, value);
  for (const auto& [label, value] : series_labels(facts.spec, facts.service, facts.role.role)) {
    if (label != "namespace") labels.set(label, value);  // the adapter adds the namespace of the HPA
  }
  external["metric"]["selector"].set("matchLabels", std::move(labels));
  external.set("target", Yaml::map({{"type", "AverageValue"}, {"averageValue", target}}));
  return metric;
}

}  // namespace

Yaml external_metrics_hpa(const ScalerFacts& facts) {
  const EngineMetrics metrics = engine_metrics(facts.service.engine);
  const SignalChoice& signal = facts.signal;
  Yaml list = Yaml::list();
  const auto add_gauge = [&](const EngineMetric& gauge, const std::string& target) {
    list.add(external_metric(facts, gauge, adapted_name(gauge), target));
  };
  if (signal.uses_kv()) add_gauge(metrics.kv_usage, fmt::format("{}m", signal.kv_percent * 10));
  if (signal.uses_goodput()) {
    const auto tokens = find_metric(facts.service.engine, signals::SignalName::generated_tokens_total);
    list.add(external_metric(facts, *tokens, adapted_rate_name(*tokens), fmt::format("{}", signal.goodput_tokens)));
  }
  add_gauge(metrics.running, fmt::format("{}", signal.in_flight));
  add_gauge(metrics.waiting, fmt::format("{}", signal.waiting));

  Yaml object = kube_object("autoscaling/v2", "HorizontalPodAutoscaler", workload_name(facts.service, facts.role.role),
                            facts.spec.namespace_);
  Yaml& spec = object["spec"];
  spec.set("scaleTargetRef", scale_target(facts));
  set_minimum(spec, "minReplicas", facts);
  spec.set("maxReplicas", facts.role.maximum);
  spec.set("metrics", std::move(list), "the metric that asks for the most replicas decides");
  spec.set("behavior", scaling_behavior(facts));
  return object;
}

}  // namespace capstan::plan
