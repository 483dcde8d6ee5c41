#include <fmt/format.h>

#include <algorithm>

#include "plan/scalers/engine_metrics.h"
#include "plan/scalers/scalers.h"

namespace capstan::plan {

namespace {

Yaml prometheus_trigger(const ScalerFacts& facts, std::string_view name, const std::string& query,
                        const std::string& threshold, std::string_view why) {
  Yaml trigger = Yaml::map({{"type", "prometheus"}, {"name", name}});
  trigger.set("metricType", "AverageValue");
  Yaml& metadata = trigger["metadata"];
  metadata.set("serverAddress", facts.spec.cluster.prometheus);
  metadata.set("query", query);
  metadata.set("threshold", threshold, why);
  metadata.set("ignoreNullValues", "false", "no data is an error, which leads to the fallback, and not a load of 0");
  return trigger;
}

}  // namespace

Yaml keda_scaled_object(const ScalerFacts& facts) {
  const EngineMetrics metrics = engine_metrics(facts.service.engine);
  const SeriesLabels labels = series_labels(facts.spec, facts.service, facts.role.role);
  const auto sum = [&](const EngineMetric& gauge) { return fmt::format("sum({})", selector_text(gauge, labels)); };
  const SignalChoice& signal = facts.signal;

  Yaml triggers = Yaml::list();
  if (signal.uses_waiting()) {
    triggers.add(prometheus_trigger(facts, "waiting", sum(metrics.waiting), fmt::format("{}", signal.waiting),
                                    "waiting requests per replica"));
  }
  if (signal.uses_kv()) {
    triggers.add(prometheus_trigger(facts, "kv", sum(metrics.kv_usage),
                                    fmt::format("{:.2f}", signal.kv_percent / 100.0),
                                    "KV memory in use per replica, 0 to 1"));
  }
  if (signal.uses_goodput()) {
    const auto tokens = find_metric(facts.service.engine, signals::SignalName::generated_tokens_total);
    triggers.add(prometheus_trigger(facts, "goodput", fmt::format("sum(rate({}[1m]))", selector_text(*tokens, labels)),
                                    fmt::format("{}", signal.goodput_tokens),
                                    "answer tokens per second that a replica delivers within the SLO"));
  }
  triggers.add(prometheus_trigger(facts, "in-flight",
                                  fmt::format("{} + {}", sum(metrics.running), sum(metrics.waiting)),
                                  fmt::format("{}", signal.in_flight), "running and waiting requests per replica"));

  Yaml object = kube_object("keda.sh/v1alpha1", "ScaledObject", workload_name(facts.service, facts.role.role),
                            facts.spec.namespace_);
  Yaml& spec = object["spec"];
  spec.set("scaleTargetRef", scale_target(facts));
  spec.set("pollingInterval", 15);
  set_minimum(spec, "minReplicaCount", facts);
  spec.set("maxReplicaCount", facts.role.maximum);
  const ReplicaCount safe = std::clamp(facts.role.peak_ready, facts.role.minimum, facts.role.maximum);
  spec.set("fallback",
           Yaml::map({{"failureThreshold", 3}, {"replicas", safe}, {"behavior", "currentReplicasIfHigher"}}),
           "without metrics: the most that were ready at once in the simulations, or more if more are there");
  spec["advanced"]["horizontalPodAutoscalerConfig"].set("behavior", scaling_behavior(facts));
  spec.set("triggers", std::move(triggers), "the trigger that asks for the most replicas decides");
  return object;
}

}  // namespace capstan::plan
