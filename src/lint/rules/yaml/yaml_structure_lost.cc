#include "lint/rule.h"

namespace capstan::lint {

extern const Rule rule_yaml_structure_lost;
const Rule rule_yaml_structure_lost = {
    .id = "yaml-structure-lost",
    .severity = Severity::error,
    .kinds = "",
    .title = "the manifests lost their indentation",
    .why =
        "Without indentation the text cannot be read as objects. This happens to copies from a web page or a chat, "
        "where every line begins at the margin. Only single lines are checked.",
    .fix = "copy them again from the raw file, or indent them as `kubectl explain KIND --recursive` shows",
    .source = "manifests in articles and chats",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
name: vllm
spec:
maxReplicaCount: 4
)",
    .good = R"(apiVersion: v1
kind: Service
metadata:
  name: vllm
)",
    .check = nullptr,
};

}  // namespace capstan::lint
