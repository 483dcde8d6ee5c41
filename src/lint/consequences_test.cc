#include "lint/consequences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "lint/run.h"

namespace capstan::lint {
namespace {

std::vector<std::string> rules_for_engine(std::string_view fields) {
  Options options;
  options.advice = true;
  const std::string yaml =
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  selector: {matchLabels: {a: b}}\n  "
      "template:\n    metadata: {labels: {a: b}}\n    spec:\n      containers:\n      - {name: a, image: "
      "'vllm/vllm-openai:v0.11.0', " +
      std::string(fields) + "}\n";
  std::vector<std::string> rules;
  for (const Finding& finding : lint_texts({{"a.yaml", yaml}}, options).findings) {
    rules.emplace_back(finding.rule->id);
  }
  return rules;
}

bool has(const std::vector<std::string>& rules, std::string_view rule) {
  return std::ranges::find(rules, rule) != rules.end();
}

TEST(Consequences, OfAMisspeltNameAreNotReported) {
  struct Row {
    std::string_view wrong, right_but_absent, cause, consequence;
  };
  const Row rows[] = {
      {"resource: {limits: {nvidia.com/gpu: 1}}", "tty: false", "kubernetes-field-unknown", "engine-without-gpu"},
      {"resources: {limit: {nvidia.com/gpu: 1}}", "resources: {}", "kubernetes-field-unknown", "engine-without-gpu"},
      {"readynessProbe: {httpGet: {port: 8000, path: /health}}, resources: {limits: {nvidia.com/gpu: 1}}",
       "resources: {limits: {nvidia.com/gpu: 1}}", "kubernetes-field-unknown", "missing-readiness-probe"},
      {"args: [--model, m, tensor-parallel-size=4], resources: {limits: {nvidia.com/gpu: 4}}",
       "args: [--model, m], resources: {limits: {nvidia.com/gpu: 4}}", "engine-argument-malformed", "tp-gpu-mismatch"},
      {"args: [--model, m, --tenser-parallel-size, '4'], resources: {limits: {nvidia.com/gpu: 4}}",
       "args: [--model, m], resources: {limits: {nvidia.com/gpu: 4}}", "engine-argument-malformed", "tp-gpu-mismatch"},
  };
  for (const Row& row : rows) {
    const std::vector<std::string> found = rules_for_engine(row.wrong);
    EXPECT_TRUE(has(found, row.cause)) << row.wrong;
    EXPECT_FALSE(has(found, row.consequence)) << row.wrong;
    EXPECT_TRUE(has(rules_for_engine(row.right_but_absent), row.consequence)) << row.right_but_absent;
  }
}

TEST(Consequences, OnlyAFlagThatVllmRefusesIsMisspelt) {
  const auto is_found = [](std::string_view flag) {
    const std::string fields =
        "args: [--model, m, " + std::string(flag) + "], resources: {limits: {nvidia.com/gpu: 1}}";
    return has(rules_for_engine(fields), "engine-argument-malformed");
  };
  for (const std::string_view wrong :
       {"--tensor-paralel-size=1", "--gpu-memory-utilisation, '0.9'", "--max-model-lenn, '8192'"}) {
    EXPECT_TRUE(is_found(wrong)) << wrong;
  }
  for (const std::string_view right :
       {"--tensor-parallel-size=1", "--tensor_parallel_size=1", "--tensor-parallel, '1'", "--no-enable-prefix-caching",
        "--max-num-seqs, '8'", "--data-parallel-rank, '0'", "--some-new-flag"}) {
    EXPECT_FALSE(is_found(right)) << right;
  }
}

TEST(Consequences, OfAnotherNameAreReported) {
  const std::vector<std::string> found = rules_for_engine("tyy: true");
  EXPECT_TRUE(has(found, "kubernetes-field-unknown"));
  EXPECT_TRUE(has(found, "engine-without-gpu"));
}

}  // namespace
}  // namespace capstan::lint
