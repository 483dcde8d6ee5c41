#include <fmt/format.h>

#include "lint/rule.h"
#include "lint/sharing.h"

namespace capstan::lint {
namespace timeslicing_config_invalid {
namespace {

void check_sharing(const Subject& s, const Value& sharing) {
  const Value& resources = sharing["resources"];
  if (resources.count == 0) {
    s.report_key(sharing, fmt::format("{} has no resources, so the device plugin stops", sharing.key));
    return;
  }
  for (const Value& resource : resources.children()) {
    const auto replicas = resource["replicas"].integer();
    if (!resource["name"]) s.report_key(resources, "a resource has no name, so the device plugin stops");
    if (!replicas || *replicas < 2) {
      s.report(resource["replicas"] ? resource["replicas"] : resources,
               "replicas must be 2 or more, otherwise the device plugin stops");
    }
  }
}

void check(const Subject& s) {
  for_each_sharing(s.object, [&](const Value& sharing) { check_sharing(s, sharing); });
}

}  // namespace
}  // namespace timeslicing_config_invalid

extern const Rule rule_timeslicing_config_invalid;
const Rule rule_timeslicing_config_invalid = {
    .id = "timeslicing-config-invalid",
    .severity = Severity::error,
    .kinds = "ConfigMap GpuOperatorValues",
    .title = "the time-slicing configuration does not state what to share",
    .why = "The device plugin stops with \"no resources specified\", and the node offers no GPU.",
    .fix = "add timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}",
    .source = "NVIDIA k8s-device-plugin, api/config/v1",
    .bad = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: plugin}
data:
  any: |
    version: v1
    sharing:
      timeSlicing:
        replicas: 4
)",
    .good = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: plugin}
data:
  any: |
    version: v1
    sharing:
      timeSlicing:
        resources: [{name: nvidia.com/gpu, replicas: 4}]
)",
    .check = timeslicing_config_invalid::check,
};

}  // namespace capstan::lint
