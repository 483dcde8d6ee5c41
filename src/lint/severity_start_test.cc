#include "lint/testing/cases.h"

// Tests of severities that depend on how long an engine starts and answers.
namespace capstan::lint::severity_start_test {
namespace {

using namespace testing_cases;

TEST(SeverityStart, MissingStartupProbe) {
  const std::string probe = "livenessProbe: {httpGet: {path: /health, port: 8000}, initialDelaySeconds: 30}";
  const std::string engine = "image: 'vllm/vllm-openai:v0.20.0', ";
  const std::string download =
      "initContainers: [{name: i, image: 'a:1', command: [sh, -c, 'aws s3 sync s3://m /m']}], ";
  const std::string waits =
      "initContainers: [{name: i, image: 'a:1', command: [sh, -c, 'until nc -z db 1; do sleep 1; "
      "done']}], ";
  const auto startup = [](const std::string& yaml) { return found(yaml, "missing-startup-probe"); };
  EXPECT_EQ(startup(server(engine + probe)), "warning");
  EXPECT_EQ(startup(server(engine + probe, waits)), "warning");
  EXPECT_EQ(startup(server(engine + probe, download)), "info") << "an init container provides the model";
  EXPECT_EQ(startup(server("image: 'jupyter:1', " + probe)), "info") << "it is no known engine";
  EXPECT_EQ(startup(server(engine + probe + ", startupProbe: {httpGet: {path: /health, port: 8000}}")), "none");
  const std::string late = "livenessProbe: {httpGet: {path: /health, port: 8000}, initialDelaySeconds: 110}";
  EXPECT_EQ(startup(server(engine + late)), "warning");
  EXPECT_EQ(startup(server(engine + late, download)), "none") << "131 s are enough to load a model from a disk";
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
  EXPECT_EQ(startup(vllm, "google/gemma-2-2b-it", 190), "info");
  EXPECT_EQ(startup(vllm, "google/gemma-2-2b-it", 100), "warning");
  EXPECT_EQ(startup(vllm, "Qwen/Qwen2.5-7B-Instruct", 190), "warning");
  EXPECT_EQ(startup(vllm, "Qwen/Qwen2.5-7B-Instruct-AWQ", 190), "info");
  EXPECT_EQ(startup(vllm, "/models/merged", 190), "warning");
  EXPECT_EQ(startup("nvcr.io/nvidia/tritonserver:24.04-py3", "m", 30), "info") << "its models may load in seconds";
  EXPECT_EQ(startup("nvcr.io/nvidia/tritonserver:24.04-trtllm-python-py3", "m", 30), "warning");
}

TEST(SeverityStart, AModelInALastingVolumeOrOfKnownSmallSizeLoadsSooner) {
  const auto startup = [](const std::string& container, const std::string& volumes, int delay) {
    return found(server("image: 'vllm/vllm-openai:v0.20.0', " + container +
                            "livenessProbe: {httpGet: {path: /health, port: 8000}, failureThreshold: 1, "
                            "initialDelaySeconds: " +
                            std::to_string(delay) + "}",
                        volumes),
                 "missing-startup-probe");
  };
  const std::string args = "args: [--model, Qwen/Qwen2.5-32B-Instruct], ";
  const std::string claim = "volumes: [{name: m, persistentVolumeClaim: {claimName: m}}], ";
  EXPECT_EQ(startup(args, "", 240), "warning");
  EXPECT_EQ(startup(args, "volumes: [{name: m, emptyDir: {}}], ", 240), "info") << "it outlives the container";
  EXPECT_EQ(startup(args, "volumes: [{name: m, emptyDir: {medium: Memory}}], ", 240), "warning");
  EXPECT_EQ(startup(args, claim, 240), "info") << "a restart continues the download";
  EXPECT_EQ(startup(args, claim, 100), "warning");
  const std::string script = "command: [/entrypoint.sh], env: [{name: MODEL_ID, value: facebook/opt-125m}], ";
  EXPECT_EQ(startup(script, "", 220), "info");
  EXPECT_EQ(startup("args: [--model, facebook/opt-125m], ", "", 80), "info");
  EXPECT_EQ(startup("args: [--model, facebook/opt-125m], ", "", 60), "warning");
}

TEST(SeverityStart, ADownloadIsAdviceForServersOfUnknownModels) {
  const auto download = [](const std::string& image) {
    return found(server("image: '" + image + "', volumeMounts: [{name: m, mountPath: /m}]",
                        "volumes: [{name: m, emptyDir: {}}], initContainers: [{name: i, image: 'aws:1', command: [sh, "
                        "-c, 'aws s3 cp s3://m/ /m --recursive'], volumeMounts: [{name: m, mountPath: /m}]}], "),
                 "model-download-no-cache");
  };
  EXPECT_EQ(download("vllm/vllm-openai:v0.20.0"), "warning");
  EXPECT_EQ(download("nvcr.io/nvidia/tritonserver:26.08-py3"), "info");
}

TEST(SeverityStart, TritonAnswersProbesInItsOwnThread) {
  const auto liveness = [](const std::string& image) {
    return found(server("image: '" + image + "', livenessProbe: {httpGet: {path: /v2/health/live, port: 8000}}"),
                 "liveness-kills-busy");
  };
  EXPECT_EQ(liveness("registry.local/vllm:1"), "warning");
  EXPECT_EQ(liveness("nvcr.io/nvidia/tritonserver:24.03-vllm-python-py3"), "none");
}

TEST(SeverityStart, ASmallEngineWritesAnAnswerWithinAMinute) {
  const auto grace = [](const std::string& model, const std::string& length, const std::string& seconds) {
    return found(
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: "
        "{scaleTargetRef: {kind: Deployment, name: llama-70b}, maxReplicas: 9}\n---\n" +
            server("image: 'lmsysorg/sglang:v0.5.5', command: [python3, -m, sglang.launch_server, --model-path, " +
                       model + ", --context-length, '" + length + "'], ports: [{containerPort: 8000}]",
                   "terminationGracePeriodSeconds: " + seconds + ", "),
        "grace-period-too-short");
  };
  EXPECT_EQ(grace("google/gemma-2-2b-it", "4096", "60"), "info");
  EXPECT_EQ(grace("google/gemma-2-2b-it", "4096", "30"), "warning");
  EXPECT_EQ(grace("google/gemma-2-2b-it", "8192", "60"), "warning");
  EXPECT_EQ(grace("Qwen/Qwen2.5-14B-Instruct", "4096", "60"), "warning");
}

TEST(SeverityStart, AReadinessDelayMayBeAsLongAsADownload) {
  const auto delay = [](const std::string& seconds, const std::string& volumes) {
    return found(
        scaled_server("image: 'vllm/vllm-openai:v0.20.0', readinessProbe: {httpGet: {path: /health, port: 8000}, "
                      "initialDelaySeconds: " +
                          seconds + "}",
                      volumes),
        "readiness-delay-fixed");
  };
  const std::string claim = "volumes: [{name: m, persistentVolumeClaim: {claimName: m}}], ";
  EXPECT_EQ(delay("119", claim), "none");
  EXPECT_EQ(delay("180", claim), "warning");
  EXPECT_EQ(delay("180", ""), "info");
  EXPECT_EQ(delay("300", ""), "warning");
  const auto large = [&](const std::string& seconds) {
    return found(scaled_server("image: 'vllm/vllm-openai:v0.20.0', args: [--model, Qwen/Qwen2.5-32B-Instruct], "
                               "readinessProbe: {httpGet: {path: /health, port: 8000}, initialDelaySeconds: " +
                                   seconds + "}",
                               claim),
                 "readiness-delay-fixed");
  };
  EXPECT_EQ(large("180"), "info");
  EXPECT_EQ(large("300"), "warning");
}

TEST(SeverityStart, DefaultPoliciesOfScaleUpAreAdvice) {
  const auto up = [](const std::string& policies) {
    return found(
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: "
        "{scaleTargetRef: {kind: Deployment, name: llama-70b}, maxReplicas: 9, behavior: {scaleUp: "
        "{policies: [" +
            policies + "]}}}\n---\n" + server("image: 'vllm/vllm-openai:v0.20.0'"),
        "scaleup-unbounded-vs-coldstart");
  };
  const std::string percent = "{type: Percent, value: 100, periodSeconds: 15}";
  EXPECT_EQ(up(percent), "info");
  EXPECT_EQ(up(percent + ", {type: Pods, value: 4, periodSeconds: 15}"), "info");
  EXPECT_EQ(up(percent + ", {type: Pods, value: 8, periodSeconds: 15}"), "warning");
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

}  // namespace
}  // namespace capstan::lint::severity_start_test
