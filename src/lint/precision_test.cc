#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "lint/rules.h"
#include "lint/run.h"

// Manifests in which a rule must find nothing, or only something less severe. The examples in a rule show the defects
// that it must find.
namespace capstan::lint::precision_test {
namespace {

using Texts = std::vector<Text>;

/// Returns the severity of a rule's first finding in texts that are a part of a cluster; "none" if the rule finds
/// nothing.
std::string_view found(const Texts& texts, std::string_view rule) {
  EXPECT_NE(find_rule(rule), nullptr) << rule;
  Options options;
  options.advice = true;
  const Report report = lint_texts(texts, options);
  for (const Finding& finding : report.findings) EXPECT_NE(finding.rule->id, "yaml-syntax") << finding.message;
  const auto first =
      std::ranges::find_if(report.findings, [&](const Finding& finding) { return finding.rule->id == rule; });
  return first == report.findings.end() ? "none" : name_of(first->severity);
}

std::string_view found(std::string_view yaml, std::string_view rule) {
  return found(Texts{{"a/a.yaml", std::string(yaml)}}, rule);
}

/// Returns the severity of a rule's first finding in a text that is fenced in Markdown.
std::string_view found_in_prose(std::string_view yaml, std::string_view rule) {
  return found(Texts{{"a/README.md", "# How to\n\n```yaml\n" + std::string(yaml) + "```\n"}}, rule);
}

std::string group_of_two(const std::string& metadata, const std::string& spec, const std::string& pod = "") {
  return "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: a" + metadata +
         "}\nspec:\n  " + spec + "\n  leaderWorkerTemplate:\n    size: 2\n    workerTemplate:\n      spec:\n" + pod +
         "        containers: [{name: a, image: 'a:1', resources: {limits: {nvidia.com/gpu: 8}}}]\n";
}

TEST(Precision, AComparisonAndTheEndOfAPatternAreNoVariables) {
  struct Row {
    std::string_view query;
    std::string_view severity;
  };
  const Row rows[] = {{"sum(rate(foo[5m]) < 1", "warning"},          {R"(rate(foo{a=~"b$"}[5m])", "warning"},
                      {"sum(rate(foo[$interval])", "none"},          {"sum(rate(foo{pool=<pool>}[5m])", "none"},
                      {"sum(rate(foo[${WINDOW}])", "none"},          {"sum(rate(foo[$(WINDOW)])", "none"},
                      {R"(sum(rate(foo{a=~"b$"}[5m])) < 1)", "none"}};
  for (const Row& row : rows) {
    const std::string yaml =
        "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: a}\nspec:\n  groups:\n  - name: "
        "a\n    rules:\n    - alert: A\n      expr: '" +
        std::string(row.query) + "'\n";
    EXPECT_EQ(found(yaml, "promql-syntax"), row.severity) << row.query;
  }
}

TEST(Precision, AWrongTolerationNamesThePoolWithTheTaint) {
  const auto pool = [](const std::string& name) {
    return "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: pool-" + name +
           "}\nspec: {limits: {nvidia.com/gpu: 8}, template: {spec: {taints: [{key: team, value: " + name +
           ", effect: NoSchedule}]}}}\n---\n";
  };
  const std::string pod =
      "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  tolerations: [{key: team, value: c}]\n  containers: "
      "[{name: a, image: 'a:1', resources: {limits: {nvidia.com/gpu: 1}}}]\n";
  const Report report = lint_texts({{"a.yaml", pool("a") + pool("b") + pod}}, {});
  for (const Finding& finding : report.findings) {
    if (finding.rule->id != "taint-toleration-mismatch") continue;
    const bool a = finding.message.find("pool pool-a has the taint team=a") != std::string::npos;
    const bool b = finding.message.find("pool pool-b has the taint team=b") != std::string::npos;
    EXPECT_TRUE(a || b) << finding.message;
    return;
  }
  ADD_FAILURE() << "found nothing";
}

TEST(Precision, AGroupOfPodsWithoutAGangSchedulerIsNoError) {
  struct Row {
    std::string yaml;
    std::string_view severity;
  };
  const std::string hpa =
      "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: {scaleTargetRef: "
      "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, name: a}, maxReplicas: 4}\n";
  const Row rows[] = {
      {group_of_two("", "replicas: 2"), "info"},
      {group_of_two("", "replicas: 1"), "info"},
      {group_of_two("", "replicas: 1") + hpa, "warning"},
      {group_of_two("", "replicas: 2", "        schedulerName: volcano\n"), "none"},
      {group_of_two("", "replicas: 2", "        workloadRef: {name: w}\n"), "none"},
      {group_of_two(", labels: {kueue.x-k8s.io/queue-name: q}", "replicas: 2"), "none"},
      {group_of_two(", annotations: {scheduling.volcano.sh/queue-name: q}", "replicas: 2"), "none"},
  };
  for (const Row& row : rows) EXPECT_EQ(found(row.yaml, "tp-across-pods-no-gang"), row.severity) << row.yaml;
}

TEST(Precision, RolesOfOneWorkloadMayHaveDifferentAutoscalers) {
  const auto role = [](const std::string& name) {
    return "apiVersion: autoscaling.aibrix.ai/v1alpha1\nkind: PodAutoscaler\nmetadata: {name: " + name +
           "}\nspec: {scaleTargetRef: {kind: StormService, name: pool}, subTargetSelector: {roleName: " + name +
           "}, minReplicas: 2, maxReplicas: 20}\n---\n";
  };
  EXPECT_EQ(found(role("prefill") + role("decode"), "two-autoscalers-one-target"), "none");
  EXPECT_EQ(
      found(role("prefill") + "apiVersion: autoscaling.aibrix.ai/v1alpha1\nkind: PodAutoscaler\nmetadata: {name: b}"
                              "\nspec: {scaleTargetRef: {kind: StormService, name: pool}, maxReplicas: 20}\n",
            "two-autoscalers-one-target"),
      "error");
}

TEST(Precision, ProseMayShowAlternativesAndLeaveThingsOut) {
  const std::string both =
      "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: {scaleTargetRef: {name: "
      "vllm}, maxReplicas: 4}\n---\napiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: b}\nspec: "
      "{scaleTargetRef: {name: vllm}, maxReplicaCount: 4}\n";
  EXPECT_EQ(found(both, "two-autoscalers-one-target"), "error");
  EXPECT_EQ(found_in_prose(both, "two-autoscalers-one-target"), "info");
  for (const std::string_view rule : {"ec2nodeclass-ami-terms", "nodeclassref-missing", "keda-max-default-100"}) {
    const Rule* meant = find_rule(rule);
    ASSERT_NE(meant, nullptr);
    EXPECT_NE(found(meant->bad, rule), "info");
    EXPECT_EQ(found_in_prose(meant->bad, rule), "info");
  }
  const Rule* stated = find_rule("expireafter-misplaced");
  EXPECT_EQ(found_in_prose(stated->bad, stated->id), "error");  // a wrong value is an error in prose too
}

TEST(Precision, APauseContainerMayReplaceAWorkloadInAnExample) {
  const auto pause = [](const std::string& name) {
    return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name +
           "}\nspec:\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n    spec: "
           "{containers: [{name: a, image: 'x/pause:3.10', resources: {limits: {nvidia.com/gpu: 1}}}]}\n";
  };
  EXPECT_EQ(found(pause("workload-gpu-slices"), "balloon-invalid"), "none");
  EXPECT_EQ(found(pause("gpu-overprovisioning"), "balloon-invalid"), "warning");
}

TEST(Precision, AnAgentOfANodeMaySeeAllItsGpus) {
  const auto agent = [](const std::string& kind) {
    return "apiVersion: apps/v1\nkind: " + kind +
           "\nmetadata: {name: exporter}\nspec: {selector: {}, template: {spec: {containers: [{name: a, image: 'a:1', "
           "env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]}]}}}\n";
  };
  EXPECT_EQ(found(agent("DaemonSet"), "visible-devices-override"), "none");
  EXPECT_EQ(found(agent("Deployment"), "visible-devices-override"), "info") << "it may share a GPU on purpose";
}

std::string scaled_by(const std::string& query, const std::string& more = "") {
  return "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec:\n  scaleTargetRef: {name: "
         "vllm}\n"
         "  minReplicaCount: 1\n  maxReplicaCount: 9\n  triggers:\n  - type: prometheus\n    metadata:\n      query: "
         "'" +
         query + "'\n      threshold: '0.7'\n" + more;
}

TEST(Precision, AMetricThatIsOnlyGuessedFromItsNameIsNoError) {
  EXPECT_EQ(found(scaled_by("sum(rate(vllm:num_requests_waiting[1m]))"), "rate-of-gauge"), "error");
  EXPECT_EQ(found(scaled_by("sum(rate(jobs_pending[1m]))"), "rate-of-gauge"), "warning");
  EXPECT_EQ(found(scaled_by("max(vllm:kv_cache_usage_perc)"), "ratio-under-averagevalue"), "error");
  EXPECT_EQ(found(scaled_by("max(llm_d_epp_flow_control_pool_saturation)"), "ratio-under-averagevalue"), "info");
  EXPECT_EQ(found(scaled_by("avg(vllm:kv_cache_usage_perc) * 2"), "ratio-under-averagevalue"), "error");
  EXPECT_EQ(found(scaled_by("avg(vllm:kv_cache_usage_perc) * 0.5"), "ratio-under-averagevalue"), "none");
  const auto hpa = [](const std::string& metric) {
    return "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec:\n  scaleTargetRef: "
           "{name: a}\n  metrics:\n  - {type: Pods, pods: {metric: {name: " +
           metric + "}, target: {type: AverageValue, averageValue: 5}}}\n";
  };
  EXPECT_EQ(found(hpa("llm_d_epp_average_queue_size"), "pods-metric-not-on-target-pods"), "warning");
  EXPECT_EQ(found(hpa("DCGM_FI_DEV_GPU_UTIL"), "pods-metric-not-on-target-pods"), "info");
}

TEST(Precision, AQueryWithVariablesIsNotASyntaxError) {
  EXPECT_EQ(found(scaled_by("sum(rate(x[${WINDOW}]))"), "promql-syntax"), "none");
  EXPECT_EQ(found(scaled_by("sum(rate(x[]))"), "promql-syntax"), "warning");
}

TEST(Precision, ARecordedMetricIsKnown) {
  const std::string rules =
      "---\napiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: a}\nspec: {groups: [{rules: "
      "[{record: 'vllm:backlog', expr: 'sum(vllm:num_requests_waiting)'}]}]}\n";
  EXPECT_EQ(found(scaled_by("sum(vllm:num_requests_wating)"), "metric-unknown"), "warning");
  EXPECT_EQ(found(scaled_by("sum(vllm:backlog)"), "metric-unknown"), "info");
  EXPECT_EQ(found(scaled_by("sum(vllm:backlog)", rules), "metric-unknown"), "none");
  EXPECT_EQ(found(scaled_by("sum(vllm:backlog:rate5m)"), "metric-unknown"), "none");
}

TEST(Precision, AMetricOfARouterMayHaveThePrefixOfItsEngines) {
  const auto to_zero = [](const std::string& query) {
    return "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec:\n  scaleTargetRef: {name: a}\n"
           "  minReplicaCount: 0\n  maxReplicaCount: 4\n  triggers:\n"
           "    - {type: prometheus, metadata: {query: '" +
           query +
           "', threshold: '5'}}\n"
           "    - {type: prometheus, metadata: {query: 'sum(vllm:num_requests_waiting)', threshold: '5'}}\n";
  };
  const std::string routed = "sum(rate(vllm:num_incoming_requests_total[1m]) > bool 0)";
  EXPECT_EQ(found(to_zero("sum(vllm:num_requests_running)"), "scale-to-zero-self-metric"), "error");
  EXPECT_EQ(found(to_zero(routed), "scale-to-zero-self-metric"), "none");
  EXPECT_EQ(found(to_zero(routed), "metric-unknown"), "none");
  EXPECT_EQ(found(to_zero("rate(vllm:num_incoming_requests_total[1m])"), "keda-query-not-aggregated"), "none");
  EXPECT_EQ(found(to_zero("rate(vllm:request_success_total[1m])"), "keda-query-not-aggregated"), "error");
  EXPECT_EQ(found(to_zero("sum(vllm:num_requests_swapped)"), "metric-removed"), "info");
  EXPECT_EQ(found(to_zero("absent(vllm:num_requests_running)"), "scale-to-zero-self-metric"), "none")
      << "it has a value without pods";
  EXPECT_EQ(found(to_zero("sum(vllm:num_requests_running) or vector(0)"), "scale-to-zero-self-metric"), "error");
}

TEST(Precision, AVariableIsNotAnImage) {
  const auto pod = [](const std::string& image) {
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: '" + image +
           "', resources: {limits: {nvidia.com/gpu: 1}}}]}\n";
  };
  EXPECT_EQ(found(pod("vllm/vllm-openai"), "image-floating-tag"), "info");
  EXPECT_EQ(found(pod("vllm/vllm-openai:latest"), "image-floating-tag"), "info");
  EXPECT_EQ(found(pod("IMAGE_NAME"), "image-floating-tag"), "none");
  EXPECT_EQ(found(pod("<registry>/vllm"), "image-floating-tag"), "none");
  EXPECT_EQ(found(pod("${IMAGE}"), "image-floating-tag"), "none");
}

TEST(Precision, AMigFileIsAcceptedLikeMigPartedDoes) {
  const auto file = [](const std::string& entry) {
    return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  config.yaml: |\n    version: v1\n"
           "    mig-configs:\n      a:\n        - {" +
           entry + "}\n";
  };
  struct Row {
    const char* entry;
    std::string_view severity;
  };
  const Row rows[] = {
      {"devices: all, mig-enabled: true, mig-devices: {}", "none"},
      {"devices: all, mig-enabled: false", "none"},
      {"devices: [0, 1], mig-enabled: true, mig-devices: {1g.10gb: 7, 7g.80gb: 0}", "none"},
      {"devices: all, mig-enabled: true, mig-devices: {1g.10gb: 0}", "error"},
      {"devices: all, mig-enabled: true, mig-devices: {1g.10gb: -1}", "error"},
      {"devices: all, mig-enabled: true", "error"},
      {"devices: some, mig-enabled: false", "error"},
      {"devices: all, mig-enabled: false, mig-device: {}", "error"},
  };
  for (const Row& row : rows) EXPECT_EQ(found(file(row.entry), "mig-config-shape"), row.severity) << row.entry;
}

TEST(Precision, AFlagIsRequiredOnlyIfTheEngineHasIt) {
  const auto pod = [](const std::string& tag) {
    return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {spec: {containers: [{name: "
           "a, "
           "image: 'vllm/vllm-openai" +
           tag + "', args: [--model, m], resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n";
  };
  EXPECT_EQ(found(pod(":v0.17.1"), "vllm-no-drain-flag"), "none");
  EXPECT_EQ(found(pod(":v0.18.0"), "vllm-no-drain-flag"), "info");
  EXPECT_EQ(found(pod(""), "vllm-no-drain-flag"), "info");
}

TEST(Precision, OnlyAKnownRatioIsComparedWithOne) {
  const auto aimed_at_70 = [](const std::string& query) {
    std::string yaml = scaled_by(query);
    return yaml.replace(yaml.find("'0.7'"), 5, "'70'");
  };
  EXPECT_EQ(found(aimed_at_70("avg(kserve_sglang:token_usage)"), "percent-unit-mismatch"), "error");
  EXPECT_EQ(found(aimed_at_70("avg(gen_ai_client_token_usage)"), "percent-unit-mismatch"), "none");
}

TEST(Precision, AnIdleCountIsComparedWithTheMinimumOfTheHpa) {
  const auto idle = [](const std::string& counts) {
    return "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec: {scaleTargetRef: {name: a}, " +
           counts + ", maxReplicaCount: 8}\n";
  };
  EXPECT_EQ(found(idle("idleReplicaCount: 0, minReplicaCount: 0"), "idle-replicas-invalid"), "none");
  EXPECT_EQ(found(idle("idleReplicaCount: 0, minReplicaCount: 2"), "idle-replicas-invalid"), "none");
  EXPECT_EQ(found(idle("idleReplicaCount: 0"), "idle-replicas-invalid"), "error");
  EXPECT_EQ(found(idle("idleReplicaCount: 2, minReplicaCount: 2"), "idle-replicas-invalid"), "error");
  EXPECT_EQ(found(idle("idleReplicaCount: 1, minReplicaCount: 2"), "idle-replicas-invalid"), "error");
}

TEST(Precision, AnOldEngineStillHasARemovedMetric) {
  const auto deployment = [](const std::string& image) {
    return "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: vllm}\nspec: {selector: {}, template: {spec: "
           "{containers: [{name: a, image: '" +
           image + "', resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n";
  };
  const std::string query = "sum(vllm:gpu_cache_usage_perc)";
  EXPECT_EQ(found(scaled_by(query), "metric-removed"), "info");
  EXPECT_EQ(found(scaled_by(query, deployment("vllm/vllm-openai:v0.8.5")), "metric-removed"), "none");
  EXPECT_EQ(found(scaled_by(query, deployment("vllm/vllm-openai:v0.14.0")), "metric-removed"), "error");
  EXPECT_EQ(found(scaled_by(query, deployment("vllm/vllm-openai:latest")), "metric-removed"), "warning");
}

TEST(Precision, AConfigMapOfTheAutoscalerMayHaveOtherKeys) {
  const auto map = [](const std::string& data) {
    return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cluster-autoscaler-config}\ndata: {" + data + "}\n";
  };
  EXPECT_EQ(found(map("cloud-config: 'x: y'"), "ca-configmap-unknown"), "none");
  EXPECT_EQ(found(map("nodeGroups: '- {name: gpu}'"), "ca-configmap-unknown"), "error");
}

std::string pool(const std::string& taints, const std::string& requirements = "", const std::string& labels = "") {
  return "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gpu}\nspec: {limits: {nvidia.com/gpu: 8}, "
         "template: {metadata: {labels: {" +
         labels + "}}, spec: {taints: [" + taints + "], requirements: [" + requirements + "]}}}\n---\n";
}

TEST(Precision, ATolerationIsWrongOnlyIfItFailsForEveryPool) {
  const std::string pod =
      "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  tolerations: [{key: nvidia.com/gpu, value: present, "
      "effect: NoSchedule}]\n  containers: [{name: a, image: 'a:1', resources: {limits: {nvidia.com/gpu: 1}}}]\n";
  const std::string other = pool("{key: nvidia.com/gpu, effect: NoSchedule}");
  EXPECT_EQ(found(other + pod, "taint-toleration-mismatch"), "warning");
  EXPECT_EQ(found(other + pool("{key: nvidia.com/gpu, value: present, effect: NoSchedule}") + pod,
                  "taint-toleration-mismatch"),
            "none");
  EXPECT_EQ(found(Texts{{"pools/a.yaml", other}, {"app/a.yaml", pod}}, "taint-toleration-mismatch"), "none");
  const std::string for_gke = pod + "  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}\n";
  EXPECT_EQ(found(other + for_gke, "taint-toleration-mismatch"), "none");
}

std::string requirement(const std::string& key, const std::string& op, const std::string& values) {
  return "{key: karpenter.k8s.aws/" + key + ", operator: " + op + ", values: [" + values + "]},";
}

TEST(Precision, APoolMayLaunchOnlyWhatAllItsRequirementsAllow) {
  const std::string category = requirement("instance-category", "In", "g");
  const auto lie = [&](const std::string& more) {
    return found(pool("", category + more, "gpu: nvidia-l4"), "pool-label-hw-lie");
  };
  EXPECT_EQ(lie(""), "error");
  EXPECT_EQ(lie(requirement("instance-generation", "Gt", "'5'")), "error");  // g6e has L40S
  EXPECT_EQ(lie(requirement("instance-gpu-name", "In", "l4")), "none");
  EXPECT_EQ(lie(requirement("instance-generation", "In", "'6'") + requirement("instance-gpu-memory", "Lt", "'30000'")),
            "none");
  EXPECT_EQ(lie(requirement("instance-cpu", "In", "'8'")), "warning");
  const auto mixed = [](const std::string& families) {
    return found(pool("", requirement("instance-family", "In", families)), "pool-mixed-gpu-generations");
  };
  EXPECT_EQ(mixed("g5, p4d"), "info");  // the folder has no pod that could run on both kinds of GPU
  EXPECT_EQ(mixed("g5, g6"), "info");   // both have 24 GB
}

TEST(Precision, AnExcludingRequirementIsUnderstood) {
  const auto spot = [](const std::string& op) {
    return found(pool("", "{key: karpenter.sh/capacity-type, operator: " + op + ", values: [spot]}", "role: online"),
                 "spot-slo-critical");
  };
  EXPECT_EQ(spot("In"), "warning");
  EXPECT_EQ(spot("NotIn"), "none");
  const std::string pod =
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {selector: {}, template: {spec: {containers: "
      "[{name: a, image: 'a:1', resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n";
  const auto oversized = [&](const std::string& op) {
    return found(pool("", requirement("instance-family", op, "p4d")) + pod, "oversized-instance-for-pod");
  };
  EXPECT_EQ(oversized("In"), "warning");
  EXPECT_EQ(oversized("NotIn"), "none");
}

TEST(Precision, AQueueMayIntentionallyHaveNoGpus) {
  const auto queue = [](const std::string& gpu) {
    return "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: a}\nspec: {resources: {gpu: {" + gpu +
           "}}}\n";
  };
  EXPECT_EQ(found(queue("quota: 2, limit: 0"), "kai-queue-limit-zero"), "error");
  EXPECT_EQ(found(queue("quota: 2"), "kai-queue-limit-zero"), "error");
  EXPECT_EQ(found(queue("quota: 0, limit: 0"), "kai-queue-limit-zero"), "info");
  EXPECT_EQ(found(queue("quota: 0, limit: -1"), "kai-queue-limit-zero"), "none");
}

TEST(Precision, ObjectsOfDifferentFoldersAreNotJoined) {
  const std::string slice =
      "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: 'a:1', resources: {limits: "
      "{nvidia.com/mig-1g.5gb: 1}}}]}\n";
  const std::string single = "mig: {strategy: single}\n";
  EXPECT_EQ(found(Texts{{"a/pod.yaml", slice}, {"a/values.yaml", single}}, "mig-strategy-resource-mismatch"), "info");
  EXPECT_EQ(found(Texts{{"a/pod.yaml", slice}, {"b/values.yaml", single}}, "mig-strategy-resource-mismatch"), "none");
}

TEST(Precision, AKindOfAnotherGroupIsNotChecked) {
  EXPECT_EQ(found("apiVersion: hypershift.openshift.io/v1beta1\nkind: NodePool\nmetadata: {name: a}\nspec: {minNodes: "
                  "1}\n",
                  "karpenter-minnodes"),
            "none");
  EXPECT_EQ(found("apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec: {minNodes: 1}\n",
                  "karpenter-minnodes"),
            "error");
  EXPECT_EQ(found("apiVersion: keda.k8s.io/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec: {minReplicaCount: "
                  "1, cooldownPeriod: 15, scaleTargetRef: {deploymentName: a}}\n",
                  "keda-cooldown-noop"),
            "none");
  const std::string claims =
      "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {resourceClaims: [{name: gpu}], containers: [{name: a, "
      "image: 'a:1'}]}\n---\nkind: NodePool\nmetadata: {name: b}\napiVersion: ";
  EXPECT_EQ(found(claims + "karpenter.sh/v1\n", "dra-with-karpenter"), "warning");
  EXPECT_EQ(found(claims + "hypershift.openshift.io/v1beta1\n", "dra-with-karpenter"), "none")
      << "also in the same folder";
}

std::string engine(const std::string& command, const std::string& gpus) {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {selector: {}, template: {spec: "
         "{containers: "
         "[{name: a, image: 'a:1', command: [sh, -c, \"" +
         command + "\"], resources: {limits: {nvidia.com/gpu: " + gpus + "}}}]}}}\n";
}

TEST(Precision, TheGpusOfAnEngineAreComparedOnlyIfTheyAreKnown) {
  struct Row {
    const char* command;
    const char* gpus;
    const char* severity;
  };
  const Row rows[] = {
      {"vllm serve m -tp 4", "8", "warning"},
      {"vllm serve m -tp 8", "4", "error"},
      {"vllm serve m --tensor_parallel_size=4", "8", "warning"},
      {"vllm serve $(MODEL) -tp 8", "8", "none"},
      {"vllm serve a -tp 4 --port 1 & vllm serve b -tp 4 --port 2", "8", "none"},
      {"ray start --head && vllm serve m -tp 16", "8", "none"},
      {"vllm serve m -tp 1 --data-parallel-size 16 --data-parallel-hybrid-lb", "8", "none"},
      {"vllm serve m -tp 16 --nnodes 2", "8", "none"},
      {"vllm serve m -tp 4 --nnodes 1", "8", "warning"},
      {"vllm serve m -tp 4 --distributed-executor-backend mp", "8", "warning"},
      {"vllm serve m -tp 4 --distributed-executor-backend ray", "1", "none"},
      {"python3 -m sglang.launch_server --tp 4 --dp-size 2", "8", "none"},
      {"python3 -m sglang.launch_server --tp 8 --dp-size 8 --enable-dp-attention", "8", "none"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(found(engine(row.command, row.gpus), "tp-gpu-mismatch"), row.severity) << row.command;
  }
}

TEST(Precision, ObjectsOfOperatorsAreCheckedAsTheirOperatorsReadThem) {
  const auto kserve = [](const std::string& predictor) {
    return "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: a}\nspec: {predictor: {" +
           predictor + "}}\n";
  };
  const std::string container =
      "containers: [{name: a, image: 'a:1', command: [vllm, serve, m, -tp, '4'], resources: {limits: {nvidia.com/gpu: "
      "8}}}]";
  EXPECT_EQ(found(kserve(container), "tp-gpu-mismatch"), "warning");
  EXPECT_EQ(found(kserve(container + ", workerSpec: {pipelineParallelSize: 2}"), "tp-gpu-mismatch"), "none");
  EXPECT_EQ(found(kserve("minReplicas: 0, " + container), "scale-to-zero-no-warm-pool"), "info") << "Knative queues";
  EXPECT_EQ(found(kserve("minReplicas: 0, sklearn: {}"), "scale-to-zero-no-warm-pool"), "none");
  EXPECT_EQ(found(kserve("minReplicas: 3, maxReplicas: 1"), "min-gt-max"), "error");
  EXPECT_EQ(found(kserve("minReplicas: 3, maxReplicas: 0"), "min-gt-max"), "none");
  const std::string ray =
      "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: a}\nspec: {workerGroupSpecs: [{template: {spec: "
      "{schedulerName: kai-scheduler, containers: [{name: a, image: 'a:1', resources: {requests: {nvidia.com/gpu: "
      "1}}}]}}}]}\n";
  EXPECT_EQ(found(ray, "gpu-request-without-limit"), "error");
  EXPECT_EQ(found(ray, "kai-queue-as-annotation"), "none");
  const std::string rules =
      "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: a}\nspec: {groups: [{name: g, "
      "rules: "
      "[{alert: b, expr: 'avg(vllm:gpu_cache_usage_perc) > 0.9', annotations: {x: '{{ $value }}'}}]}]}\n";
  EXPECT_EQ(found(rules, "metric-removed"), "info");
  EXPECT_EQ(found(rules, "promql-syntax"), "none");
}

TEST(Precision, ComputeInstancesAndOlderNamesAreKnown) {
  const auto mig = [](const std::string& profile) {
    return found(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  config.yaml: |\n    version: v1\n    "
        "mig-configs:\n      a: [{devices: all, mig-enabled: true, mig-devices: {" +
            profile + ": 1}}]\n",
        "mig-profile-unknown-for-gpu");
  };
  EXPECT_EQ(mig("1c.3g.71gb"), "none");
  EXPECT_EQ(mig("1c.3g.99gb"), "error");
  const auto kai = [](const std::string& metadata) {
    return found("apiVersion: v1\nkind: Pod\nmetadata: {name: a, " + metadata +
                     "}\nspec: {schedulerName: kai-scheduler, containers: [{name: a, image: 'a:1'}]}\n",
                 "kai-queue-as-annotation");
  };
  EXPECT_EQ(kai("labels: {runai/queue: a}"), "none");
  EXPECT_EQ(kai("annotations: {pod-group-name: a}"), "none");
  EXPECT_EQ(kai("labels: {a: b}"), "info");
  const auto all_of = [](const std::string& gpus) {
    return found(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: 'a:1', env: "
        "[{name: NVIDIA_VISIBLE_DEVICES, value: all}], resources: {limits: {nvidia.com/gpu: " +
            gpus + "}}}]}\n",
        "visible-devices-override");
  };
  EXPECT_EQ(all_of("1"), "warning");
  EXPECT_EQ(all_of("8"), "info");
}

TEST(Precision, OnlyAValueThatDoesNotGrowMustNotBeDivided) {
  const auto under = [](const std::string& query, const std::string& more = "") {
    return found(scaled_by(query, more), "mean-under-averagevalue");
  };
  const std::string waiting = "sum(vllm:num_requests_waiting)";
  EXPECT_EQ(under("avg(vllm:num_requests_waiting) or vector(0)"), "warning");
  EXPECT_EQ(under("max(vllm:num_requests_running)"), "warning");
  EXPECT_EQ(under("histogram_quantile(0.9, sum by (le) (rate(vllm:e2e_request_latency_seconds_bucket[1m])))"),
            "warning");
  for (const char* pods :
       {"count(vllm:num_requests_waiting)", "sum(kube_deployment_status_replicas_ready)", "clamp_min(sum(up), 1)",
        "inference_pool_ready_pods", "max(kube_deployment_spec_replicas)"}) {
    EXPECT_EQ(under(waiting + " / " + pods), "warning") << pods;
  }
  EXPECT_EQ(under("sum(vllm:num_requests_running) / count(kube_pod_info)"), "warning");
  EXPECT_EQ(under(waiting), "none");
  EXPECT_EQ(under(waiting + " / 4"), "none");
  EXPECT_EQ(under("avg(vllm:num_requests_waiting)", "    metricType: Value\n"), "none");
  EXPECT_EQ(under("avg(vllm:num_requests_waiting{pod=\"a\"})"), "none");
  EXPECT_EQ(under("avg(jobs_waiting)"), "none") << "it may be one series";
}

TEST(Precision, AResourceMetricOfAGpuDoesNotExist) {
  const auto hpa = [](const std::string& name) {
    return found(
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: {scaleTargetRef: "
        "{kind: Deployment, name: a}, maxReplicas: 4, metrics: [{type: Resource, resource: {name: " +
            name + ", target: {type: Utilization, averageUtilization: 75}}}]}\n",
        "gpu-util-scaling-signal");
  };
  EXPECT_EQ(hpa("nvidia.com/gpu"), "error");
  EXPECT_EQ(hpa("cpu"), "none");
}

TEST(Precision, ATypeIsCheckedUnlessTheValueIsAVariable) {
  const auto replicas = [](const std::string& value) {
    return found("apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec:\n  minReplicaCount: " +
                     value + "\n",
                 "wrong-type");
  };
  for (const char* wrong : {"'2'", "1.5", "true", "[1]", "{a: 1}", "two"}) EXPECT_EQ(replicas(wrong), "error") << wrong;
  for (const char* right : {"2", "", "null", "${REPLICAS}", "<count>", "REPLICAS"}) {
    EXPECT_EQ(replicas(right), "none") << right;
  }
  EXPECT_EQ(found("apiVersion: apps/v1\nkind: Deployment\nmetadata: [a]\nspec: 5\n", "wrong-type"), "error");
}

TEST(Precision, AMetricOfAnEngineMeansAGpuWorkload) {
  const auto scaled = [](const std::string& metric) {
    return found(scaled_by("sum(" + metric + "{namespace=\"a\"})"), "hpa-missing-scaledown-behavior");
  };
  for (const char* metric : {"vllm:num_requests_waiting", "inference_requests_waiting", "DCGM_FI_DEV_FB_USED"}) {
    EXPECT_EQ(scaled(metric), "info") << metric;
  }
  EXPECT_EQ(scaled("inference_request_latency_seconds_count"), "none") << "a model server on CPUs counts it too";
}

TEST(Precision, AFallbackDoesNotReplaceAMissingValue) {
  const auto scaled = [](const std::string& trigger, const std::string& spec) {
    return found(
        "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec:\n  scaleTargetRef: {name: "
        "a}\n  minReplicaCount: 1\n  maxReplicaCount: 8\n" +
            spec +
            "  triggers:\n  - type: prometheus\n    metadata: {query: 'sum(vllm:num_requests_waiting)', "
            "threshold: '5'" +
            trigger + "}\n",
        "keda-null-as-zero");
  };
  const std::string fallback = "  fallback: {failureThreshold: 3, replicas: 4}\n";
  EXPECT_EQ(scaled("", ""), "info");
  EXPECT_EQ(scaled("", fallback), "info");
  EXPECT_EQ(scaled(", ignoreNullValues: 'false'", fallback), "none");
}

TEST(Precision, AnUnknownFieldIsReportedOnlyIfASimilarOneExists) {
  const auto field = [](const std::string& name) {
    return found(
        "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec: {scaleTargetRef: {name: a}, " +
            name + ": 2, triggers: []}\n",
        "keda-field-unknown");
  };
  for (const char* wrong : {"minReplicas", "maxReplicas", "maxReplicaCnt", "poolingInterval"}) {
    EXPECT_EQ(field(wrong), "error") << wrong;
  }
  for (const char* right : {"minReplicaCount", "initialCooldownPeriod", "somethingOfALaterVersion"}) {
    EXPECT_EQ(field(right), "none") << right;
  }
}

TEST(Precision, AVariableOfTerraformMayHoldTheMissingFields) {
  const auto terms = [](const std::string& spec) {
    return found("apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec:\n  " + spec + "\n",
                 "ec2nodeclass-ami-terms");
  };
  EXPECT_EQ(terms("role: a"), "error");
  EXPECT_EQ(terms("${indent(2, ec2nodeclass)}"), "none");
}

TEST(Precision, YamlThatIsNoManifestMayHaveKeysThatAreNoTexts) {
  EXPECT_EQ(found("? [a, b]\n: c\n", "yaml-syntax"), "none");
  Options options;
  const Report report = lint_texts({{"a.yaml", "apiVersion: v1\nkind: Pod\n? [a, b]\n: c\n"}}, options);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].rule->id, "yaml-syntax");
}

}  // namespace
}  // namespace capstan::lint::precision_test
