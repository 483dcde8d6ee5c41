#include "lint/testing/cases.h"

// Tests of the evidence that a finding needs. A finding is advice unless the manifests show that the defect does harm.
namespace capstan::lint::evidence_cases_test {
namespace {

using namespace testing_cases;

std::string pool(const std::string& requirements, const std::string& spec = "", const std::string& name = "gpu") {
  return "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: " + name + "}\nspec: {" + spec +
         "template: {spec: {requirements: [" + requirements + "]}}}\n";
}

std::string allows(const std::string& key, const std::string& values) {
  return "{key: karpenter.k8s.aws/instance-" + key + ", operator: In, values: [" + values + "]}";
}

TEST(EvidenceCases, OtherLimitsCountTheGpusOfTheAllowedInstances) {
  const std::string type = "{key: node.kubernetes.io/instance-type, operator: In, values: [g6e.12xlarge]}";
  const std::string families = allows("family", "g5, g6, g6e, p5");
  const auto found_with = [](const std::string& requirements, const std::string& limits) {
    return found(pool(requirements, "limits: {" + limits + "}, "), "gpu-pool-no-gpu-limit");
  };
  const std::string limits = "cpu: 1000, memory: 1000Gi";
  EXPECT_EQ(found_with(families, limits), "info") << "62 g5.xlarge";
  EXPECT_EQ(found_with(families, "cpu: 5000"), "warning") << "1250 GPUs";
  EXPECT_EQ(found_with(families + ", " + type, limits), "none") << "two g6e.12xlarge with 384 GiB and 4 GPUs each";
  EXPECT_EQ(found_with(allows("family", "g5") + ", " + allows("size", "xlarge, 12xlarge"), "cpu: 180"), "info");
  EXPECT_EQ(found_with(allows("family", "g5") + ", " + allows("size", "xlarge, 12xlarge"), "cpu: 120"), "none");
  EXPECT_EQ(found_with(allows("family", "g5") + ", " + allows("size", "16xlarge"), "cpu: 2000"), "none");
  EXPECT_EQ(found_with(allows("family", "p5en"), "cpu: 768"), "none") << "24 CPUs per GPU";
  EXPECT_EQ(found_with(allows("family", "p5en"), "cpu: 3840"), "info") << "160 GPUs";
  EXPECT_EQ(found_with(allows("family", "p5en"), "cpu: 9600"), "warning") << "400 GPUs";
}

TEST(EvidenceCases, ATaintReservesNodesOnlyIfOtherPodsHaveOthers) {
  const std::string g5 = allows("family", "g5");
  const std::string cpu = "---\n" + pool(allows("family", "m6i"), "", "cpu");
  const auto taint = [](const std::string& yaml) { return found(yaml, "gpu-pool-no-taint"); };
  EXPECT_EQ(taint(pool(g5, "", "default")), "info") << "it may be the only pool of the cluster";
  EXPECT_EQ(taint(pool(g5, "", "default") + cpu), "warning");
  EXPECT_EQ(taint(pool(g5)), "warning") << "its name says that it is for GPUs";
  EXPECT_EQ(taint(pool(g5, "", "a10g-workers")), "warning");
  EXPECT_EQ(taint(pool("", "limits: {nvidia.com/gpu: 8}, ")), "info") << "it also launches nodes without GPUs";
}

TEST(EvidenceCases, ConsolidationEndsReplicasOnlyOnNodesThatServe) {
  const std::string g5 = allows("family", "g5");
  const auto consolidates = [](const std::string& yaml) { return found(yaml, "gpu-consolidation-underutilized"); };
  const std::string llm = server("image: 'vllm/vllm-openai:v0.20.0'");
  EXPECT_EQ(consolidates(pool(g5)), "info");
  EXPECT_EQ(consolidates(pool(g5) + "---\n" + llm), "warning");
  EXPECT_EQ(consolidates(pool(g5, "", "gpu-inference")), "warning");
  EXPECT_EQ(consolidates(pool(g5, "", "gpu-batch-inference")), "info");
  EXPECT_EQ(consolidates(pool(g5, "", "gpu-dev") + "---\n" + llm), "info");
  const std::string after_an_hour =
      "disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1h}, ";
  EXPECT_EQ(consolidates(pool(g5, after_an_hour, "gpu-inference")), "info");
  std::string safe = llm;
  safe.insert(safe.find("labels: {a: b}}, spec"), "annotations: {karpenter.sh/do-not-disrupt: 'true'}, ");
  EXPECT_EQ(consolidates(pool(g5) + "---\n" + safe), "info");
  const std::string closed =
      "disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m, budgets: "
      "[{nodes: '0'}]}, ";
  EXPECT_EQ(consolidates(pool(g5, closed, "gpu-inference")), "none");
}

TEST(EvidenceCases, TheDisruptionBlockFollowsTheVersionOfTheApi) {
  const auto disruption = [](const std::string& version, const std::string& fields) {
    return Texts{{"a/a.yaml", "apiVersion: karpenter.sh/" + version +
                                  "\nkind: NodePool\nmetadata: {name: gpu}\nspec: " +
                                  "{limits: {nvidia.com/gpu: 8}, disruption: {" + fields + "}}\n"}};
  };
  struct Row {
    const char* version;
    const char* fields;
    std::string_view severity;
  };
  const Row rows[] = {
      {"v1", "consolidationPolicy: WhenUnderutilized, consolidateAfter: 1h", "error"},
      {"v1", "consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1h", "none"},
      {"v1", "consolidationPolicy: WhenEmpty", "error"},
      {"v1", "consolidateAfter: Never", "none"},
      {"v1beta1", "consolidationPolicy: WhenEmpty", "error"},
      {"v1beta1", "consolidationPolicy: WhenUnderutilized", "none"},
      {"v1beta1", "consolidationPolicy: WhenEmptyOrUnderutilized", "error"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(found(disruption(row.version, row.fields), "pool-disruption-invalid"), row.severity) << row.fields;
  }
  EXPECT_EQ(found(pool(""), "pool-disruption-invalid"), "none") << "the API adds the block";
  const Texts invalid = disruption("v1", "consolidationPolicy: WhenUnderutilized, consolidateAfter: 1h");
  EXPECT_EQ(found(invalid, "gpu-consolidation-underutilized"), "none") << "the API server refuses the pool";
}

TEST(EvidenceCases, AFamilyThatIsOnlyTheBeginningOfOthersIsUnknown) {
  const auto family = [](const std::string& names) {
    return found(pool(allows("family", names)), "instance-family-unknown");
  };
  EXPECT_EQ(family("p4"), "error");
  EXPECT_EQ(family("g5, p4"), "warning");
  EXPECT_EQ(family("g5, p4, p4d"), "info") << "the full name is in the list";
  EXPECT_EQ(family("p4de, p4"), "info");
  const std::string types = "{key: node.kubernetes.io/instance-type, operator: In, values: [g6e.12xlarge]}";
  EXPECT_EQ(found(pool(allows("family", "g6e, p4") + ", " + types), "instance-family-unknown"), "info");
  EXPECT_EQ(family("p6"), "error");
  EXPECT_EQ(family("p, g"), "error") << "they are categories";
  EXPECT_EQ(family("g5, p"), "warning");
  EXPECT_EQ(family("g5, g6, p5, p4d"), "none");
  EXPECT_EQ(family("m6i, g9"), "none") << "the table may lack a new family";
}

TEST(EvidenceCases, AKarpenterNodeClassIsCalledEc2NodeClass) {
  const auto node_class = [](const std::string& version) {
    return found("apiVersion: " + version + "\nkind: NodeClass\nmetadata: {name: a}\nspec: {role: a}\n",
                 "nodeclass-kind-unknown");
  };
  EXPECT_EQ(node_class("karpenter.sh/v1beta1"), "error");
  EXPECT_EQ(node_class("karpenter.k8s.aws/v1beta1"), "error");
  EXPECT_EQ(node_class("eks.amazonaws.com/v1"), "none");
}

TEST(EvidenceCases, AClassOfAmazonLinux2IsReportedOnce) {
  Options options;
  const Report report = lint_texts({{"a.yaml",
                                     "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: "
                                     "a}\nspec: {amiFamily: AL2, amiSelectorTerms: [{alias: al2@latest}]}\n"}},
                                   options);
  const auto is_of_rule = [](const Finding& finding) { return finding.rule->id == "ami-al2-eol"; };
  EXPECT_EQ(std::ranges::count_if(report.findings, is_of_rule), 1);
}

TEST(EvidenceCases, TheDevicePluginOfGkeIgnoresTheVariable) {
  const auto variable = [](const std::string& label) {
    return found(
        server("image: 'a:1', env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]", "nodeSelector: {" + label + ": a}, "),
        "visible-devices-override");
  };
  EXPECT_EQ(variable("node-type"), "warning");
  EXPECT_EQ(variable("cloud.google.com/gke-accelerator"), "info");
}

TEST(EvidenceCases, KedaReadsNanAsZeroUnlessItMustNot) {
  const std::string query = "histogram_quantile(0.9, sum by (le) (rate(a_bucket[1m])))";
  EXPECT_EQ(found(scaled_by(query), "histogram-quantile-nan"), "info");
  EXPECT_EQ(found(scaled_by(query) + "      ignoreNullValues: 'false'\n", "histogram-quantile-nan"), "warning");
  EXPECT_EQ(found(scaled_by(query) + "      ignoreNullValues: 'true'\n", "histogram-quantile-nan"), "info");
}

/// Returns a ScaledObject of this Deployment with one trigger.
std::string scaler_of(const std::string& target, const std::string& trigger, const std::string& advanced = "") {
  return "---\napiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec: {scaleTargetRef: {name: " +
         target + "}, minReplicaCount: 1, maxReplicaCount: 9, " + advanced + "triggers: [" + trigger + "]}\n";
}

const std::string kRemoved = "{type: prometheus, metadata: {query: 'avg(vllm:gpu_cache_usage_perc)', threshold: 1}}";

TEST(EvidenceCases, AMetricIsSurelyRemovedOnlyIfTheScaledWorkloadIsKnown) {
  const std::string vllm = server("image: 'vllm/vllm-openai:v0.20.0'");
  EXPECT_EQ(found(vllm + scaler_of("llama-70b", kRemoved), "metric-removed"), "error");
  EXPECT_EQ(found(vllm + scaler_of("other", kRemoved), "metric-removed"), "warning");
  EXPECT_EQ(found(vllm + scaler_of("other-predictor", kRemoved), "metric-removed"), "info")
      << "KServe chooses the image";
}

TEST(EvidenceCases, ASmallModelStartsWithinAShortWindow) {
  const auto window = [](const std::string& model, const std::string& seconds) {
    const std::string behavior =
        "advanced: {horizontalPodAutoscalerConfig: {behavior: {scaleDown: {stabilizationWindowSeconds: " + seconds +
        "}}}}, ";
    return found(server("image: 'vllm/vllm-openai:v0.20.0', args: [--model, " + model + "]") +
                     scaler_of("llama-70b", kRemoved, behavior),
                 "scaledown-window-too-short");
  };
  EXPECT_EQ(window("Qwen/Qwen2.5-1.5B", "90"), "info");
  EXPECT_EQ(window("Qwen/Qwen2.5-1.5B", "20"), "warning");
  EXPECT_EQ(window("Qwen/Qwen2.5-72B", "90"), "warning");
  EXPECT_EQ(window("Qwen/Qwen2.5-72B", "300"), "none");
}

TEST(EvidenceCases, NoUserWaitsForAConsumerOfAQueue) {
  const std::string port = "image: 'a:1', ports: [{containerPort: 80}]", none = "image: 'a:1'";
  const std::string engine = "image: 'vllm/vllm-openai:v0.20.0', args: [--model, m]";
  const std::string large = "image: 'vllm/vllm-openai:v0.20.0', args: [--model, meta-llama/Llama-3.1-405B]";
  const std::string queue = "{type: aws-sqs-queue, metadata: {queueLength: '5'}}";
  const std::string cpu = "{type: cpu, metricType: AverageValue, metadata: {value: '4'}}";
  const auto behavior = [](const std::string& container, const std::string& trigger) {
    return found(server(container) + scaler_of("llama-70b", trigger), "hpa-missing-scaledown-behavior");
  };
  EXPECT_EQ(behavior(port, queue), "info");
  EXPECT_EQ(behavior(large, queue + ", " + cpu), "warning");
  EXPECT_EQ(behavior(large, cpu), "warning");
  EXPECT_EQ(behavior(large, queue), "info") << "no user waits";
  EXPECT_EQ(behavior(engine, cpu), "info") << "its replicas may start within the default window";
  EXPECT_EQ(behavior(port, cpu), "info") << "its replicas may start fast";
  EXPECT_EQ(behavior(none, cpu), "info");
  const auto signal = [](const std::string& container) {
    return found(server(container) + scaler_of("llama-70b",
                                               "{type: prometheus, metadata: {query: "
                                               "'avg(DCGM_FI_DEV_GPU_UTIL)', threshold: '80'}}"),
                 "gpu-util-scaling-signal");
  };
  EXPECT_EQ(signal(engine), "error");
  EXPECT_EQ(signal(port), "info") << "it may do one piece of work at a time";
  EXPECT_EQ(signal(none), "info") << "a load test without requests";
}

TEST(EvidenceCases, AFloatingTagMattersForServers) {
  const auto tag = [](const std::string& container) {
    return found(server(container) + scaler_of("llama-70b", kRemoved), "image-floating-tag");
  };
  EXPECT_EQ(tag("image: 'vllm/vllm-openai:latest', args: [--model, m]"), "warning");
  EXPECT_EQ(tag("image: 'a:latest', ports: [{containerPort: 80}]"), "info") << "its owner chooses when the tag moves";
  EXPECT_EQ(tag("image: 'a:latest'"), "info");
  const std::string fixed = server("image: 'a:1', ports: [{containerPort: 80}]");
  const std::string with_helper =
      std::string(fixed).replace(fixed.find("containers:"), 0, "initContainers: [{name: i, image: busybox}], ");
  EXPECT_EQ(found(with_helper + scaler_of("llama-70b", kRemoved), "image-floating-tag"), "info")
      << "a helper that runs before the server";
}

TEST(EvidenceCases, AnOwnerWhoNamesTheGateKnowsIt) {
  const std::string hpa =
      "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\n"
      "spec: {scaleTargetRef: {kind: Deployment, name: a}, minReplicas: 0, maxReplicas: 4}\n";
  const std::string gate = "# needs the feature gate HPAScaleToZero\n";
  EXPECT_EQ(found(hpa, "hpa-min-zero-gate"), "info") << "1.37 accepts it";
  EXPECT_EQ(found(hpa, "hpa-min-zero-gate", 36), "error");
  EXPECT_EQ(found(hpa, "hpa-min-zero-gate", 37), "none");
  EXPECT_EQ(found(gate + hpa, "hpa-min-zero-gate", 36), "info");
  const auto cluster = [](const std::string& version) {
    return "---\napiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: c, version: '" + version +
           "'}\n";
  };
  EXPECT_EQ(found(hpa + cluster("1.33"), "hpa-min-zero-gate"), "error");
  EXPECT_EQ(found(hpa + cluster("1.37"), "hpa-min-zero-gate"), "none");
  std::string own = hpa;
  own.insert(own.find("maxReplicas"), "metrics: [{type: Pods, pods: {metric: {name: m}}}], ");
  EXPECT_EQ(found(own, "hpa-min-zero-gate"), "error") << "at zero no pod has a metric, whatever the version";
  EXPECT_EQ(found(gate + own, "hpa-min-zero-gate"), "error");
}

TEST(EvidenceCases, AQueryMayCountTheOnlyEngineOfTheInput) {
  const std::string vllm = server("image: 'vllm/vllm-openai:v0.20.0'");
  const std::string second = "---\n" + server("image: 'vllm/vllm-openai:v0.20.0'", "", "second");
  const std::string scaler = scaler_of("llama-70b", kRemoved);
  EXPECT_EQ(found(vllm + scaler, "query-not-namespaced"), "info");
  EXPECT_EQ(found(vllm + second + scaler, "query-not-namespaced"), "warning");
  EXPECT_EQ(found(scaler.substr(4), "query-not-namespaced"), "info") << "the input lacks the engines";
}

TEST(EvidenceCases, AStartupProbeMayTakeLongerThanTheReadinessDelay) {
  const auto delay = [](const std::string& probe) {
    return found(scaled_server("image: 'vllm/vllm-openai:v0.20.0', args: [--model, facebook/opt-125m], " + probe +
                               "readinessProbe: {initialDelaySeconds: 240}"),
                 "readiness-delay-fixed");
  };
  EXPECT_EQ(delay(""), "warning");
  EXPECT_EQ(delay("startupProbe: {periodSeconds: 10, failureThreshold: 33}, "), "info");
  EXPECT_EQ(delay("startupProbe: {periodSeconds: 5, failureThreshold: 12}, "), "warning");
}

TEST(EvidenceCases, FilesWithOneNameAreAlternatives) {
  const auto file = [](const std::string& text) {
    return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: vllm-7b-chat}\nspec: {replicas: 2, selector: "
           "{matchLabels: {a: b}}}\n" +
           text;
  };
  const std::string scaler = scaler_of("vllm-7b-chat", kRemoved).substr(4);
  const std::string rule = "deployment-replicas-with-autoscaler";
  EXPECT_EQ(found({{"a/a.yaml", file("")}, {"a/keda.yaml", scaler}}, rule), "warning");
  EXPECT_EQ(found({{"a/a.yaml", file("")}, {"a/b.yaml", file("")}, {"a/keda.yaml", scaler}}, rule), "info");
}

TEST(EvidenceCases, AnArgumentIsOneWord) {
  const auto argument = [](const std::string& args, const std::string& image = "vllm/vllm-openai:v0.20.0") {
    return found(server("image: '" + image + "', args: [" + args + "]"), "engine-argument-malformed");
  };
  EXPECT_EQ(argument("'--tensor-parallel-size 2'"), "error");
  EXPECT_EQ(argument("'-- host=0.0.0.0'"), "error");
  EXPECT_EQ(argument("max-model-len=2048"), "error");
  EXPECT_EQ(argument("--enforce-eager=true"), "error");
  EXPECT_EQ(argument("--enable-prefix-caching, 'true'"), "error");
  EXPECT_EQ(argument("--enable-prefix-caching, --port, '8000'"), "none");
  EXPECT_EQ(argument("--served-model-name, model=a"), "none") << "it is a value";
  EXPECT_EQ(argument("'--compilation-config={\"level\": 3}'"), "none");
  EXPECT_EQ(argument("'--chat-template', 'a b c'"), "none");
  EXPECT_EQ(argument("'--num-shard 2'", "ghcr.io/huggingface/text-generation-inference:3.0"), "error");
  EXPECT_EQ(argument("'--port 8000'", "a:1"), "none") << "no known engine";
  EXPECT_EQ(found(server("image: 'a:1', command: [sh, -c, 'vllm serve m --port 8000']"), "engine-argument-malformed"),
            "none");
}

TEST(EvidenceCases, ACpuTriggerHasItsTypeInMetricType) {
  const auto trigger = [](const std::string& text) {
    return found(scaler_of("a", text).substr(4), "keda-metadata-type-removed");
  };
  EXPECT_EQ(trigger("{type: cpu, metadata: {type: Utilization, value: '60'}}"), "error");
  EXPECT_EQ(trigger("{type: memory, metadata: {type: AverageValue, value: '60'}}"), "error");
  EXPECT_EQ(trigger("{type: cpu, metricType: Utilization, metadata: {value: '60'}}"), "none");
  EXPECT_EQ(trigger("{type: kafka, metadata: {type: a}}"), "none");
}

TEST(EvidenceCases, OldVersionsOfWorkloadsAreRefused) {
  const auto object = [](const std::string& version, std::uint32_t kube = 36) {
    std::string text = server("image: 'a:1'");
    return found(text.replace(text.find("apps/v1"), 7, version), "workload-api-removed", kube);
  };
  EXPECT_EQ(object("extensions/v1beta1"), "error");
  EXPECT_EQ(object("apps/v1beta2"), "error");
  EXPECT_EQ(object("extensions/v1beta1", 15), "none");
  EXPECT_EQ(object("apps/v1"), "none");
  const auto target = [](const std::string& scaler, const std::string& version) {
    return found("apiVersion: " + scaler +
                     "\nmetadata: {name: a}\nspec: "
                     "{scaleTargetRef: {apiVersion: " +
                     version + ", kind: Deployment, name: a}}\n",
                 "workload-api-removed");
  };
  const std::string hpa = "autoscaling/v2\nkind: HorizontalPodAutoscaler";
  EXPECT_EQ(target(hpa, "apps/v1beta1"), "info") << "an HPA looks for the group and the kind";
  EXPECT_EQ(target(hpa, "apps/v1beta2"), "info");
  EXPECT_EQ(target(hpa, "extensions/v1beta1"), "error") << "the group has no Deployment";
  EXPECT_EQ(target(hpa, "apps/v1"), "none");
  EXPECT_EQ(target("keda.sh/v1alpha1\nkind: ScaledObject", "apps/v1beta1"), "error") << "KEDA uses the version";
}

TEST(EvidenceCases, ABudgetOfAllReplicasAllowsNoEviction) {
  const auto budget = [](const std::string& replicas, const std::string& available) {
    return found("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: llama-7b}\nspec: {" + replicas +
                     "selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}}}\n---\napiVersion: "
                     "policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: a}\nspec: {minAvailable: " +
                     available + ", selector: {matchLabels: {a: b}}}\n",
                 "pdb-vs-min");
  };
  EXPECT_EQ(budget("replicas: 2, ", "2"), "info") << "it may be meant to forbid evictions";
  EXPECT_EQ(budget("replicas: 2, ", "1"), "none");
  EXPECT_EQ(budget("", "2"), "none") << "an autoscaler elsewhere may set the replicas";
}

TEST(EvidenceCases, AVolumeOfOneNodeServesOneReplica) {
  const auto volume = [](const std::string& replicas, const std::string& claim, const std::string& affinity = "") {
    return found(
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: models}\nspec: {" + claim +
            "}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: llama}\nspec: {replicas: " + replicas +
            ", selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {" + affinity +
            "containers: [{name: a, image: 'a:1', resources: {limits: {nvidia.com/gpu: 1}}}], volumes: "
            "[{name: m, persistentVolumeClaim: {claimName: models}}]}}}\n",
        "volume-on-one-node");
  };
  const std::string once = "accessModes: [ReadWriteOnce]", many = "accessModes: [ReadWriteMany]";
  const std::string apart =
      "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
      "kubernetes.io/hostname, labelSelector: {matchLabels: {a: b}}}]}}, ";
  EXPECT_EQ(volume("2", once), "warning");
  EXPECT_EQ(volume("2", once, apart), "error");
  EXPECT_EQ(volume("1", once), "none");
  EXPECT_EQ(volume("2", many), "none");
  EXPECT_EQ(volume("2", once + ", storageClassName: efs-sc"), "none");
}

TEST(EvidenceCases, AMinimumThatIsFilledInLaterIsNotZero) {
  const auto scaler = [](const std::string& min) {
    return "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec: {scaleTargetRef: {name: a}, " +
           min +
           "maxReplicaCount: 4, triggers: [{type: prometheus, metadata: {query: 'sum(vllm:num_requests_waiting)', "
           "threshold: '5'}}]}\n";
  };
  EXPECT_EQ(found(scaler(""), "scale-to-zero-self-metric"), "error");
  EXPECT_EQ(found(scaler("minReplicaCount: 0, "), "scale-to-zero-self-metric"), "error");
  EXPECT_EQ(found(scaler("minReplicaCount: __MIN__, "), "scale-to-zero-self-metric"), "none");
}

TEST(EvidenceCases, PrometheusIsNoClient) {
  const auto ports = [](const std::string& name) {
    return found(server("image: 'vllm/vllm-openai:v0.20.0', ports: [{name: " + name + ", containerPort: 8000}]") +
                     "---\napiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {selector: {a: b}}\n",
                 "missing-readiness-probe");
  };
  EXPECT_EQ(ports("http"), "warning");
  EXPECT_EQ(ports("metrics"), "none");
}

TEST(EvidenceCases, CpuMayFollowTheLoadOfAProgramThatServesNoModel) {
  const auto hpa = [](const std::string& image) {
    return found(
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: solver}\nspec: {scaleTargetRef: "
        "{kind: Deployment, name: solver}, maxReplicas: 4, metrics: [{type: Resource, resource: {name: cpu, target: "
        "{type: Utilization, averageUtilization: 70}}}]}\n---\n" +
            server("image: '" + image + "'", "", "solver"),
        "cpu-memory-hpa-on-gpu");
  };
  EXPECT_EQ(hpa("fluid-solver:1"), "info");
  EXPECT_EQ(hpa("registry/llm-server:1"), "info") << "it may be a router";
  EXPECT_EQ(hpa("registry/vllm-server:1"), "warning");
}

TEST(EvidenceCases, SpotNodesEndReplicasAnyway) {
  const auto pool = [](const std::string& requirements, const std::string& workload = "") {
    return found(
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: llm-burst}\nspec: {limits: "
        "{nvidia.com/gpu: 8}, disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 5m}, "
        "template: {spec: {requirements: [" +
            requirements + "], taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}}}\n" + workload,
        "gpu-consolidation-underutilized");
  };
  const auto capacity = [](const std::string& types) {
    return "{key: karpenter.sh/capacity-type, operator: In, values: [" + types + "]}";
  };
  const auto instances = [](const std::string& types) {
    return "{key: node.kubernetes.io/instance-type, operator: In, values: [" + types + "]}";
  };
  EXPECT_EQ(pool(capacity("on-demand")), "warning");
  EXPECT_EQ(pool(capacity("spot, on-demand")), "info") << "no workload of the pool is in the input";
  EXPECT_EQ(pool(capacity("spot, on-demand"), "---\n" + server("image: 'a:1'")), "warning");
  EXPECT_EQ(pool(capacity("spot, on-demand"), "---\n" + server("image: 'a:1'",
                                                               "nodeSelector: {karpenter.sh/nodepool: "
                                                               "other}, ")),
            "info");
  EXPECT_EQ(pool(capacity("spot")), "info");
  EXPECT_EQ(pool(instances("g6.xlarge")), "info") << "no other node of the pool is cheaper or has room";
  EXPECT_EQ(pool(instances("g6.xlarge, g6.2xlarge")), "warning");
  EXPECT_EQ(pool(instances("g6.12xlarge")), "warning") << "a node with four GPUs may be half empty";
}

TEST(EvidenceCases, VersionsInOwnRegistriesCount) {
  const auto removed = [](const std::string& name, const std::string& tag) {
    return found(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: chat}\nspec: {selector: {matchLabels: {a: b}}, "
        "template: {metadata: {labels: {a: b}}, spec: {containers: [{name: " +
            name + ", image: '123.dkr.ecr.aws/chat" + tag +
            "', resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n---\n"
            "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: chat}\nspec: {scaleTargetRef: "
            "{name: chat}, minReplicaCount: 1, maxReplicaCount: 4, triggers: [{type: prometheus, metadata: "
            "{query: 'avg(vllm:gpu_cache_usage_perc)', threshold: '1'}}]}\n",
        "metric-removed");
  };
  EXPECT_EQ(removed("vllm", ":v0.8.4"), "none") << "this version has the metric";
  EXPECT_EQ(removed("vllm", ":v0.20.0"), "error");
  EXPECT_EQ(removed("chat", ":v0.8.4"), "info") << "nothing says that the tag is a version of vLLM";
}

TEST(EvidenceCases, ImagesOfGooglesRegistriesRunOnGke) {
  const auto devices = [](const std::string& image) {
    return found(server("image: '" + image + "', env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]"),
                 "visible-devices-override");
  };
  EXPECT_EQ(devices("us-west4-docker.pkg.dev/p/r/a:1"), "info");
  EXPECT_EQ(devices("gcr.io/p/a:1"), "info");
  EXPECT_EQ(devices("example.com/gcr.io:1"), "warning");
}

TEST(EvidenceCases, KedaReadsTheMetricTypeBesideTheMetadata) {
  const auto trigger = [](const std::string& fields) {
    return found(
        "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec: {scaleTargetRef: {name: "
        "a}, triggers: [{type: cpu, " +
            fields + "}]}\n",
        "keda-metadata-type-removed");
  };
  EXPECT_EQ(trigger("metadata: {metricType: Utilization, value: '70'}"), "error");
  EXPECT_EQ(trigger("metricType: Utilization, metadata: {value: '70'}"), "none");
}

TEST(EvidenceCases, NamesOfResources) {
  const auto limit = [](const std::string& name) {
    return found(pod("containers: [{name: a, image: 'a:1', resources: {limits: {" + name + ": 1}}}]"),
                 "resource-name-invalid");
  };
  for (const char* name : {"cpu", "nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "hugepages-2Mi", "'${GPU}'"}) {
    EXPECT_EQ(limit(name), "none") << name;
  }
  for (const char* name : {"'://amd.com'", "'nvidia.com/'", "'/gpu'", "'nvidia.com/gpu/x'", "'nvidia com/gpu'"}) {
    EXPECT_EQ(limit(name), "error") << name;
  }
}

TEST(EvidenceCases, AmountsOfResources) {
  const auto amount = [](const std::string& text) {
    return found(pod("containers: [{name: a, image: 'a:1', resources: {limits: {memory: " + text + "}}}]"),
                 "quantity-invalid");
  };
  for (const char* text : {"16Gi", "500m", "4", "1.5", "'2e3'", "null", "'${MEMORY_16}'", "MEMORY", "{a: 16GB}"}) {
    EXPECT_EQ(amount(text), "none") << text;
  }
  for (const char* text : {"16GB", "'1000,'", "16gi", "'16 Gi'", "4cpu"}) EXPECT_EQ(amount(text), "error") << text;
}

TEST(EvidenceCases, PodsThatAreLargerThanTheirInstanceType) {
  const auto on = [](const std::string& type, const std::string& resources, const std::string& rest = "") {
    return found(pod("nodeSelector: {node.kubernetes.io/instance-type: " + type +
                     "}, containers: [{name: a, image: 'a:1', resources: {" + resources + "}}" + rest + "]"),
                 "pod-exceeds-instance");
  };
  EXPECT_EQ(on("g6e.xlarge", "requests: {cpu: 4}"), "none");
  EXPECT_EQ(on("g6e.xlarge", "requests: {cpu: 4001m}"), "error");
  EXPECT_EQ(on("g6e.xlarge", "limits: {cpu: 6}"), "error");
  EXPECT_EQ(on("g6e.xlarge", "requests: {cpu: 2}, limits: {cpu: 6}"), "none") << "the scheduler counts requests";
  EXPECT_EQ(on("g6e.xlarge", "requests: {cpu: 4}", ", {name: b, image: 'b:1', resources: {requests: {cpu: 250m}}}"),
            "error");
  const auto with_init = [&](const std::string& cpu) {
    return on("g6e.xlarge", "requests: {cpu: 1}",
              "], initContainers: [{name: b, image: 'b:1', restartPolicy: Always, resources: {requests: {cpu: 2}}}, "
              "{name: c, image: 'c:1', resources: {requests: {cpu: " +
                  cpu + "}}}");
  };
  EXPECT_EQ(with_init("2"), "none");
  EXPECT_EQ(with_init("3"), "error") << "an init container runs beside the sidecars before it";
  EXPECT_EQ(on("g6e.2xlarge", "limits: {nvidia.com/gpu: 2}"), "error");
  EXPECT_EQ(on("p5.48xlarge", "limits: {nvidia.com/gpu: 8}"), "none");
  EXPECT_EQ(on("m7i.large", "requests: {cpu: 96}"), "none") << "the table has GPU instances only";
  EXPECT_EQ(on("g6e.xlarge", "requests: {cpu: 99999999999999999999}"), "error");
}

TEST(EvidenceCases, AnAcceptedAdviceIsNotUnused) {
  const std::string keda =
      "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec:\n  scaleTargetRef: {name: a}\n  "
      "minReplicaCount: 1\n  cooldownPeriod: 300  # capstan:ignore keda-cooldown-noop it is our default\n";
  const Report report = lint_texts({{"a.yaml", keda}}, {});
  for (const Finding& finding : report.findings) EXPECT_NE(finding.rule->id, "unused-suppression") << finding.message;
  EXPECT_EQ(report.summary.suppressed, 0u) << "it would not be shown without the acceptance";
}

}  // namespace
}  // namespace capstan::lint::evidence_cases_test
