#include <fmt/format.h>

#include "lint/embedded.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace mps_on_mig {
namespace {

void check(const Subject& s) {
  const Value& data = s.object["data"] ? s.object["data"] : at(s.object, "devicePlugin.config.data");
  for (const Embedded& file : embedded_with(*s.object.file, data, "mps")) {
    for (const Value& resource : at(file.root(), "sharing.mps.resources").children()) {
      const Value& name = resource["name"];
      if (!name.text.starts_with("nvidia.com/mig-")) continue;
      s.report(name, fmt::format("{} is a MIG slice, which MPS cannot share", name.text));
    }
  }
}

}  // namespace
}  // namespace mps_on_mig

extern const Rule rule_mps_on_mig;
const Rule rule_mps_on_mig = {
    .id = "mps-on-mig",
    .severity = Severity::error,
    .kinds = "ConfigMap GpuOperatorValues",
    .title = "MPS is configured for MIG slices",
    .why = "The device plugin does not support this and stops.",
    .fix = "use time-slicing, or MIG without sharing",
    .source = "NVIDIA k8s-device-plugin README",
    .bad = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: plugin}
data:
  any: |
    version: v1
    flags: {migStrategy: mixed}
    sharing:
      mps: {resources: [{name: nvidia.com/mig-1g.10gb, replicas: 4}]}
)",
    .good = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: plugin}
data:
  any: |
    version: v1
    flags: {migStrategy: mixed}
    sharing:
      timeSlicing: {resources: [{name: nvidia.com/mig-1g.10gb, replicas: 4}]}
)",
    .check = mps_on_mig::check,
};

}  // namespace capstan::lint
