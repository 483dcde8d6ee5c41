#include "lint/rule.h"

namespace capstan::lint {
namespace nodeclassref_apiversion {
namespace {

void check(const Subject& s) {
  const Value& ref = at(s.object, "spec.template.spec.nodeClassRef");
  if (s.object.api_version != "karpenter.sh/v1" || !ref || ref["group"]) return;
  const Value& version = ref["apiVersion"];
  if (!version) {
    s.report_key(ref, "nodeClassRef has no group, which v1 requires").mark_absence();
    return;
  }
  Finding& finding = s.report_key(version, "v1 has no field apiVersion here and requires group");
  finding.replace_entry(version, "group", version.text.substr(0, version.text.find('/')));
}

}  // namespace
}  // namespace nodeclassref_apiversion

extern const Rule rule_nodeclassref_apiversion;
const Rule rule_nodeclassref_apiversion = {
    .id = "nodeclassref-apiversion",
    .severity = Severity::error,
    .kinds = "NodePool",
    .title = "nodeClassRef names its class by apiVersion",
    .why = "Version v1 takes group, kind and name. Since 1.1 the API server refuses a reference without group.",
    .fix = "replace apiVersion with its group: karpenter.k8s.aws",
    .fix_safety = FixSafety::safe,
    .source = "Karpenter upgrade guide 1.1",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec:
  template:
    spec:
      nodeClassRef:
        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        name: gpu
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec:
  template:
    spec:
      nodeClassRef:
        group: karpenter.k8s.aws
        kind: EC2NodeClass
        name: gpu
)",
    .check = nodeclassref_apiversion::check,
};

}  // namespace capstan::lint
