#include "lint/rule.h"

namespace capstan::lint {

extern const Rule rule_yaml_duplicate_key;
const Rule rule_yaml_duplicate_key = {
    .id = "yaml-duplicate-key",
    .severity = Severity::error,
    .kinds = "",
    .title = "a key occurs twice in one mapping",
    .why =
        "One of the two values is dropped without a message, usually the first. kubectl and strict servers refuse the "
        "file. If both values are the same, nothing is lost and the finding is a warning.",
    .fix = "keep one of them",
    .source = "YAML 1.2 §3.2.1.3; Kubernetes strict field validation",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec: {maxReplicas: 4, minReplicas: 1, maxReplicas: 8}
)",
    .good = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec: {maxReplicas: 8, minReplicas: 1}
)",
    .check = nullptr,
};

}  // namespace capstan::lint
