#include "lint/rule.h"

namespace capstan::lint {

extern const Rule rule_unused_suppression;
const Rule rule_unused_suppression = {
    .id = "unused-suppression",
    .severity = Severity::warning,
    .kinds = "",
    .title = "an acceptance matches no finding, or has no reason",
    .why = "An acceptance that is no longer needed hides the next mistake in the same place.",
    .fix = "delete the comment or annotation, or add the reason after the rule",
    .source = "this linter",
    .bad = R"(apiVersion: v1
kind: Service
metadata:
  name: vllm  # capstan:ignore image-registry-frozen mirrored
)",
    .good = R"(apiVersion: v1
kind: Service
metadata:
  name: vllm
)",
    .check = nullptr,
};

}  // namespace capstan::lint
