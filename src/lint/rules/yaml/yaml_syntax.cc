#include "lint/rule.h"

namespace capstan::lint {

extern const Rule rule_yaml_syntax;
const Rule rule_yaml_syntax = {
    .id = "yaml-syntax",
    .severity = Severity::error,
    .kinds = "",
    .title = "the text is not YAML",
    .why = "No tool can apply the document, and Capstan does not check the rest of it.",
    .fix = "correct the line",
    .source = "YAML 1.2",
    .bad = R"(kind: Service
apiVersion: v1
spec: {ports: [{port: 80}
)",
    .good = R"(kind: Service
apiVersion: v1
spec: {ports: [{port: 80}]}
)",
    .check = nullptr,
};

}  // namespace capstan::lint
