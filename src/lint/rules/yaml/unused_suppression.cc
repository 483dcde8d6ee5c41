#include "lint/rule.h"

namespace capstan::lint {

extern const Rule rule_unused_suppression;
const Rule rule_unused_suppression = {
    .id = "unused-suppression",
    .severity = Severity::warning,
    .kinds = "",
    .title = "a finding is accepted that is not there, or without a reason",
    .why = "Acceptances outlive what they were for and hide the next mistake in the same place.",
    .fix = "delete the comment or annotation, or give its reason behind the rule",
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
