#include <gtest/gtest.h>

#include <string>

#include "lint/testing/cases.h"

// Tests of findings that are warnings only if the input proves the harm. The proof is a size, a number of replicas or
// another object in the input. Without the proof, the finding is advice.
namespace capstan::lint::proof_cases_test {
namespace {

using namespace testing_cases;

const std::string kVllm = "image: 'vllm/vllm-openai:v0.20.0', ";
const std::string kLarge = kVllm + "args: [--model, meta-llama/Llama-3.3-70B-Instruct]";

TEST(ProofCases, ADownloadAtEveryStartMattersForLargeModelsOfScaledWorkloads) {
  const std::string download =
      "volumes: [{name: m, emptyDir: {}}], initContainers: [{name: i, image: 'aws:1', command: [sh, -c, 'aws s3 cp "
      "s3://m/ /m --recursive'], volumeMounts: [{name: m, mountPath: /m}]}], ";
  EXPECT_EQ(found(scaled_server(kLarge, download), "model-download-no-cache"), "warning");
  EXPECT_EQ(found(server(kLarge, download), "model-download-no-cache"), "info") << "nothing adds replicas";
  EXPECT_EQ(found(scaled_server(kVllm + "args: [--model, m]", download), "model-download-no-cache"), "info");
}

TEST(ProofCases, OnlyALargeModelSurelyHasSeveralFiles) {
  const std::string checks =
      "initContainers: [{name: i, image: 'aws:1', command: [sh, -c, '[ -f /m/model.safetensors ] || aws s3 sync s3://m "
      "/m']}], ";
  EXPECT_EQ(found(server(kLarge, checks), "cache-check-sentinel-wrong"), "warning");
  EXPECT_EQ(found(server(kVllm + "args: [--model, Qwen/Qwen2.5-1.5B]", checks), "cache-check-sentinel-wrong"), "info");
  EXPECT_EQ(found(server("image: 'a:1'", checks), "cache-check-sentinel-wrong"), "info");
}

TEST(ProofCases, AHostPathOfDisksNeedsTheInstanceStore) {
  const std::string node_class =
      "---\napiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: gpu}\nspec: {role: a}\n";
  const auto path = [&](const std::string& text, const std::string& more = "") {
    return found(server("image: 'a:1'", "volumes: [{name: m, hostPath: {path: " + text + "}}], ") + node_class + more,
                 "hostpath-not-instance-store");
  };
  EXPECT_EQ(path("/mnt/nvme/models"), "warning");
  EXPECT_EQ(path("/var/cache/models"), "info") << "it may be meant to be on the root volume";
  EXPECT_EQ(path("/data"), "none");
  std::string other = node_class;
  EXPECT_EQ(path("/mnt/nvme/models", other.replace(other.find("name: gpu"), 9, "name: cpu")), "info");
}

TEST(ProofCases, ABudgetThatForbidsEvictionsHarmsSeveralReplicas) {
  const auto budget = [](const std::string& replicas, const std::string& spec) {
    std::string workload = server("image: 'a:1'");
    workload.insert(workload.find("selector:"), "replicas: " + replicas + ", ");
    return found(workload + "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: a}\nspec: {" +
                     spec + ", selector: {matchLabels: {a: b}}}\n",
                 "pdb-missing-or-blocking");
  };
  EXPECT_EQ(budget("3", "maxUnavailable: 0"), "warning");
  EXPECT_EQ(budget("3", "minAvailable: 100%"), "warning");
  EXPECT_EQ(budget("1", "maxUnavailable: 0"), "info") << "it may be meant to forbid evictions";
  EXPECT_EQ(budget("3", "maxUnavailable: 1"), "none");
}

TEST(ProofCases, ABudgetAtTheMinimumOfAnAutoscaler) {
  const auto budget = [](const std::string& min) {
    return found(server("image: 'a:1'") +
                     "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: "
                     "{scaleTargetRef: {kind: Deployment, name: llama-70b}, minReplicas: " +
                     min +
                     ", maxReplicas: 8}\n---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: "
                     "a}\nspec: {minAvailable: " +
                     min + ", selector: {matchLabels: {a: b}}}\n",
                 "pdb-vs-min");
  };
  EXPECT_EQ(budget("2"), "warning");
  EXPECT_EQ(budget("1"), "info") << "a single replica may be protected on purpose";
}

TEST(ProofCases, TwoReplicasOfAnEngineDoNotShareAGpu) {
  const auto shared = [](const std::string& replicas, const std::string& memory) {
    std::string text = server(kVllm + "args: [--model, m, --gpu-memory-utilization, '" + memory + "']");
    text.replace(text.find("nvidia.com/gpu"), 14, "nvidia.com/gpu.shared");
    text.insert(text.find("selector:"), "replicas: " + replicas + ", ");
    return found(text, "timeslicing-slo");
  };
  EXPECT_EQ(shared("2", "0.9"), "warning");
  EXPECT_EQ(shared("1", "0.9"), "info") << "the other shares may need little memory";
  EXPECT_EQ(shared("2", "0.4"), "none");
}

TEST(ProofCases, AScriptInAConfigMapMayRunOnNewNodesOnly) {
  const std::string script = "kubectl label node a nvidia.com/mig.config=all-1g.10gb";
  EXPECT_EQ(found("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a.sh: '" + script + "'}\n",
                  "mig-change-no-drain"),
            "info");
  EXPECT_EQ(found("apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {template: {spec: {containers: [{name: "
                  "a, image: 'a:1', command: [sh, -c, '" +
                      script + "']}]}}}\n",
                  "mig-change-no-drain"),
            "warning");
}

TEST(ProofCases, AFixedMinimumEqualToTheReplicasChangesNothing) {
  const auto scaled = [](const std::string& min, const std::string& max) {
    std::string text = server("image: 'a:1'");
    text.insert(text.find("selector:"), "replicas: 2, ");
    return found(text +
                     "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: "
                     "{scaleTargetRef: {kind: Deployment, name: llama-70b}, minReplicas: " +
                     min + ", maxReplicas: " + max + "}\n",
                 "deployment-replicas-with-autoscaler");
  };
  EXPECT_EQ(scaled("2", "8"), "warning");
  EXPECT_EQ(scaled("2", "2"), "none");
}

TEST(ProofCases, ACooldownHasNoEffectOnlyIfTheMinimumIsKnown) {
  const auto cooldown = [](const std::string& min, const std::string& seconds) {
    return found(
        "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec: {scaleTargetRef: {name: "
        "a}, minReplicaCount: " +
            min + ", cooldownPeriod: " + seconds + "}\n",
        "keda-cooldown-noop");
  };
  EXPECT_EQ(cooldown("1", "600"), "warning");
  EXPECT_EQ(cooldown("1", "300"), "info") << "the window of the HPA is as long";
  EXPECT_EQ(cooldown("0", "600"), "none");
  EXPECT_EQ(cooldown("'${MIN}'", "600"), "none");
}

TEST(ProofCases, ADrainFlagIsMissingOnlyWithoutAPreStopHook) {
  const std::string args = "args: [--model, m]";
  EXPECT_EQ(found(scaled_server(kVllm + args), "vllm-no-drain-flag"), "warning");
  EXPECT_EQ(found(server(kVllm + args), "vllm-no-drain-flag"), "info");
  EXPECT_EQ(found(scaled_server(kVllm + "lifecycle: {preStop: {sleep: {seconds: 20}}}, " + args), "vllm-no-drain-flag"),
            "info")
      << "the requests may end while the hook sleeps";
  EXPECT_EQ(found(scaled_server("image: 'vllm/vllm-openai:latest', " + args), "vllm-no-drain-flag"), "info");
}

TEST(ProofCases, AQueryOfAWorkloadWithOneReplicaHasOneSeries) {
  const auto query = [](const std::string& max) {
    std::string text = scaled_by("vllm:num_requests_waiting");
    text.replace(text.find("maxReplicaCount: 9"), 18, "maxReplicaCount: " + max);
    return found(text, "keda-query-not-aggregated");
  };
  EXPECT_EQ(query("2"), "error");
  EXPECT_EQ(query("1"), "none");
}

TEST(ProofCases, AMonitorMayCopyTheLabelOfAModel) {
  const auto label = [](const std::string& name) {
    return found(scaled_by("sum(vllm:request_success_total{" + name + "=\"a\"})"), "metric-label-unknown");
  };
  EXPECT_EQ(label("finish_reason"), "warning");
  EXPECT_EQ(label("model"), "info");
  EXPECT_EQ(label("model_name"), "none");
}

TEST(ProofCases, TheReplicasAreMultipliedOnlyByATargetOfTheWholeFleet) {
  const auto up = [](const std::string& type, const std::string& value, const std::string& percent) {
    return found(
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: {scaleTargetRef: "
        "{kind: Deployment, name: llama-70b}, maxReplicas: 9, behavior: {scaleUp: {policies: [{type: Percent, "
        "value: " +
            percent +
            ", periodSeconds: 15}]}}, metrics: [{type: External, external: {metric: {name: "
            "vllm_time_to_first_token}, target: {type: " +
            type + ", " + value + ": 2}}}]}\n---\n" + server(kVllm + "ports: [{containerPort: 80}]"),
        "scaleup-unbounded-vs-coldstart");
  };
  EXPECT_EQ(up("Value", "value", "200"), "warning");
  EXPECT_EQ(up("AverageValue", "averageValue", "200"), "info");
  EXPECT_EQ(up("Value", "value", "100"), "info") << "the HPA does this by default";
}

TEST(ProofCases, AFallbackBelowTheMinimumHasNoEffect) {
  const auto fallback = [](const std::string& fields) {
    return found(
        "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec: {scaleTargetRef: {name: "
        "a}, minReplicaCount: 3, fallback: {failureThreshold: 3, " +
            fields + "}}\n",
        "fallback-below-min");
  };
  EXPECT_EQ(fallback("replicas: 1"), "info");
  EXPECT_EQ(fallback("replicas: 1, behavior: currentReplicas"), "none");
  EXPECT_EQ(fallback("replicas: 3"), "none");
}

TEST(ProofCases, TheGpusOfAWorkerOfDynamoAreThoseOfItsService) {
  const auto dynamo = [](const std::string& gpus, const std::string& flags, const std::string& more = "") {
    const std::string service = "resources: {limits: {gpu: '" + gpus +
                                "'}}, extraPodSpec: {mainContainer: {image: a, " +
                                "command: [python3, -m, dynamo.vllm], args: [--model, m" + flags + "]}}" + more;
    return "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {name: a}\nspec: {services: "
           "{Worker: {" +
           service + "}}}\n";
  };
  EXPECT_EQ(found(dynamo("2", ", --tensor-parallel-size, '4'"), "tp-gpu-mismatch"), "error");
  EXPECT_EQ(found(dynamo("4", ", --tensor-parallel-size, '4'"), "tp-gpu-mismatch"), "none");
  EXPECT_EQ(found(dynamo("8", ", --tensor-parallel-size, '4'"), "tp-gpu-mismatch"), "warning");
  EXPECT_EQ(found(dynamo("1", ""), "tp-gpu-mismatch"), "none");
  EXPECT_EQ(found(dynamo("8", ", --tensor-parallel-size, '16'", ", multinode: {nodeCount: 2}"), "tp-gpu-mismatch"),
            "none");
}

}  // namespace
}  // namespace capstan::lint::proof_cases_test
