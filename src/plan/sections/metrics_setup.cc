#include <fmt/format.h>
#include <charconv>
#include <set>

#include "plan/sections/engine_metrics.h"
#include "plan/sections/scalers.h"

namespace capstan::plan {

namespace {

/// The URL and the port of a server, as the chart of prometheus-adapter wants them.
struct ServerAddress {
  std::string url{};
  std::int64_t port = 80;
};

ServerAddress server_address(std::string_view address) {
  const bool is_https = address.starts_with("https://");
  ServerAddress out{.url = std::string(address), .port = is_https ? 443 : 80};
  const std::size_t colon = address.rfind(':');
  if (colon == address.npos || colon < 6) return out;
  const std::string_view digits = address.substr(colon + 1, address.find('/', colon + 1) - colon - 1);
  std::int64_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error == std::errc{} && end == digits.data() + digits.size()) {
    out = {.url = std::string(address.substr(0, colon)), .port = port};
  }
  return out;
}

Yaml adapter_rule(const std::string& metric, const std::string& name) {
  Yaml rule = Yaml::map({{"seriesQuery", fmt::format("{}{{namespace!=\"\"}}", metric)}});
  rule["resources"]["overrides"].set("namespace", Yaml::map({{"resource", "namespace"}}));
  rule["name"].set("as", name);
  rule.set("metricsQuery", "sum(<<.Series>>{<<.LabelMatchers>>})");
  return rule;
}

}  // namespace

Yaml prometheus_adapter_values(const PlanSpec& spec) {
  Yaml external = Yaml::list();
  std::set<std::string> names;
  for (const ServiceSpec& service : spec.services) {
    const EngineMetrics metrics = engine_metrics(service.engine);
    for (const EngineGauge* gauge : {&metrics.waiting, &metrics.running, &metrics.kv_usage}) {
      if (names.insert(gauge->metric).second) external.add(adapter_rule(gauge->metric, adapted_name(*gauge)));
    }
  }
  const ServerAddress server = server_address(spec.cluster.prometheus);
  Yaml values;
  values["prometheus"].set("url", server.url);
  values["prometheus"].set("port", server.port);
  values["rules"].set("default", false);
  values["rules"].set("external", std::move(external), "names without a colon, because the metrics API refuses it");
  return values;
}

Yaml gpu_operator_values() {
  Yaml values;
  Yaml& exporter = values["dcgmExporter"];
  exporter.set("enabled", true, "for dashboards and alerts; no scaler uses DCGM_FI_DEV_GPU_UTIL");
  exporter["serviceMonitor"].set("enabled", true);
  exporter["serviceMonitor"].set("interval", "15s");
  exporter["serviceMonitor"].set("honorLabels", false,
                                 "the pod on a GPU is exported_pod, as the dashboard and the alerts expect");
  return values;
}

Yaml dcgm_exporter_values() {
  Yaml values;
  values["serviceMonitor"].set("enabled", true, "only for clusters without the GPU Operator, which has an exporter");
  values["serviceMonitor"].set("interval", "15s");
  values["serviceMonitor"].set("honorLabels", false);
  Yaml tolerations = Yaml::list();
  tolerations.add(gpu_toleration());
  values.set("tolerations", std::move(tolerations));
  return values;
}

}  // namespace capstan::plan
