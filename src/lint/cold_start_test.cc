#include "lint/cold_start.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "lint/run.h"

namespace capstan::lint::cold_start_test {
namespace {

/// Returns true if the probe rule reports a container whose probe allows this start time.
bool is_too_short(std::int64_t budget_s) {
  const std::string text =
      "apiVersion: apps/v1\nkind: Deployment\nspec: {selector: {a: b}, template: {spec: {containers: [{name: a, image: "
      "vllm/vllm-openai:v0.20.0, resources: {limits: {nvidia.com/gpu: 1}}, livenessProbe: {periodSeconds: 1, "
      "failureThreshold: " +
      std::to_string(budget_s) + "}}]}}}\n";
  const Report report = lint_texts({{"a.yaml", text, true}}, {});
  return std::ranges::any_of(report.findings, [](const auto& f) { return f.rule->id == "missing-startup-probe"; });
}

TEST(ColdStart, AProbeMustAllowTheAssumedStartTime) {
  EXPECT_TRUE(is_too_short(kColdStartS - 1));
  EXPECT_FALSE(is_too_short(kColdStartS));
}

}  // namespace
}  // namespace capstan::lint::cold_start_test
