#include "lint/cold_start.h"

#include <gtest/gtest.h>

#include <string>

#include "lint/testing/cases.h"

namespace capstan::lint::cold_start_test {
namespace {

using namespace testing_cases;

/// Returns the severity of the finding about a liveness probe that allows this start time.
std::string_view probe_of(const std::string& args, std::int64_t budget_s, const std::string& spec = "") {
  return found(server("image: 'vllm/vllm-openai:v0.20.0', args: [" + args +
                          "], livenessProbe: {httpGet: {path: /health, port: 8000}, failureThreshold: 1, "
                          "initialDelaySeconds: " +
                          std::to_string(budget_s - 1) + "}",
                      spec),
               "missing-startup-probe");
}

TEST(ColdStart, AProbeMustAllowTheAssumedStartTime) {
  EXPECT_EQ(probe_of("--model, m", kColdStartS - 1), "info");
  EXPECT_EQ(probe_of("--model, m", kColdStartS), "none");
  EXPECT_EQ(probe_of("--model, m", kFastestStartS), "info") << "the model may be tiny";
  EXPECT_EQ(probe_of("--model, m", kFastestStartS - 1), "warning") << "no engine starts so fast";
}

TEST(ColdStart, TheNameOfAModelProvesALongStart) {
  const std::string claim = "volumes: [{name: m, persistentVolumeClaim: {claimName: m}}], ";
  const std::string llama = "--model, meta-llama/Llama-3.3-70B-Instruct";
  EXPECT_EQ(probe_of(llama, 210), "warning") << "20 s, and 140 GB at 1 GB/s and at 2.5 GB/s";
  EXPECT_EQ(probe_of(llama, 220), "info");
  EXPECT_EQ(probe_of(llama, 430), "info") << "most starts of such a model take longer";
  EXPECT_EQ(probe_of(llama, 440), "none");
  EXPECT_EQ(probe_of(llama, 70, claim), "warning") << "140 GB from a volume";
  EXPECT_EQ(probe_of(llama, 80, claim), "info");
  EXPECT_EQ(probe_of("--model, mistralai/Mixtral-8x7B-Instruct-v0.1", 120), "warning");
  EXPECT_EQ(probe_of(llama + ", --load-format, runai_streamer", 60), "info") << "its speed is unknown";
  EXPECT_EQ(probe_of("--model, /models/Llama-70B", 60), "warning");
  EXPECT_EQ(probe_of("--model, Qwen/Qwen2.5-7B-Instruct", 51), "info");
  EXPECT_EQ(probe_of("--model, microsoft/DialoGPT-small", 60), "info");
  EXPECT_EQ(probe_of("--model, microsoft/DialoGPT-small", kTinyStartS), "none");
}

/// Returns the severity of the finding about the scale-down window of an HPA for an engine with these arguments.
std::string_view window_of(const std::string& args, const std::string& down, const std::string& container = "") {
  return found(
      "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: llama-70b}\nspec: "
      "{scaleTargetRef: {kind: Deployment, name: llama-70b}, maxReplicas: 9, behavior: {scaleDown: {" +
          down +
          "}}, metrics: [{type: Pods, pods: {metric: {name: vllm_num_requests_waiting}, target: {type: "
          "AverageValue, averageValue: 5}}}]}\n---\n" +
          server("image: 'vllm/vllm-openai:v0.20.0', ports: [{containerPort: 80}], " + container + "args: [" + args +
                 "]"),
      "scaledown-window-too-short");
}

TEST(ColdStart, AWindowShorterThanTheShortestStartIsAWarning) {
  const auto window = [](const std::string& seconds) { return "stabilizationWindowSeconds: " + seconds; };
  EXPECT_EQ(window_of("--model, m", window("0")), "warning");
  EXPECT_EQ(window_of("--model, m", window("60")), "info");
  EXPECT_EQ(window_of("--model, meta-llama/Llama-3.3-70B-Instruct", window("60")), "warning");
  EXPECT_EQ(window_of("--model, meta-llama/Llama-3.3-70B-Instruct", window("240")), "info");
  EXPECT_EQ(window_of("--model, m", window("120"), "readinessProbe: {initialDelaySeconds: 200}, "), "warning");
  EXPECT_EQ(window_of("--model, m", window("300")), "none");
  const std::string slowly = ", policies: [{type: Pods, value: 1, periodSeconds: 300}]";
  EXPECT_EQ(window_of("--model, m", window("0") + slowly), "info") << "one replica is removed in five minutes";
  EXPECT_EQ(window_of("--model, m", window("0") + ", policies: [{type: Pods, value: 4, periodSeconds: 300}]"),
            "warning");
}

TEST(ColdStart, TheDefaultWindowIsTooShortOnlyForAProvenSlowStart) {
  const auto defaults = [](const std::string& args, const std::string& container = "") {
    return found(
        scaled_server("image: 'vllm/vllm-openai:v0.20.0', ports: [{containerPort: 80}], " + container +
                      "args: [--model, " + args + "]") +
            "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: b}\nspec: "
            "{scaleTargetRef: {kind: Deployment, name: llama-70b}, maxReplicas: 9, metrics: [{type: Pods, "
            "pods: {metric: {name: vllm_num_requests_waiting}, target: {type: AverageValue, averageValue: 5}}}]}",
        "hpa-missing-scaledown-behavior");
  };
  EXPECT_EQ(defaults("meta-llama/Llama-3.3-70B-Instruct"), "info");
  EXPECT_EQ(defaults("meta-llama/Llama-3.1-405B-Instruct"), "warning");
  EXPECT_EQ(defaults("meta-llama/Llama-3.1-405B-Instruct-AWQ-INT4"), "warning");
  EXPECT_EQ(defaults("m", "readinessProbe: {initialDelaySeconds: 600}, "), "warning");
  EXPECT_EQ(defaults("m"), "info");
}

}  // namespace
}  // namespace capstan::lint::cold_start_test
