#include "lint/testing/cases.h"

// Tests of severities that depend on how long an engine takes to start and to answer.
namespace capstan::lint::severity_start_test {
namespace {

using namespace testing_cases;

TEST(SeverityStart, MissingStartupProbe) {
  const std::string probe = "livenessProbe: {httpGet: {path: /health, port: 8000}, initialDelaySeconds: 30}";
  const std::string engine = "image: 'vllm/vllm-openai:v0.20.0', args: [--model, meta-llama/Llama-3.3-70B-Instruct], ";
  const std::string download =
      "initContainers: [{name: i, image: 'a:1', command: [sh, -c, 'aws s3 sync s3://m /m']}], ";
  const auto startup = [](const std::string& yaml) { return found(yaml, "missing-startup-probe"); };
  EXPECT_EQ(startup(server(engine + probe)), "warning");
  EXPECT_EQ(startup(server(engine + probe, download)), "warning") << "a disk does not deliver 140 GB in 51 s";
  EXPECT_EQ(startup(server("image: 'vllm/vllm-openai:v0.20.0', " + probe)), "info") << "the model may be small";
  EXPECT_EQ(startup(server("image: 'jupyter:1', " + probe)), "info") << "it is no known engine";
  EXPECT_EQ(startup(server(engine + probe + ", startupProbe: {httpGet: {path: /health, port: 8000}}")), "none");
}

TEST(SeverityStart, SmallModelsAndTritonMayStartInTime) {
  const auto startup = [](const std::string& image, const std::string& model, int delay) {
    return found(server("image: '" + image + "', args: [--model, " + model +
                        "], livenessProbe: {httpGet: {path: /health, port: 8000}, failureThreshold: 1, "
                        "initialDelaySeconds: " +
                        std::to_string(delay) + "}"),
                 "missing-startup-probe");
  };
  const std::string vllm = "vllm/vllm-openai:v0.20.0";
  EXPECT_EQ(startup(vllm, "google/gemma-2-2b-it", 190), "none") << "4 GB are loaded by then";
  EXPECT_EQ(startup(vllm, "google/gemma-2-2b-it", 100), "info");
  EXPECT_EQ(startup(vllm, "google/gemma-2-2b-it", 15), "warning");
  EXPECT_EQ(startup(vllm, "Qwen/Qwen2.5-7B-Instruct", 190), "info");
  EXPECT_EQ(startup(vllm, "Qwen/Qwen2.5-7B-Instruct-AWQ", 190), "none");
  EXPECT_EQ(startup(vllm, "/models/merged", 190), "info");
  EXPECT_EQ(startup("nvcr.io/nvidia/tritonserver:24.04-py3", "m", 10), "info") << "its models may load in seconds";
  EXPECT_EQ(startup("nvcr.io/nvidia/tritonserver:24.04-trtllm-python-py3", "m", 10), "warning");
}

TEST(SeverityStart, TritonAnswersProbesInItsOwnThread) {
  const auto liveness = [](const std::string& image) {
    return found(server("image: '" + image +
                        "', livenessProbe: {httpGet: {path: /v2/health/live, port: 8000}, failureThreshold: 1}"),
                 "liveness-kills-busy");
  };
  EXPECT_EQ(liveness("registry.local/vllm:1"), "warning");
  EXPECT_EQ(liveness("nvcr.io/nvidia/tritonserver:24.03-vllm-python-py3"), "none");
}

TEST(SeverityStart, AnImageThatIsNeverPulledDoesNotChange) {
  const auto tag = [](const std::string& policy) {
    return found(
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: "
        "{scaleTargetRef: {kind: Deployment, name: llama-70b}, maxReplicas: 9}\n---\n" +
            server("image: 'vllm/vllm-openai:latest', imagePullPolicy: " + policy),
        "image-floating-tag");
  };
  EXPECT_EQ(tag("IfNotPresent"), "warning");
  EXPECT_EQ(tag("Never"), "info");
}

TEST(SeverityStart, AnHpaThatComputesNothingRemovesNoReplica) {
  const auto hpa = [](const std::string& limits, const std::string& bounds) {
    std::string engine = server("image: 'vllm/vllm-openai:v0.20.0', args: [--model, meta-llama/Llama-3.1-405B]");
    engine.replace(engine.find("nvidia.com/gpu: 1"), 17, limits);
    return found(engine +
                     "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: "
                     "{scaleTargetRef: {kind: Deployment, name: llama-70b}, " +
                     bounds +
                     ", metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, "
                     "averageUtilization: 80}}}]}\n",
                 "hpa-missing-scaledown-behavior");
  };
  EXPECT_EQ(hpa("nvidia.com/gpu: 8, cpu: 8", "minReplicas: 1, maxReplicas: 9"), "warning");
  EXPECT_EQ(hpa("nvidia.com/gpu: 8", "minReplicas: 1, maxReplicas: 9"), "none") << "no container requests CPU";
  EXPECT_EQ(hpa("nvidia.com/gpu: 8, cpu: 8", "minReplicas: 9, maxReplicas: 4"), "none") << "the API refuses the bounds";
}

}  // namespace
}  // namespace capstan::lint::severity_start_test
