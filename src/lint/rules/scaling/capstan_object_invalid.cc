#include <fmt/format.h>

#include "lint/crd_faults.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace capstan_object_invalid {
namespace {

void check(const Subject& s) {
  if (s.object.group != "capstan.dev") return;
  const Value& schema = own_schema(s.object.api_version, s.object.kind);
  if (!schema) {
    s.report(s.object["apiVersion"],
             fmt::format("capstan.dev has no {} in version {}, expected v1alpha1", s.object.kind, s.object.version));
    return;
  }
  for (const CrdFault& fault : crd_faults(*s.object.root, schema)) {
    const Value& value = *fault.value;
    if (value.is_scalar() && !fault.is_unknown_field && is_template_variable(value.text)) continue;
    const std::string message = fmt::format("{} {}", fault.path, fault.fault);
    if (fault.is_missing_field) {
      Finding& finding = value.key.empty() ? s.report(value, message) : s.report_key(value, message);
      finding.mark_absence();
    } else if (fault.is_unknown_field) {
      s.report_key(value, message);
    } else {
      s.report(value, message);
    }
  }
}

}  // namespace
}  // namespace capstan_object_invalid

extern const Rule rule_capstan_object_invalid;
const Rule rule_capstan_object_invalid = {
    .id = "capstan-object-invalid",
    .severity = Severity::error,
    .kinds = "InferenceScaler FleetPolicy Queue.capstan.dev",
    .title = "an InferenceScaler, a FleetPolicy or a Queue of Capstan does not fit its definition",
    .why =
        "The API server refuses a missing field and a value of the wrong type or range. kubectl refuses a field that "
        "does not exist; other clients drop it, and Capstan uses its default: with a misspelt bound the SLO has no "
        "such "
        "bound. The rules of the definitions that are written in CEL are not checked.",
    .fix = "write the field and the value that the message names",
    .source = "Capstan's CustomResourceDefinitions, deploy/crds",
    .bad = R"(apiVersion: capstan.dev/v1alpha1
kind: InferenceScaler
metadata: {name: chat}
spec:
  model: meta-llama/Llama-3.3-70B-Instruct
  slo: {ttft: "2s", attainement: "99%"}
  roles:
  - variants:
    - targetRef: {kind: Deployment, name: chat}
      minReplicas: 0
      maxReplicas: 8
)",
    .good = R"(apiVersion: capstan.dev/v1alpha1
kind: InferenceScaler
metadata: {name: chat}
spec:
  model: meta-llama/Llama-3.3-70B-Instruct
  slo: {ttft: "2s", attainment: "99%"}
  roles:
  - variants:
    - targetRef: {kind: Deployment, name: chat}
      minReplicas: 1
      maxReplicas: 8
)",
    .check = capstan_object_invalid::check,
};

}  // namespace capstan::lint
