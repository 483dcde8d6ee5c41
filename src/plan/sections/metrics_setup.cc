#include "plan/sections/metrics_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "plan/scalers/engine_metrics.h"

namespace capstan::plan {

namespace {

/// The address of a server, as the chart of prometheus-adapter wants it.
struct ServerAddress {
  std::string url{};  ///< scheme and host
  std::int64_t port = 80;
  std::string path{};  ///< "/prometheus"; empty: none
};

ServerAddress server_address(std::string_view address) {
  const std::size_t scheme = address.find("://");
  const std::size_t host = scheme == address.npos ? 0 : scheme + 3;
  const std::size_t slash = std::min(address.find('/', host), address.size());
  const std::string_view server = address.substr(0, slash);
  ServerAddress out{.url = std::string(server),
                    .port = address.starts_with("https://") ? 443 : 80,
                    .path = std::string(address.substr(slash))};
  while (out.path.ends_with('/')) out.path.pop_back();
  const std::size_t colon = server.rfind(':');
  if (colon == server.npos || colon < host) return out;
  const std::string_view digits = server.substr(colon + 1);
  std::int64_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error == std::errc{} && end == digits.data() + digits.size() && !digits.empty()) {
    out.url = std::string(server.substr(0, colon));
    out.port = port;
  }
  return out;
}

/// Returns the rule that offers a gauge, or the rate of a counter, under all its spellings, to the HPA.
Yaml adapter_rule(const EngineMetric& metric) {
  const bool is_counter = metric.kind == signals::MetricKind::counter;
  const std::string pattern = name_pattern(metric);
  const std::string selector = pattern.empty() ? metric.metric + "{namespace!=\"\"}"
                                               : fmt::format("{{__name__=~\"{}\",namespace!=\"\"}}", pattern);
  Yaml rule = Yaml::map({{"seriesQuery", selector}});
  rule["resources"]["overrides"].set("namespace", Yaml::map({{"resource", "namespace"}}));
  rule["name"].set("as", is_counter ? adapted_rate_name(metric) : adapted_name(metric));
  // The adapter may find either spelling in <<.Series>>, so the query names both.
  const std::string series = pattern.empty() ? std::string("<<.Series>>{<<.LabelMatchers>>}")
                                             : fmt::format("{{__name__=~\"{}\",<<.LabelMatchers>>}}", pattern);
  rule.set("metricsQuery", is_counter ? fmt::format("sum(rate({}[5m]))", series) : fmt::format("sum({})", series));
  return rule;
}

}  // namespace

bool has_gpu_operator(const ClusterSpec& cluster) { return cluster.cloud != Cloud::gcp; }

Yaml prometheus_adapter_values(const PlanSpec& spec) {
  Yaml external = Yaml::list();
  std::set<std::string> names;
  for (const ServiceSpec& service : spec.services) {
    const EngineMetrics metrics = engine_metrics(service.engine);
    for (const EngineMetric* gauge : {&metrics.waiting, &metrics.running, &metrics.kv_usage}) {
      if (names.insert(gauge->metric).second) external.add(adapter_rule(*gauge));
    }
    const auto tokens = find_metric(service.engine, signals::SignalName::generated_tokens_total);
    if (tokens && names.insert(tokens->metric).second) external.add(adapter_rule(*tokens));
  }
  const ServerAddress server = server_address(spec.cluster.prometheus);
  Yaml values;
  values["prometheus"].set("url", server.url);
  values["prometheus"].set("port", server.port);
  if (!server.path.empty()) values["prometheus"].set("path", server.path);
  values["rules"].set("default", false);
  values["rules"].set("external", std::move(external), "names without a colon, because the metrics API refuses it");
  return values;
}

Yaml gpu_operator_values(const ClusterSpec& cluster) {
  Yaml values;
  const bool has_driver = cluster.cloud == Cloud::aws || cluster.cloud == Cloud::azure;
  if (has_driver) {
    values["driver"].set("enabled", false, "the image of the nodes has the driver and the container toolkit");
    values["toolkit"].set("enabled", false);
  }
  if (cluster.cloud == Cloud::azure) values["operator"].set("runtimeClass", "nvidia-container-runtime");
  Yaml& exporter = values["dcgmExporter"];
  exporter.set("enabled", true, "for dashboards and alerts; no scaler uses DCGM_FI_DEV_GPU_UTIL");
  exporter["serviceMonitor"].set("enabled", true);
  exporter["serviceMonitor"].set("interval", "15s");
  exporter["serviceMonitor"].set("honorLabels", false,
                                 "the pod on a GPU is exported_pod, as the dashboard and the alerts expect");
  return values;
}

Yaml dcgm_exporter_values() {
  constexpr std::string_view kDriver = "nvidia-driver";
  Yaml values;
  values["serviceMonitor"].set("enabled", true);
  values["serviceMonitor"].set("interval", "15s");
  values["serviceMonitor"].set("honorLabels", false,
                               "the pod on a GPU is exported_pod, as the dashboard and the alerts expect");
  values.set("tolerations", Yaml::list({gpu_toleration()}));
  values["nodeSelector"].set("cloud.google.com/gke-gpu", "true");
  values["securityContext"].set("privileged", true, "GKE gives the devices only to pods that ask for a GPU");
  values.set("extraHostVolumes",
             Yaml::list({Yaml::map({{"name", kDriver}, {"hostPath", "/home/kubernetes/bin/nvidia"}})}),
             "the folder into which GKE installs the driver");
  values.set("extraVolumeMounts",
             Yaml::list({Yaml::map({{"name", kDriver}, {"mountPath", "/usr/local/nvidia"}, {"readOnly", true}})}));
  values.set("extraEnv", Yaml::list({Yaml::map({{"name", "LD_LIBRARY_PATH"}, {"value", "/usr/local/nvidia/lib64"}})}));
  return values;
}

}  // namespace capstan::plan
