#include "lint/rule.h"

namespace capstan::lint {
namespace ca_configmap_unknown {
namespace {

void check(const Subject& s) {
  if (s.object.name.find("cluster-autoscaler") == s.object.name.npos) return;
  for (const std::string_view key : {"node-groups", "nodeGroups", "node_groups", "nodes"}) {
    const Value& groups = s.object["data"][key];
    if (groups) s.report_key(groups, "the Cluster Autoscaler reads no node groups from a ConfigMap");
  }
}

}  // namespace
}  // namespace ca_configmap_unknown

extern const Rule rule_ca_configmap_unknown;
const Rule rule_ca_configmap_unknown = {
    .id = "ca-configmap-unknown",
    .severity = Severity::error,
    .kinds = "ConfigMap",
    .title = "the Cluster Autoscaler does not read this ConfigMap",
    .why =
        "Node groups are configured by flags or by tags of the cloud's groups. The sizes in this ConfigMap have no "
        "effect.",
    .fix = "use tags or --nodes flags; priorities belong in cluster-autoscaler-priority-expander",
    .source = "Cluster Autoscaler FAQ",
    .bad = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: cluster-autoscaler-config}
data: {node-groups: "- {name: gpu, minSize: 0, maxSize: 10}"}
)",
    .good = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: cluster-autoscaler-priority-expander}
data: {priorities: "10: [gpu]"}
)",
    .check = ca_configmap_unknown::check,
};

}  // namespace capstan::lint
