#include "plan/monitoring/metric_sources.h"

#include <fmt/format.h>

#include <utility>

#include "plan/objects/charts.h"
#include "plan/objects/names.h"
#include "plan/objects/scheduling.h"

namespace capstan::plan {

namespace {

constexpr std::string_view kValuesFile = "monitoring/values/kube-prometheus-stack.yaml";
constexpr std::string_view kTokenFile = "/var/run/secrets/kubernetes.io/serviceaccount/token";

/// Returns a ServiceMonitor for the metrics port of a component that the plan does not install.
Manifest service_monitor(const PlanSpec& spec, const std::string& name, Yaml namespaces, Yaml selector, Yaml endpoint) {
  Yaml body = kube_object("monitoring.coreos.com/v1", "ServiceMonitor", name, spec.namespace_);
  body["spec"].set("namespaceSelector", std::move(namespaces));
  body["spec"].set("selector", std::move(selector));
  body["spec"].set("endpoints", Yaml::list({std::move(endpoint)}));
  return {.file = fmt::format("monitoring/{}-metrics.yaml", name), .body = std::move(body)};
}

Manifest karpenter_monitor(const PlanSpec& spec) {
  return service_monitor(spec, "karpenter", Yaml::map({{"any", true}}),
                         Yaml::map({{"matchLabels", Yaml::map({{"app.kubernetes.io/name", "karpenter"}})}}),
                         Yaml::map({{"port", "http-metrics"}}));
}

Manifest kai_monitor(const PlanSpec& spec) {
  // The name of the scheduler's Service depends on the version of KAI, so the monitor selects it by its port.
  return service_monitor(spec, "kai", Yaml::map({{"matchNames", Yaml::list({Yaml("kai-scheduler")})}}), Yaml(),
                         Yaml::map({{"port", "http-metrics"}}));
}

Manifest kueue_monitor(const PlanSpec& spec) {
  Yaml endpoint = Yaml::map({{"port", "https"}, {"scheme", "https"}, {"bearerTokenFile", kTokenFile}});
  endpoint["tlsConfig"].set("insecureSkipVerify", true, "Kueue signs its certificate itself");
  return service_monitor(spec, "kueue", Yaml::map({{"matchNames", Yaml::list({Yaml("kueue-system")})}}),
                         Yaml::map({{"matchLabels", Yaml::map({{"app.kubernetes.io/name", "kueue"},
                                                               {"app.kubernetes.io/component", "metrics-service"}})}}),
                         std::move(endpoint));
}

/// Returns the values of the chart, with which its Prometheus reads the monitors and rules of the plan's namespace.
Manifest prometheus_values(const ClusterSpec& cluster) {
  Yaml values;
  Yaml& prometheus = values["prometheus"]["prometheusSpec"];
  for (const std::string_view kind : {"podMonitor", "serviceMonitor", "rule"}) {
    prometheus.set(fmt::format("{}SelectorNilUsesHelmValues", kind), false);
  }
  values["kube-state-metrics"].set(
      "metricLabelsAllowlist", Yaml::list({Yaml(fmt::format("nodes=[{},{}]", kPoolLabel, spot_label(cluster).key))}),
      "labels of nodes by which the budget alert finds their price");
  values["grafana"]["sidecar"]["dashboards"].set("searchNamespace", "ALL", "loads the dashboards of the plan");
  return {.file = std::string(kValuesFile), .body = std::move(values), .is_object = false};
}

}  // namespace

std::string_view missing_source(const ClusterSpec& cluster, MetricSource source) {
  if (source == MetricSource::karpenter && cluster.cloud == Cloud::azure) {
    return "AKS runs Karpenter itself, so that nothing in the cluster exports its metrics";
  }
  if (source == MetricSource::cluster_autoscaler && cluster.cloud == Cloud::gcp) {
    return "GKE runs the Cluster Autoscaler itself, so that nothing in the cluster exports its metrics";
  }
  if (source == MetricSource::cluster_autoscaler && cluster.cloud == Cloud::azure) {
    return "AKS runs the Cluster Autoscaler itself, so that nothing in the cluster exports its metrics";
  }
  return {};
}

std::vector<Manifest> metric_source_manifests(const PlanSpec& spec, const std::set<MetricSource>& sources) {
  std::vector<Manifest> out;
  if (sources.contains(MetricSource::karpenter)) out.push_back(karpenter_monitor(spec));
  if (sources.contains(MetricSource::kai)) out.push_back(kai_monitor(spec));
  if (sources.contains(MetricSource::kueue)) out.push_back(kueue_monitor(spec));
  out.push_back(prometheus_values(spec.cluster));
  return out;
}

ApplyCommand prometheus_command() {
  return {.step = ApplyStep::prometheus,
          .command = helm_install("kube-prometheus-stack",
                                  fmt::format("--namespace monitoring --create-namespace --values {}", kValuesFile)),
          .purpose = "Prometheus, kube-state-metrics and Grafana",
          .is_optional = true};
}

SpotLabel spot_label(const ClusterSpec& cluster) {
  if (has_karpenter(cluster)) return {"karpenter.sh/capacity-type", "spot"};
  switch (cluster.cloud) {
    case Cloud::gcp:
      return {"cloud.google.com/gke-spot", "true"};
    case Cloud::azure:
      return {"kubernetes.azure.com/scalesetpriority", "spot"};
    case Cloud::aws:
    case Cloud::on_premises:
      break;
  }
  return {"eks.amazonaws.com/capacityType", "SPOT"};
}

std::string series_label(std::string_view node_label) {
  std::string out = "label_";
  for (const char c : node_label) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_upper) out += '_';
    out += is_upper ? static_cast<char>(c - 'A' + 'a') : is_plain ? c : '_';
  }
  return out;
}

}  // namespace capstan::plan
