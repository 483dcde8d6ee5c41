#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lint/rules.h"
#include "lint/run.h"

// Helpers for tests of lint rules: they build manifests, lint them, and return the severity of the finding.
namespace capstan::lint::testing_cases {

using Texts = std::vector<Text>;

/// Returns the severity of a rule's first finding; "none" if the rule finds nothing.
inline std::string_view found(const Texts& texts, std::string_view rule,
                              std::optional<std::uint32_t> kube_minor = std::nullopt) {
  EXPECT_NE(find_rule(rule), nullptr) << rule;
  Options options;
  options.advice = true;
  if (kube_minor) options.settings.kube = {.minor = *kube_minor, .is_stated = true};
  const Report report = lint_texts(texts, options);
  for (const Finding& finding : report.findings) EXPECT_NE(finding.rule->id, "yaml-syntax") << finding.message;
  const auto first =
      std::ranges::find_if(report.findings, [&](const Finding& finding) { return finding.rule->id == rule; });
  return first == report.findings.end() ? "none" : name_of(first->severity);
}

inline std::string_view found(const std::string& yaml, std::string_view rule,
                              std::optional<std::uint32_t> kube_minor = std::nullopt) {
  return found(Texts{{"a/a.yaml", yaml}}, rule, kube_minor);
}

inline std::string pod(const std::string& spec) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {" + spec + "}\n";
}

/// Returns a Deployment on one GPU whose only container has these additional fields.
inline std::string server(const std::string& container, const std::string& spec = "",
                          const std::string& name = "llama-70b") {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name +
         "}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {" + spec +
         "containers: [{name: a, resources: {limits: {nvidia.com/gpu: 1}}, " + container + "}]}}}\n";
}

/// Returns the Deployment of `server` and an HPA that scales it.
inline std::string scaled_server(const std::string& container, const std::string& spec = "") {
  return server(container, spec) +
         "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: llama-70b}\nspec: "
         "{scaleTargetRef: {kind: Deployment, name: llama-70b}, maxReplicas: 4}\n";
}

inline std::string scaled_by(const std::string& query) {
  return "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec:\n  scaleTargetRef: {name: "
         "vllm}\n  minReplicaCount: 1\n  maxReplicaCount: 9\n  triggers:\n  - type: prometheus\n    metadata:\n"
         "      query: '" +
         query + "'\n      threshold: '5'\n";
}

}  // namespace capstan::lint::testing_cases
