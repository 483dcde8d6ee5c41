#include "lint/testing/cases.h"

// Tests of severities. A defect that certainly does harm is an error or a warning. If the harm depends on facts outside
// the manifest, the finding is advice. A setting that does no harm has no finding.
namespace capstan::lint::severity_cases_test {
namespace {

using namespace testing_cases;

TEST(SeverityCases, KedaQueryNotAggregated) {
  const auto query = [](const std::string& text) { return found(scaled_by(text), "keda-query-not-aggregated"); };
  struct Row {
    const char* query;
    std::string_view severity;
  };
  const Row rows[] = {
      {"vllm:num_requests_waiting", "error"},
      {"vllm:num_requests_waiting{model_name=\"m\"}", "error"},
      {"rate(vllm:request_success_total[1m])", "error"},
      {"sum(vllm:num_requests_waiting)", "none"},
      {"sum by (pod) (vllm:num_requests_waiting)", "error"},
      {"avg by (instance) (jobs_running)", "error"},
      {"sum by (model_name) (vllm:num_requests_waiting)", "info"},
      {"sum by (model_name) (vllm:num_requests_waiting{model_name=\"m\"})", "none"},
      {"sum by (pod) (vllm:num_requests_waiting{pod=\"vllm-0\"})", "none"},
      {"max(sum by (pod) (vllm:num_requests_waiting))", "none"},
      {"topk(1, vllm:num_requests_waiting)", "none"},
      {"topk(3, vllm:num_requests_waiting)", "error"},
      {"rate(http_requests_total[1m])", "warning"},
      {"rate(http_requests_total{namespace=\"a\"}[1m])", "warning"},
      {"rate(http_requests_total{deployment=\"a\"}[1m])", "info"},
      {"rabbitmq_queue_messages{queue=\"jobs\"}", "info"},
      {"my_app_requests_in_flight", "info"},
      {"kube_deployment_status_replicas_ready", "info"},
      {"namespace:queue:sum", "none"},
      {"scalar(sum(x))", "none"},
  };
  for (const Row& row : rows) EXPECT_EQ(query(row.query), row.severity) << row.query;
}

TEST(SeverityCases, AMetricNameMustBeThatOfASeries) {
  const auto query = [](const std::string& text) { return found(scaled_by(text), "metric-unknown"); };
  EXPECT_EQ(query("sum(rate(vllm:prompt_tokens[1m]))"), "warning");
  EXPECT_EQ(query("sum(rate(vllm:prompt_tokens_total[1m]))"), "none");
  EXPECT_EQ(query("sum(rate(vllm:time_to_first_token_seconds[1m]))"), "warning");
  EXPECT_EQ(query("sum(rate(vllm:time_to_first_token_seconds_bucket[1m]))"), "none");
  EXPECT_EQ(query("sum(rate(vllm:time_to_first_token_seconds_count[1m]))"), "none");
  EXPECT_EQ(query("sum(vllm:num_requests_waiting)"), "none");
  EXPECT_EQ(query("sum(vllm:num_requests_waiting_total)"), "warning");
  EXPECT_EQ(query("sum(rate(sglang:num_requests[1m]))"), "warning");
  EXPECT_EQ(query("sum(rate(nv_inference_request_success[1m]))"), "none") << "Triton's counters have no ending";
  EXPECT_EQ(query("sum(rate(tgi_request_count[1m]))"), "none");
  EXPECT_EQ(query("sum(rate(vllm:iteration_tokens_total_sum[1m]))"), "none") << "it is a histogram with this name";
}

TEST(SeverityCases, ANameOfVllmHasAColonInQueries) {
  const auto query = [](const std::string& text) { return found(scaled_by(text), "metric-unknown"); };
  EXPECT_EQ(query("sum(vllm_num_requests_waiting)"), "warning");
  EXPECT_EQ(query("sum(vllm_my_own_metric)"), "none");
  const std::string hpa =
      "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: {scaleTargetRef: {name: "
      "a}, "
      "maxReplicas: 4, metrics: [{type: Pods, pods: {metric: {name: vllm_num_requests_waiting}, target: {type: "
      "AverageValue, averageValue: 5}}}]}\n";
  EXPECT_EQ(found(hpa, "metric-unknown"), "none") << "the name may come from an adapter";
}

TEST(SeverityCases, RawCounterAsSignal) {
  const auto raw = [](const std::string& query) { return found(scaled_by(query), "raw-counter-as-signal"); };
  const std::string prompts = "vllm:prompt_tokens_total", answers = "vllm:generation_tokens_total";
  EXPECT_EQ(raw("sum(" + prompts + ")"), "warning");
  EXPECT_EQ(raw("sum(" + prompts + " - " + answers + ")"), "info") << "it may count requests in flight";
  EXPECT_EQ(raw("sum(" + prompts + " - " + prompts + " offset 5m)"), "none") << "it is the growth of the counter";
  EXPECT_EQ(raw("sum(" + prompts + " - " + answers + " offset 5m)"), "warning");
  EXPECT_EQ(raw("sum(" + prompts + ") / 4"), "warning");
  EXPECT_EQ(raw("sum(rate(" + prompts + "[2m]))"), "none");
  EXPECT_EQ(raw("sum(jobs_total)"), "none") << "it may be a gauge";
}

TEST(SeverityCases, PercentUnitMismatch) {
  const auto hpa = [](const std::string& metric) {
    return found(
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: {scaleTargetRef: {name: "
        "a}, "
        "maxReplicas: 4, metrics: [{type: Pods, pods: {metric: {name: '" +
            metric + "'}, target: {type: AverageValue, averageValue: 80}}}]}\n",
        "percent-unit-mismatch");
  };
  EXPECT_EQ(hpa("vllm_kv_cache_usage_perc"), "warning") << "an adapter may multiply it";
  EXPECT_EQ(hpa("vllm:gpu_cache_usage_perc"), "warning");
  EXPECT_EQ(hpa("gpu_cache_usage_perc"), "warning") << "it is a metric of NIM";
  EXPECT_EQ(found(scaled_by("avg(vllm:kv_cache_usage_perc)"), "percent-unit-mismatch"), "error");
  EXPECT_EQ(hpa("my_router_kv_cache_usage_perc"), "none") << "it may be a percentage";
  EXPECT_EQ(hpa("token_usage"), "none");
}

TEST(SeverityCases, AlertsOnARemovedMetricConsiderTheVersionsInTheInput) {
  const std::string rule =
      "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: a}\nspec: {groups: [{name: a, "
      "rules: [{alert: a, expr: 'avg(vllm:gpu_cache_usage_perc) > 0.9'}]}]}\n";
  const auto alert = [&](const std::vector<std::string>& images) {
    Texts texts = {{"observability/rule.yaml", rule}};
    for (const std::string& image : images) {
      const std::string name = "w" + std::to_string(texts.size());
      texts.push_back({name + "/a.yaml", server("image: '" + image + "'", "", name)});
    }
    return found(texts, "metric-removed");
  };
  EXPECT_EQ(alert({}), "info") << "no version is known";
  EXPECT_EQ(alert({"vllm/vllm-openai:latest"}), "warning") << "a node may have an older image";
  EXPECT_EQ(alert({"vllm/vllm-openai:v0.6.3"}), "none");
  EXPECT_EQ(alert({"vllm/vllm-openai:v0.14.0"}), "error");
  EXPECT_EQ(alert({"vllm/vllm-openai:v0.6.3", "vllm/vllm-openai:v0.14.0"}), "error");
}

TEST(SeverityCases, APausedScalerDoesNotCompeteForTheReplicas) {
  const auto scaled = [](const std::string& annotations) {
    return found("apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a, annotations: {" + annotations +
                     "}}\nspec: {scaleTargetRef: {name: vllm}, minReplicaCount: 1}\n---\napiVersion: apps/v1\nkind: "
                     "Deployment\nmetadata: {name: vllm}\nspec: {replicas: 0, selector: {matchLabels: {a: b}}}\n",
                 "deployment-replicas-with-autoscaler");
  };
  EXPECT_EQ(scaled(""), "warning");
  EXPECT_EQ(scaled("autoscaling.keda.sh/paused: 'false'"), "warning");
  EXPECT_EQ(scaled("autoscaling.keda.sh/paused: 'true'"), "none");
  EXPECT_EQ(scaled("autoscaling.keda.sh/paused-replicas: '2'"), "none");
}

TEST(SeverityCases, ALimitOnMemoryAlsoLimitsTheGpus) {
  const auto pool = [](const std::string& limits) {
    return found("apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gpu}\nspec: {limits: {" + limits +
                     "}, template: {spec: {requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, "
                     "values: [g5]}]}}}\n",
                 "gpu-pool-no-gpu-limit");
  };
  EXPECT_EQ(pool("cpu: 4000, memory: 80Gi"), "none");
  EXPECT_EQ(pool("memory: 80Gi"), "none");
  EXPECT_EQ(pool("cpu: 64, memory: 9000Gi"), "none");
  EXPECT_EQ(pool("cpu: 1000, memory: 1000Gi"), "info");
  EXPECT_EQ(pool("cpu: 9000, memory: 9000Gi"), "warning");
  EXPECT_EQ(pool("memory: 9000Gi"), "warning");
}

TEST(SeverityCases, AnOldHpaHasNoBehavior) {
  const auto hpa = [](const std::string& version) {
    return found("apiVersion: autoscaling/" + version +
                     "\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: {scaleTargetRef: {kind: Deployment, "
                     "name: llama-70b}, maxReplicas: 9, metrics: [{type: Resource, resource: {name: cpu}}]}\n---\n" +
                     server("image: 'vllm/vllm-openai:v0.20.0'"),
                 "hpa-missing-scaledown-behavior");
  };
  EXPECT_EQ(hpa("v2"), "info");
  EXPECT_EQ(hpa("v2beta2"), "info");
  EXPECT_EQ(hpa("v2beta1"), "none");
}

TEST(SeverityCases, TheLatestImagesAreAdvice) {
  const auto alias = [](const std::string& image, const std::string& family) {
    return found(
        "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: gpu}\nspec: {amiSelectorTerms: "
        "[{alias: " +
            image +
            "}]}\n---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: inference}\nspec: {"
            "template: {spec: {nodeClassRef: {name: gpu}, requirements: [{key: karpenter.k8s.aws/instance-family, "
            "operator: In, values: [" +
            family + "]}]}}}\n",
        "ami-latest-alias");
  };
  EXPECT_EQ(alias("al2023@latest", "g5"), "info");
  EXPECT_EQ(alias("al2023@latest", "m5"), "none");
  EXPECT_EQ(alias("al2023@v20250519", "g5"), "none");
  EXPECT_EQ(alias("al2@latest", "g5"), "none");
}

TEST(SeverityCases, SpotNodesAreAdviceUnlessTheServiceIsOnline) {
  const auto pool = [](const std::string& label) {
    return found(
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gpu}\nspec: {limits: {nvidia.com/gpu: 8}, "
        "template: {metadata: {labels: {workload: " +
            label + "}}, spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]}}}\n",
        "spot-slo-critical");
  };
  EXPECT_EQ(pool("online-inference"), "warning");
  EXPECT_EQ(pool("gpu-inference"), "info") << "it may be inference in batches";
  EXPECT_EQ(pool("training"), "none");
}

TEST(SeverityCases, ALowCpuLimitAlsoLimitsTheGpus) {
  const auto pool = [](const std::string& limits) {
    return found("apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gpu}\nspec: {" + limits +
                     "template: {spec: {requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: "
                     "[g5]}]}}}\n",
                 "gpu-pool-no-gpu-limit");
  };
  EXPECT_EQ(pool(""), "warning");
  EXPECT_EQ(pool("limits: {memory: 1000Gi}, "), "info");
  EXPECT_EQ(pool("limits: {memory: 9000Gi}, "), "warning");
  EXPECT_EQ(pool("limits: {cpu: 1000}, "), "warning") << "250 GPUs";
  EXPECT_EQ(pool("limits: {cpu: '16', memory: 64Gi}, "), "none") << "at most 4 GPUs";
  EXPECT_EQ(pool("limits: {cpu: 128000m}, "), "none") << "at most 32 GPUs";
  EXPECT_EQ(pool("limits: {cpu: 132}, "), "info") << "33 GPUs, which may be meant as a limit";
  EXPECT_EQ(pool("limits: {cpu: 200}, "), "info") << "50 GPUs";
  EXPECT_EQ(pool("limits: {cpu: 800}, "), "info") << "200 GPUs";
  EXPECT_EQ(pool("limits: {cpu: 1000, nvidia.com/gpu: 8}, "), "none");
}

TEST(SeverityCases, PodsWithoutRequestsNeedNoProbesGracePeriodsOrBudgets) {
  const std::string service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {selector: {a: b}}\n";
  const std::string rows[] = {
      server("image: 'registry.k8s.io/pause:3.10'"),
      server("image: 'registry.k8s.io/pause@sha256:0'"),
      server("image: 'cuda:1', command: [sleep, infinity]"),
      server("image: 'cuda:1', command: [sh, -c, 'sleep infinity']"),
      server("image: 'vllm/vllm-openai:v0.20.0', command: [tail, -f, /dev/null]"),
      server("image: 'vllm/vllm-openai:v0.20.0', command: [sh, -c, 'exit 0']", "", "vllm-image-prepull"),
  };
  const std::string replicas = "spec: {replicas: 3, ";
  for (std::string yaml : rows) {
    yaml.replace(yaml.find("spec: {"), 7, replicas);
    for (const std::string_view rule :
         {"missing-readiness-probe", "grace-period-too-short", "pdb-missing-or-blocking"}) {
      EXPECT_EQ(found(yaml + service, rule), "none") << rule << "\n" << yaml;
    }
  }
  std::string serving = server("image: 'vllm/vllm-openai:v0.20.0'");
  serving.replace(serving.find("spec: {"), 7, replicas);
  EXPECT_EQ(found(serving + service, "missing-readiness-probe"), "warning");
  EXPECT_EQ(found(serving, "grace-period-too-short"), "info");
  EXPECT_EQ(found(serving, "pdb-missing-or-blocking"), "info");
}

TEST(SeverityCases, ABudgetThatForbidsEvictionsCountsTheReplicasOfTheAutoscaler) {
  const auto budget = [](const std::string& bounds) {
    return found(server("image: 'a:1'") +
                     "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: "
                     "llama-70b}\nspec: {minAvailable: 100%, selector: {matchLabels: {a: b}}}\n---\napiVersion: "
                     "autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: llama-70b}\nspec: "
                     "{scaleTargetRef: {kind: Deployment, name: llama-70b}, " +
                     bounds + "}\n",
                 "pdb-missing-or-blocking");
  };
  EXPECT_EQ(budget("minReplicas: 2, maxReplicas: 8"), "warning");
  EXPECT_EQ(budget("minReplicas: 1, maxReplicas: 8"), "warning");
  EXPECT_EQ(budget("minReplicas: 1, maxReplicas: 1"), "info") << "the budget of a single replica may be meant";
}

TEST(SeverityCases, ABudgetSelectsNoPodOnlyIfItsLabelIsMisspelt) {
  const auto budget = [](const std::string& label, const std::string& pods) {
    return found(
        "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: x}\nspec: {maxUnavailable: 1, "
        "selector: {matchLabels: {" +
            label +
            "}}}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: "
            "{name: x}\nspec: {template: {metadata: {labels: {" +
            pods + "}}, spec: {containers: [{name: a, image: 'a:1'}]}}}\n",
        "pdb-selects-no-pod");
  };
  EXPECT_EQ(budget("app: llama-8b", "app: llama8b"), "warning");
  EXPECT_EQ(budget("app: Chat", "app: chat"), "warning");
  EXPECT_EQ(budget("app: lama-8b", "app: llama-8b"), "warning");
  EXPECT_EQ(budget("app: llama-8b", "app: llama-8b, team: a"), "none");
  EXPECT_EQ(budget("app: llama-8b", "app: llama-70b"), "none") << "another model, whose workload is elsewhere";
  EXPECT_EQ(budget("app: vllm-a", "app: vllm-b"), "none");
  EXPECT_EQ(budget("app: llama-8b, team: a", "app: llama8b"), "none") << "the pods lack a label";
}

TEST(SeverityCases, PriorityClassUndefined) {
  const auto balloon = [](const std::string& name) {
    return found(pod("priorityClassName: " + name + ", containers: [{name: a, image: 'registry.k8s.io/pause:3.10'}]"),
                 "priorityclass-undefined");
  };
  EXPECT_EQ(balloon("overprovisioning"), "info") << "the cluster may have it";
  for (const char* installed :
       {"system-node-critical", "train", "build", "inference", "build-preemptible", "very-low"}) {
    EXPECT_EQ(balloon(installed), "none") << installed;
  }
}

TEST(SeverityCases, OversizedInstanceForPod) {
  const auto set = [](const std::string& families, const std::string& replicas, const std::string& more = "") {
    return found(
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gpu}\nspec: {limits: {nvidia.com/gpu: 64}, "
        "template: "
        "{spec: {requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [" +
            families +
            "]}]}}}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: llama-8b}\nspec: {replicas: " +
            replicas +
            ", selector: {}, template: {spec: {containers: [{name: a, image: 'a:1', resources: {limits: "
            "{nvidia.com/gpu: "
            "1}}}]}}}\n" +
            more,
        "oversized-instance-for-pod");
  };
  EXPECT_EQ(set("p4d", "1"), "warning");
  EXPECT_EQ(set("p4d", "7"), "warning");
  EXPECT_EQ(set("p4d", "8"), "none") << "eight pods fill the node";
  EXPECT_EQ(set("p4d, g6e", "1"), "info") << "Karpenter launches the smaller one while it is available";
  EXPECT_EQ(set("g6e", "1"), "none");
  const std::string hpa =
      "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: {scaleTargetRef: "
      "{kind: "
      "Deployment, name: llama-8b}, maxReplicas: ";
  EXPECT_EQ(set("p4d", "1", hpa + "8}\n"), "none");
  EXPECT_EQ(set("p4d", "1", hpa + "4}\n"), "warning");
}

TEST(SeverityCases, TpGpuMismatchByDefault) {
  const auto engine = [](const std::string& start, const std::string& gpus) {
    return found(pod("containers: [{name: a, " + start + ", resources: {limits: {nvidia.com/gpu: " + gpus + "}}}]"),
                 "tp-gpu-mismatch");
  };
  EXPECT_EQ(engine("image: 'vllm/vllm-openai:v0.20.0', args: [--model, m]", "4"), "warning")
      << "the engine uses one of four GPUs";
  EXPECT_EQ(engine("image: 'vllm/vllm-openai:v0.20.0', args: [--model, m, -tp, '4']", "2"), "error")
      << "it does not start";
  EXPECT_EQ(engine("image: 'vllm/vllm-openai:v0.20.0', args: [--model, m]", "1"), "none");
  EXPECT_EQ(engine("image: 'a:1', command: [sglang, serve, --model-path, m]", "2"), "warning");
  EXPECT_EQ(engine("image: 'ghcr.io/huggingface/text-generation-inference:3', args: [--model-id, m]", "4"), "none");
  EXPECT_EQ(engine("image: 'vllm/vllm-openai:v0.20.0', args: [--model, m, $(ARGS)]", "4"), "none");
  EXPECT_EQ(engine("image: 'vllm/vllm-openai:v0.20.0'", "4"), "none") << "the manifest does not state the model";
}

TEST(SeverityCases, ScaleUpIsLimitedIfASignalCountsStartingReplicas) {
  const auto up = [](const std::string& query, const std::string& advanced = "") {
    return found(
        "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec:\n  scaleTargetRef: {name: v}\n"
        "  minReplicaCount: 1\n  maxReplicaCount: 9\n  advanced:\n    horizontalPodAutoscalerConfig: {behavior: "
        "{scaleUp: "
        "{policies: [{type: Percent, value: 200, periodSeconds: 15}]}}}\n" +
            advanced + "  triggers: [{type: prometheus, metadata: {query: '" + query + "', threshold: '5'}}]\n",
        "scaleup-unbounded-vs-coldstart");
  };
  EXPECT_EQ(up("sum(vllm:num_requests_waiting)"), "info") << "a target per replica asks for the same number again";
  EXPECT_EQ(up("sum(vllm:num_requests_waiting)", "    scalingModifiers: {formula: queue - 5 * pending, target: '5'}\n"),
            "none");
  EXPECT_EQ(up("sum(wva_desired_replicas)"), "none");
}

TEST(SeverityCases, GracePeriodIsAWarningIfItIsShorterThanWhatRunsInIt) {
  const auto grace = [](const std::string& container, const std::string& spec = "") {
    return found(server("image: 'vllm/vllm-openai:v0.20.0', ports: [{containerPort: 8000}], " + container, spec),
                 "grace-period-too-short");
  };
  const std::string sleep_60 = "lifecycle: {preStop: {sleep: {seconds: 60}}}, ";
  EXPECT_EQ(grace("args: [--model, m]"), "info") << "it depends on the length of the answers";
  EXPECT_EQ(grace(sleep_60 + "args: [--model, m]"), "warning") << "SIGTERM never arrives within 30 s";
  EXPECT_EQ(grace(sleep_60 + "args: [--model, m]", "terminationGracePeriodSeconds: 60, "), "warning");
  EXPECT_EQ(grace(sleep_60 + "args: [--model, m]", "terminationGracePeriodSeconds: 90, "), "info");
  EXPECT_EQ(grace("args: [--model, m, --shutdown-timeout, '60']"), "warning");
  EXPECT_EQ(grace("args: [--model, m, --shutdown-timeout, '60']", "terminationGracePeriodSeconds: 60, "), "info");
  EXPECT_EQ(grace(sleep_60 + "args: [--model, m, --shutdown-timeout, '90']", "terminationGracePeriodSeconds: 120, "),
            "warning");
  EXPECT_EQ(grace("args: [--model, m]", "terminationGracePeriodSeconds: 180, "), "none");
}

TEST(SeverityCases, APoolMayHaveSeveralGpusIfItsPodsSelectOne) {
  const auto pool = [](const std::string& spec, const std::string& model = "Qwen/Qwen2.5-14B-Instruct") {
    return found(
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gpu}\nspec: {limits: {nvidia.com/gpu: 64}, "
        "template: "
        "{spec: {requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [g4dn, "
        "p4d]}]}}}\n---\n" +
            server("image: 'vllm/vllm-openai:v0.20.0', args: [--model, " + model + "]", spec),
        "pool-mixed-gpu-generations");
  };
  EXPECT_EQ(pool(""), "warning") << "the weights do not fit into a T4";
  EXPECT_EQ(pool("", "Qwen/Qwen2.5-3B-Instruct"), "info") << "they fit into any of the GPUs";
  EXPECT_EQ(pool("", "m"), "info");
  EXPECT_EQ(pool("nodeSelector: {karpenter.k8s.aws/instance-gpu-name: t4}, "), "info");
  EXPECT_EQ(pool("nodeSelector: {nvidia.com/gpu.product: Tesla-T4}, "), "info");
  EXPECT_EQ(pool("nodeSelector: {team: a}, "), "warning");
}

TEST(SeverityCases, AQueryOfKServeIsCheckedLikeOneOfKeda) {
  const auto service = [](const std::string& query) {
    return found(
        "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: a}\nspec: {predictor: "
        "{minReplicas: 1, maxReplicas: 5, autoScaling: {metrics: [{type: External, external: {metric: {backend: "
        "prometheus, query: '" +
            query + "'}, target: {type: Value, value: '2'}}}]}}}\n",
        "keda-query-not-aggregated");
  };
  EXPECT_EQ(service("vllm:num_requests_running"), "error");
  EXPECT_EQ(service("sum(vllm:num_requests_running)"), "none");
}

TEST(SeverityCases, AStatedMinimumOfZeroIsAdvice) {
  std::string scaled = scaled_by("sum(vllm:num_requests_waiting)");
  const std::string minimum = "  minReplicaCount: 1\n";
  const std::size_t at = scaled.find(minimum);
  EXPECT_EQ(found(scaled, "scale-to-zero-no-warm-pool"), "none");
  scaled.replace(at, minimum.size(), "  minReplicaCount: 0\n");
  EXPECT_EQ(found(scaled, "scale-to-zero-no-warm-pool"), "info");
  EXPECT_EQ(found(scaled, "scale-to-zero-self-metric"), "error") << "nothing wakes it";
  scaled.erase(at, minimum.size());
  EXPECT_EQ(found(scaled, "scale-to-zero-no-warm-pool"), "info") << "the default of KEDA is 0";
  const std::string queue =
      "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec: {scaleTargetRef: {name: "
      "llama-70b}, minReplicaCount: 0, triggers: [{type: redis, metadata: {listName: jobs, listLength: '5'}}]}\n---\n";
  EXPECT_EQ(found(queue + server("image: 'vllm/vllm-openai:v0.20.0'"), "scale-to-zero-no-warm-pool"), "info");
  EXPECT_EQ(
      found("apiVersion: kubeai.org/v1\nkind: Model\nmetadata: {name: a}\nspec: {minReplicas: 0, resourceProfile: "
            "'nvidia-gpu-l4:1'}\n",
            "scale-to-zero-no-warm-pool"),
      "info");
}

TEST(SeverityCases, AFormulaMayHandleAMissingValue) {
  std::string yaml = scaled_by("sum(vllm:num_requests_waiting)");
  const auto with_formula = [&](const std::string& formula) {
    std::string text = yaml;
    return text.insert(text.find("  triggers:"), "  advanced: {scalingModifiers: {formula: '" + formula + "'}}\n");
  };
  EXPECT_EQ(found(yaml, "keda-null-as-zero"), "info");
  EXPECT_EQ(found(with_formula("a + b"), "keda-null-as-zero"), "info");
  EXPECT_EQ(found(with_formula("(a ?? 0) + b"), "keda-null-as-zero"), "info");
}

TEST(SeverityCases, AShortScaleDownWindowIsAdviceForUnknownServers) {
  const auto window = [](const std::string& container, int seconds) {
    return found(server(container) +
                     "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: "
                     "{scaleTargetRef: {kind: Deployment, name: llama-70b}, maxReplicas: 4, behavior: {scaleDown: "
                     "{stabilizationWindowSeconds: " +
                     std::to_string(seconds) + "}}}\n",
                 "scaledown-window-too-short");
  };
  const std::string engine = "image: 'vllm/vllm-openai:v0.20.0', args: [--model, m]";
  EXPECT_EQ(window(engine, 10), "warning");
  EXPECT_EQ(window(engine, 120), "info");
  EXPECT_EQ(window(engine, 300), "none");
  EXPECT_EQ(window("image: 'nvcr.io/nvidia/tritonserver:25.01-py3'", 120), "info");
  EXPECT_EQ(window("image: 'nvcr.io/nvidia/tritonserver:25.01-py3'", 10), "info");
}

TEST(SeverityCases, ADrainFlagIsRequiredOnlyOfVersionsThatHaveIt) {
  const auto image = [](const std::string& name) {
    return found(server("image: '" + name + "', command: [vllm, serve, m]"), "vllm-no-drain-flag");
  };
  EXPECT_EQ(image("vllm/vllm-openai:v0.18.0"), "info");
  EXPECT_EQ(image("vllm/vllm-openai:latest"), "info");
  EXPECT_EQ(image("vllm/vllm-openai"), "info");
  EXPECT_EQ(image("vllm/vllm-openai:v0.17.1"), "none");
  EXPECT_EQ(image("vllm/vllm-openai@sha256:0"), "none");
  EXPECT_EQ(image("us-docker.pkg.dev/pytorch-vllm-serve:20240930_0945_RC00"), "none");
}

TEST(SeverityCases, GkeAddsTheToleration) {
  const auto tolerates = [](const std::string& spec, const std::string& more = "") {
    return found(server("image: 'a:1'", spec) + more, "missing-gpu-toleration");
  };
  EXPECT_EQ(tolerates(""), "info");
  EXPECT_EQ(tolerates("nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}, "), "none");
  EXPECT_EQ(tolerates("nodeSelector: {cloud.google.com/gke-nodepool: a}, "), "none");
  EXPECT_EQ(tolerates("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
                      "[{matchExpressions: [{key: cloud.google.com/gke-spot, operator: Exists}]}]}}}, "),
            "none");
}

TEST(SeverityCases, ATolerationIsRequiredIfThePoolsHaveTaints) {
  const auto with_pool_taints = [](const std::string& taints) {
    return found(server("image: 'a:1'") +
                     "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gpu}\nspec: {limits: "
                     "{nvidia.com/gpu: 8}, template: {spec: {taints: [" +
                     taints + "]}}}\n",
                 "missing-gpu-toleration");
  };
  EXPECT_EQ(with_pool_taints("{key: nvidia.com/gpu, effect: NoSchedule}"), "warning");
  EXPECT_EQ(with_pool_taints(""), "none");
}

TEST(SeverityCases, OllamaIsReadyWithoutAModel) {
  const std::string service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {selector: {a: b}}\n";
  EXPECT_EQ(found(server("image: 'ollama/ollama:0.9'") + service, "missing-readiness-probe"), "info");
  EXPECT_EQ(found(server("image: 'a:1'") + service, "missing-readiness-probe"), "info") << "its start may be fast";
  EXPECT_EQ(found(server("image: 'vllm/vllm-openai:v0.20.0'") + service, "missing-readiness-probe"), "warning");
  const std::string tiny = "image: 'vllm/vllm-openai:v0.20.0', args: [--model, microsoft/DialoGPT-small]";
  EXPECT_EQ(found(server(tiny) + service, "missing-readiness-probe"), "info");
  std::string recreated = server("image: 'vllm/vllm-openai:v0.20.0'");
  recreated.insert(recreated.find("selector:"), "strategy: {type: Recreate}, ");
  EXPECT_EQ(found(recreated + service, "missing-readiness-probe"), "info") << "no other pod serves meanwhile";
}

TEST(SeverityCases, ReadinessIsLiveness) {
  const auto probes = [](const std::string& ready, const std::string& live) {
    return found(server("image: 'a:1', readinessProbe: {httpGet: {path: /health}" + ready +
                        "}, livenessProbe: {httpGet: {path: /health}" + live + "}"),
                 "readiness-is-liveness");
  };
  EXPECT_EQ(probes("", ""), "info");
  EXPECT_EQ(probes(", failureThreshold: 1", ", failureThreshold: 5"), "none") << "readiness fails before liveness does";
}

TEST(SeverityCases, AVariableNameJoinsNoObjects) {
  const auto scaled = [](const std::string& kind, const std::string& api) {
    return "apiVersion: " + api + "\nkind: " + kind +
           "\nmetadata: {name: a}\nspec: {scaleTargetRef: {kind: Deployment, name: '${TARGET}'}}\n---\n";
  };
  EXPECT_EQ(found(scaled("ScaledObject", "keda.sh/v1alpha1") + scaled("HorizontalPodAutoscaler", "autoscaling/v2"),
                  "two-autoscalers-one-target"),
            "none");
}

TEST(SeverityCases, ARoleOfADisaggregatedSetIsATarget) {
  const std::string set =
      "apiVersion: disaggregatedset.x-k8s.io/v1\nkind: DisaggregatedSet\nmetadata: {name: qwen}\nspec: {roles: [{name: "
      "prefill, spec: {leaderWorkerTemplate: {workerTemplate: {spec: {containers: [{name: a, image: 'vllm:1', "
      "resources: "
      "{limits: {nvidia.com/gpu: 1}}}]}}}}}]}\n---\n";
  const auto by_cpu = [&](const std::string& target) {
    return found(
        set +
            "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: "
            "{scaleTargetRef: {apiVersion: disaggregatedset.x-k8s.io/v1, kind: DisaggregatedSetRoleScaler, name: " +
            target +
            "}, maxReplicas: 4, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, "
            "averageUtilization: 70}}}]}\n",
        "cpu-memory-hpa-on-gpu");
  };
  EXPECT_EQ(by_cpu("qwen-prefill"), "warning");
  EXPECT_EQ(by_cpu("qwen-decode"), "none");
}

}  // namespace
}  // namespace capstan::lint::severity_cases_test
