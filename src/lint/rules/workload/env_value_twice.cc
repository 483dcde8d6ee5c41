#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace env_value_twice {
namespace {

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    for (const Value* container : all_containers_of(pod)) {
      for (const Value& variable : (*container)["env"].children()) {
        if (variable["value"].text.empty() || !variable["valueFrom"]) continue;
        s.report_key(variable["valueFrom"],
                     fmt::format("variable {} has both value and valueFrom, so the API server refuses the pod",
                                 variable["name"].text));
      }
    }
  }
}

}  // namespace
}  // namespace env_value_twice

extern const Rule rule_env_value_twice;
const Rule rule_env_value_twice = {
    .id = "env-value-twice",
    .severity = Severity::error,
    .kinds = "@pods",
    .title = "an environment variable has two values",
    .why = "The API server refuses the object, so no pod starts, or an earlier version of it keeps running.",
    .fix = "keep valueFrom and delete value, or the other way round",
    .source = "Kubernetes API reference, EnvVar",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - name: a
      image: "vllm/vllm-openai:v0.20.0"
      env: [{name: HF_TOKEN, value: hf_none, valueFrom: {secretKeyRef: {name: hf, key: token}}}]
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - name: a
      image: "vllm/vllm-openai:v0.20.0"
      env: [{name: HF_TOKEN, valueFrom: {secretKeyRef: {name: hf, key: token}}}]
)",
    .check = env_value_twice::check,
};

}  // namespace capstan::lint
