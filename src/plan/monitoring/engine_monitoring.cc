#include "plan/monitoring/engine_monitoring.h"

#include <fmt/format.h>

#include "plan/monitoring/grafana.h"
#include "plan/monitoring/service_monitoring.h"
#include "plan/objects/names.h"
#include "plan/objects/yaml.h"

namespace capstan::plan {
namespace {

constexpr const char* kService = "chat";

Monitoring monitoring_of(Engine engine) {
  using namespace std::chrono_literals;
  PlanSpec spec;
  spec.namespace_ = "inference";
  spec.services = {{.name = kService, .engine = engine, .slo = {.ttft = 2s, .tpot = 80ms, .attainment_ppm = 990'000}}};
  return service_monitoring(MonitoringTemplates::bundled(), spec, spec.services.front());
}

}  // namespace

std::string engine_dashboard(Engine engine) {
  const std::string_view key = engine_key(engine);
  return grafana_dashboard(fmt::format("{} on {}", kService, key), fmt::format("capstan-engine-{}", key),
                           monitoring_of(engine).panels);
}

std::string engine_rules(Engine engine) {
  Yaml groups = Yaml::list();
  groups.add(Yaml::map({{"name", fmt::format("{}-{}", kService, engine_key(engine))}}))
      .set("rules", alert_rules(monitoring_of(engine).alerts, kService));
  Yaml out = Yaml::map({});
  out.set("groups", std::move(groups));
  return out.document();
}

}  // namespace capstan::plan
