#include "lint/embedded.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace timeslicing_mps_confusion {
namespace {

void check(const Subject& s) {
  const Value& data = s.object["data"] ? s.object["data"] : at(s.object, "devicePlugin.config.data");
  for (const Embedded& file : embedded_with(*s.object.file, data, "timeSlicing")) {
    const Value& sharing = file.root()["sharing"];
    if (sharing["timeSlicing"] && sharing["mps"]) {
      s.report_key(sharing["mps"], "mps and timeSlicing exclude each other");
    }
  }
}

}  // namespace
}  // namespace timeslicing_mps_confusion

extern const Rule rule_timeslicing_mps_confusion;
const Rule rule_timeslicing_mps_confusion = {
    .id = "timeslicing-mps-confusion",
    .severity = Severity::warning,
    .kinds = "ConfigMap GpuOperatorValues",
    .title = "time-slicing and MPS are set together",
    .why = "They exclude each other on a node, and the device plugin uses neither.",
    .fix = "keep one of them",
    .source = "NVIDIA k8s-device-plugin README",
    .bad = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: plugin}
data:
  any: |
    version: v1
    sharing:
      timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}
      mps: {resources: [{name: nvidia.com/gpu, replicas: 4}]}
)",
    .good = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: plugin}
data:
  any: |
    version: v1
    sharing:
      mps: {resources: [{name: nvidia.com/gpu, replicas: 4}]}
)",
    .check = timeslicing_mps_confusion::check,
};

}  // namespace capstan::lint
