#include "lint/testing/cases.h"

// Manifests in which a rule must find a defect, and similar manifests in which it must find none. Each rule has a test.
namespace capstan::lint::rule_cases_test {
namespace {

using namespace testing_cases;

TEST(RuleCases, EngineFlagRemoved) {
  const auto flag = [](const std::string& image, const std::string& args) {
    return found(server("image: '" + image + "', args: [--model, m, " + args + "]"), "engine-flag-removed");
  };
  struct Row {
    const char* image;
    const char* args;
    std::string_view severity;
  };
  const Row rows[] = {
      {"vllm/vllm-openai:v0.18.0", "--swap-space, '4'", "error"},
      {"vllm/vllm-openai:v0.17.1", "--swap-space, '4'", "none"},
      {"vllm/vllm-openai:v0.20.0", "--swap-space=4", "error"},
      {"vllm/vllm-openai:v0.20.0", "--swap_space=4", "error"},
      {"vllm/vllm-openai:v0.12.0", "--disable-log-requests", "error"},
      {"vllm/vllm-openai:v0.11.2", "--disable-log-requests", "none"},
      {"vllm/vllm-openai:v0.20.0", "--no-enable-log-requests", "none"},
      {"vllm/vllm-openai:v0.10.0", "--enable-reasoning", "error"},
      {"vllm/vllm-openai:v0.11.0", "--num-scheduler-steps, '8'", "error"},
      {"vllm/vllm-openai:v0.12.0", "--rope-theta, '10000'", "error"},
      {"vllm/vllm-openai:v0.11.0", "--max-seq-len-to-capture, '8192'", "error"},
      {"vllm/vllm-openai:v0.16.0", "--device, cuda", "error"},
      {"vllm/vllm-openai:v0.8.5", "--worker-use-ray", "error"},
      {"vllm/vllm-openai:v0.12.0", "--task, embed", "none"},
      {"vllm/vllm-openai:v0.13.0", "--task, embed", "error"},
      {"vllm/vllm-openai:v0.28.0", "--task-name, embed", "none"},
      {"vllm/vllm-openai:latest", "--swap-space, '4'", "warning"},
      {"vllm/vllm-openai", "--swap-space, '4'", "warning"},
      {"registry.example.com/vllm:internal", "--swap-space, '4'", "none"},
      {"lmsysorg/sglang:v0.5.2", "--swap-space, '4'", "none"},
  };
  for (const Row& row : rows) EXPECT_EQ(flag(row.image, row.args), row.severity) << row.image << " " << row.args;
}

TEST(RuleCases, HpaCpuRequestMissing) {
  const auto workload = [](const std::string& containers, const std::string& more = "") {
    return "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: gw}\nspec: {selector: {}, template: {spec: {" +
           more + "containers: [" + containers + "]}}}\n";
  };
  const auto hpa = [](const std::string& metric) {
    return "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: gw}\nspec: {scaleTargetRef: "
           "{kind: Deployment, name: gw}, maxReplicas: 4, metrics: [" +
           metric + "]}\n";
  };
  const std::string cpu =
      "{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}";
  const std::string with_request = "{name: a, image: 'a:1', resources: {requests: {cpu: 1}}}";
  const std::string without_request = "{name: b, image: 'b:1', resources: {requests: {memory: 1Gi}}}";
  const std::string one_container =
      "{type: ContainerResource, containerResource: {name: cpu, container: a, target: {type: Utilization, "
      "averageUtilization: 70}}}";
  const std::string keda =
      "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: gw}\nspec: {scaleTargetRef: {name: gw}, "
      "maxReplicaCount: 4, triggers: [{type: cpu, metricType: ";
  struct Row {
    std::string yaml;
    std::string_view severity;
  };
  const Row rows[] = {
      {hpa(cpu) + workload(without_request), "error"},
      {hpa(cpu) + workload(with_request), "none"},
      {hpa(cpu) + workload("{name: a, image: 'a:1', resources: '${RESOURCES}'}"), "none"},
      {hpa(cpu) + workload(with_request + ", " + without_request), "error"},
      {hpa(cpu) + workload("{name: a, image: 'a:1', resources: {limits: {cpu: 1}}}"), "none"},
      {hpa(cpu) + workload(without_request, "resources: {requests: {cpu: 1}}, "), "none"},
      {hpa(one_container) + workload(with_request + ", " + without_request), "none"},
      {hpa("{type: Resource, resource: {name: memory, target: {type: Utilization, averageUtilization: 70}}}") +
           workload(with_request),
       "error"},
      {hpa("{type: Resource, resource: {name: cpu, target: {type: AverageValue, averageValue: 500m}}}") +
           workload(without_request),
       "none"},
      {keda + "Utilization, metadata: {value: '60'}}]}\n" + workload(without_request), "error"},
      {keda + "AverageValue, metadata: {value: 500m}}]}\n" + workload(without_request), "none"},
      {hpa(cpu), "none"},
      {hpa(cpu) + workload(without_request) +
           "---\napiVersion: v1\nkind: LimitRange\nmetadata: {name: a}\nspec: {limits: []}\n",
       "none"},
  };
  for (const Row& row : rows) EXPECT_EQ(found(row.yaml, "hpa-cpu-request-missing"), row.severity) << row.yaml;
}

TEST(RuleCases, CudaDevicesBeyondGrant) {
  const auto with = [](const std::string& gpus, const std::string& devices, const std::string& more = "") {
    return found(pod("containers: [{name: a, image: 'a:1', resources: {limits: {" + gpus +
                     "}}, env: [{name: CUDA_VISIBLE_DEVICES, value: '" + devices + "'}" + more + "]}]"),
                 "cuda-devices-beyond-grant");
  };
  EXPECT_EQ(with("nvidia.com/gpu: 2", "2,3"), "error");
  EXPECT_EQ(with("nvidia.com/gpu: 2", "1,2"), "error");
  EXPECT_EQ(with("nvidia.com/gpu: 1", "1"), "error");
  EXPECT_EQ(with("nvidia.com/gpu: 2", "0,1,2,3"), "warning") << "CUDA uses both";
  EXPECT_EQ(with("nvidia.com/gpu: 2", "0,1"), "none");
  EXPECT_EQ(with("nvidia.com/gpu: 2", "0"), "none");
  EXPECT_EQ(with("nvidia.com/mig-1g.10gb: 1", "1"), "error");
  EXPECT_EQ(with("nvidia.com/gpu: 2", "GPU-8932f937,GPU-1"), "none");
  EXPECT_EQ(with("nvidia.com/gpu: 2", "all"), "none");
  EXPECT_EQ(with("nvidia.com/gpu: 2", ""), "none");
  EXPECT_EQ(with("cpu: 2", "4"), "none") << "another component may give the GPUs";
  EXPECT_EQ(with("nvidia.com/gpu: 1", "4", ", {name: NVIDIA_VISIBLE_DEVICES, value: all}"), "none");
  const auto script = [](const std::string& command) {
    return found(
        pod("containers: [{name: a, image: 'a:1', resources: {limits: {nvidia.com/gpu: 2}}, command: [sh, -c, '" +
            command + "']}]"),
        "cuda-devices-beyond-grant");
  };
  EXPECT_EQ(script("CUDA_VISIBLE_DEVICES=4,5 vllm serve m"), "error");
  EXPECT_EQ(script("export CUDA_VISIBLE_DEVICES=2; vllm serve m"), "error");
  EXPECT_EQ(script("CUDA_VISIBLE_DEVICES=0 vllm serve m & CUDA_VISIBLE_DEVICES=1 vllm serve n"), "none");
  EXPECT_EQ(script("CUDA_VISIBLE_DEVICES=$RANK vllm serve m"), "none");
}

TEST(RuleCases, ReadinessDelayFixed) {
  const auto probe = [](const std::string& probes, const std::string& model = "Qwen/Qwen2.5-7B-Instruct") {
    return found(scaled_server("image: 'vllm/vllm-openai:v0.20.0', args: [--model, " + model + "], " + probes),
                 "readiness-delay-fixed");
  };
  const std::string delay_300 = "readinessProbe: {httpGet: {path: /health}, initialDelaySeconds: 300}";
  EXPECT_EQ(probe(delay_300), "warning") << "14 GB are downloaded at 100 MB/s in 140 s, and loaded in 120 s";
  EXPECT_EQ(probe(delay_300, "m"), "info") << "the model may be large";
  EXPECT_EQ(probe(delay_300, "meta-llama/Llama-3.3-70B-Instruct"), "info");
  EXPECT_EQ(probe("readinessProbe: {httpGet: {path: /health}, initialDelaySeconds: 250}"), "info");
  EXPECT_EQ(probe("readinessProbe: {httpGet: {path: /health}, initialDelaySeconds: 140}", "facebook/opt-125m"),
            "warning");
  EXPECT_EQ(probe("readinessProbe: {httpGet: {path: /health}, initialDelaySeconds: 60}"), "none");
  const std::string alone = server("image: 'a:1', args: [vllm, serve, facebook/opt-125m], " + delay_300);
  EXPECT_EQ(found(alone, "readiness-delay-fixed"), "info") << "nothing adds replicas";
  EXPECT_EQ(probe("livenessProbe: {httpGet: {path: /health}, initialDelaySeconds: 300}"), "none");
  EXPECT_EQ(probe("startupProbe: {httpGet: {path: /health}, failureThreshold: 60}"), "none");
}

TEST(RuleCases, LivenessKillsBusy) {
  const auto probe = [](const std::string& liveness, const std::string& image = "vllm/vllm-openai:v0.20.0") {
    return found(server("image: '" + image + "', livenessProbe: {" + liveness + "}"), "liveness-kills-busy");
  };
  EXPECT_EQ(probe("httpGet: {path: /health, port: 8000}"), "info") << "the defaults: 3 late answers within 30 s";
  EXPECT_EQ(probe("httpGet: {path: /health, port: 8000}, periodSeconds: 1, failureThreshold: 5"), "warning");
  EXPECT_EQ(probe("httpGet: {path: /health, port: 8000}, failureThreshold: 1"), "warning") << "one late answer";
  EXPECT_EQ(probe("httpGet: {path: /health, port: 8000}, periodSeconds: 20"), "none");
  EXPECT_EQ(probe("httpGet: {path: /health, port: 8000}, timeoutSeconds: 5"), "none");
  EXPECT_EQ(probe("httpGet: {path: /health, port: 8000}, timeoutSeconds: 5, failureThreshold: 1"), "info");
  EXPECT_EQ(probe("httpGet: {path: /health, port: 8000}, timeoutSeconds: 30, failureThreshold: 1"), "none");
  EXPECT_EQ(probe("httpGet: {path: /health, port: 8000}, failureThreshold: 10"), "none");
  EXPECT_EQ(probe("httpGet: {path: /health, port: 8000}", "nginx:1"), "none");
  EXPECT_EQ(probe("httpGet: {path: /v2/health/live, port: 8000}", "nvcr.io/nvidia/tritonserver:25.01"), "none")
      << "Triton answers in a separate thread";
  const std::string small = "vllm/vllm-openai:v0.20.0', args: [--model, Qwen/Qwen3-0.6B], workingDir: '/";
  EXPECT_EQ(probe("httpGet: {path: /health, port: 8000}", small), "info") << "its steps take milliseconds";
  EXPECT_EQ(probe("tcpSocket: {port: 8000}"), "none") << "the kernel answers";
  EXPECT_EQ(probe("httpGet: {path: /health_generate, port: 30000}, timeoutSeconds: 30", "a:1"), "none")
      << "SGLang answers with a token of any request";
  EXPECT_EQ(probe("exec: {command: [curl, 'http://localhost:8000/v1/completions']}, timeoutSeconds: 60", "a:1"),
            "warning");
}

TEST(RuleCases, QuantileWithoutLe) {
  const auto query = [](const std::string& text) { return found(scaled_by(text), "quantile-without-le"); };
  EXPECT_EQ(query("histogram_quantile(0.9, sum(rate(x_bucket[5m])))"), "error");
  EXPECT_EQ(query("histogram_quantile(0.9, sum by (pod) (rate(x_bucket[5m])))"), "error");
  EXPECT_EQ(query("(histogram_quantile(0.9, max(rate(x_bucket[5m]))) > 0) or vector(0)"), "error");
  EXPECT_EQ(query("histogram_quantile(0.9, sum by (le) (rate(x_bucket[5m])))"), "none");
  EXPECT_EQ(query("histogram_quantile(0.9, sum(rate(x_bucket[5m])) by (pod, le))"), "none");
  EXPECT_EQ(query("histogram_quantile(0.9, rate(x_bucket[5m]))"), "none");
  EXPECT_EQ(query("histogram_quantile(0.9, sum without (pod) (rate(x_bucket[5m])))"), "none");
  EXPECT_EQ(query("histogram_quantile(0.9, sum(rate(x[5m])))"), "none") << "a native histogram";
  const std::string alert =
      "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: a}\nspec: {groups: [{name: g, "
      "rules: "
      "[{alert: b, expr: 'histogram_quantile(0.9, sum(rate(x_bucket[5m]))) > 1'}]}]}\n";
  EXPECT_EQ(found(alert, "quantile-without-le"), "error");
}

TEST(RuleCases, GpuOnInitContainer) {
  const std::string gpu = "resources: {limits: {nvidia.com/gpu: 1}}";
  const auto spec = [&](const std::string& init, const std::string& container) {
    return found(pod("initContainers: [{name: i, image: 'i:1', " + init + "}], containers: [{name: c, image: 'c:1', " +
                     container + "}]"),
                 "gpu-on-init-container");
  };
  const std::string none = "resources: {}";
  EXPECT_EQ(spec(gpu, none), "warning");
  EXPECT_EQ(spec(gpu, gpu), "none");
  EXPECT_EQ(spec("restartPolicy: Always, " + gpu, none), "none") << "a sidecar uses the GPU as long as the pod runs";
  EXPECT_EQ(spec("resources: {limits: {nvidia.com/gpu: 0}}", none), "none");
  EXPECT_EQ(spec(none, gpu), "none");
}

TEST(RuleCases, HpaNeverWakes) {
  const auto set = [](const std::string& min, const std::string& replicas, std::uint32_t minor) {
    const std::string yaml =
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: {scaleTargetRef: {kind: "
        "Deployment, name: llama-70b}, maxReplicas: 4, minReplicas: " +
        min +
        ", metrics: [{type: External, external: {metric: {name: q}, target: {type: AverageValue, averageValue: 5}}}]}\n"
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: llama-70b}\nspec: {" +
        replicas + "selector: {}, template: {spec: {containers: [{name: a, image: 'a:1'}]}}}\n";
    return found(yaml, "hpa-never-wakes", minor);
  };
  EXPECT_EQ(set("0", "replicas: 0, ", 37), "error");
  EXPECT_EQ(set("0", "replicas: 0, ", 38), "error");
  EXPECT_EQ(set("0", "replicas: 0, ", 36), "none") << "the API server refuses it, which another rule reports";
  EXPECT_EQ(set("0", "replicas: 1, ", 37), "none");
  EXPECT_EQ(set("0", "", 37), "none");
  EXPECT_EQ(set("1", "replicas: 0, ", 37), "none");
}

TEST(RuleCases, ADuplicateKeyWithTheSameValueIsAWarning) {
  const auto keys = [](const std::string& spec) { return found(pod(spec), "yaml-duplicate-key"); };
  EXPECT_EQ(keys("nodeSelector: {a: b}, nodeSelector: {a: b}"), "warning");
  EXPECT_EQ(keys("nodeSelector: {a: b}, nodeSelector: {a: c}"), "error");
}

TEST(RuleCases, VisibleDevicesOfAPodOnOneHostAreAdvice) {
  const auto set = [](const std::string& spec) {
    return found(server("image: 'a:1', env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]", spec),
                 "visible-devices-override");
  };
  EXPECT_EQ(set(""), "warning");
  EXPECT_EQ(set("nodeName: gpu-1, "), "info");
  EXPECT_EQ(set("nodeSelector: {kubernetes.io/hostname: gpu-1}, "), "info");
}

TEST(RuleCases, ATotalUnderMetricTypeValueIsFound) {
  const auto trigger = [](const std::string& query) {
    const std::string scaler = scaled_by(query) + "    metricType: Value\n";
    return found(scaler, "object-metric-value-no-average");
  };
  EXPECT_EQ(trigger("sum(vllm:num_requests_waiting)"), "warning");
  EXPECT_EQ(trigger("sum(vllm:num_requests_waiting) or vector(0)"), "warning");
  std::string large = scaled_by("sum(vllm:num_requests_waiting)") + "    metricType: Value\n";
  large.replace(large.find("'5'"), 3, "'50'");
  EXPECT_EQ(found(large, "object-metric-value-no-average"), "info") << "50 may be meant as the total";
  EXPECT_EQ(trigger("avg(vllm:num_requests_waiting)"), "none");
  EXPECT_EQ(trigger("sum(vllm:num_requests_waiting) / 4"), "none");
  EXPECT_EQ(trigger("sum(nv_inference_queue_duration_us)"), "none");
  EXPECT_EQ(found(scaled_by("sum(vllm:num_requests_waiting)"), "object-metric-value-no-average"), "none");
}

/// Returns an HPA with one metric.
std::string hpa_with(const std::string& metric) {
  return "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: {scaleTargetRef: "
         "{name: "
         "a}, maxReplicas: 4, metrics: [{" +
         metric + "}]}\n";
}

TEST(RuleCases, AMeanOfAQueueIsNoTotal) {
  const auto metric = [](const std::string& name) {
    return found(hpa_with("type: Object, object: {metric: {name: " + name +
                          "}, describedObject: {kind: Service, name: a}, target: {type: Value, value: 5}}"),
                 "object-metric-value-no-average");
  };
  EXPECT_EQ(metric("vllm_num_requests_waiting"), "warning");
  EXPECT_EQ(metric("avg_time_queue_ms"), "none");
  EXPECT_EQ(metric("queue_time_p95"), "none");
}

TEST(RuleCases, AServiceNamedVllmStopsVllm) {
  const auto with_service = [](const std::string& service, const std::string& spec, const std::string& image) {
    return found("apiVersion: v1\nkind: Service\nmetadata: {name: " + service + "}\nspec: {selector: {a: b}}\n---\n" +
                     server("image: '" + image + "', args: [--model, m]", spec),
                 "vllm-port-from-service");
  };
  const std::string vllm = "vllm/vllm-openai:v0.20.0";
  EXPECT_EQ(with_service("vllm", "", vllm), "error");
  EXPECT_EQ(with_service("vllm-server", "", vllm), "none");
  EXPECT_EQ(with_service("vllm", "enableServiceLinks: false, ", vllm), "none");
  EXPECT_EQ(with_service("vllm", "", "lmsysorg/sglang:v0.5.5"), "none");
  EXPECT_EQ(with_service("vllm", "", "vllm/vllm-openai:v0.4.2"), "none") << "it does not read the variable";
  EXPECT_EQ(with_service("vllm", "", "vllm/vllm-openai:v0.3"), "none");
  EXPECT_EQ(with_service("vllm", "", "vllm/vllm-openai:v0.4.3"), "error");
  EXPECT_EQ(with_service("vllm", "", "vllm/vllm-openai:latest"), "error");
  EXPECT_EQ(with_service("vllm", "", "registry/vllm/vllm-cuda:0.1.0"), "error") << "the version is not that of vLLM";
}

TEST(RuleCases, AFrozenRegistryIsAWarningForLaterVersions) {
  const auto image = [](const std::string& name) {
    return found(server("image: '" + name + "'"), "image-registry-frozen");
  };
  EXPECT_EQ(image("k8s.gcr.io/prometheus-adapter/prometheus-adapter:v0.11.2"), "warning");
  EXPECT_EQ(image("k8s.gcr.io/prometheus-adapter/prometheus-adapter:v0.10.0"), "info");
  EXPECT_EQ(image("k8s.gcr.io/pause:3.10"), "warning");
  EXPECT_EQ(image("k8s.gcr.io/pause:3.9"), "info");
  EXPECT_EQ(image("k8s.gcr.io/cuda-vector-add:v0.1"), "info");
  EXPECT_EQ(image("k8s.gcr.io/pause"), "info");
  EXPECT_EQ(image("registry.k8s.io/pause:3.10"), "none");
}

TEST(RuleCases, AnEmptyValueBesideValueFromIsAccepted) {
  const auto variable = [](const std::string& value) {
    return found(server("image: 'a:1', env: [{name: A, value: " + value +
                        ", valueFrom: {fieldRef: {fieldPath: "
                        "metadata.name}}}]"),
                 "env-value-twice");
  };
  EXPECT_EQ(variable("b"), "error");
  EXPECT_EQ(variable("''"), "none");
}

TEST(RuleCases, ADutyCycleIsAnErrorForEnginesOfLanguageModels) {
  const auto scaled = [](const std::string& target, const std::string& image) {
    const std::string hpa =
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: {scaleTargetRef: {kind: "
        "Deployment, name: " +
        target +
        "}, maxReplicas: 4, metrics: [{type: Pods, pods: {metric: {name: DCGM_FI_DEV_GPU_UTIL}, target: {type: "
        "AverageValue, averageValue: 60}}}]}\n---\n";
    return found(hpa + (image.empty() ? "" : server("image: '" + image + "', ports: [{containerPort: 80}]")),
                 "gpu-util-scaling-signal");
  };
  EXPECT_EQ(scaled("llama-70b", "vllm/vllm-openai:v0.20.0"), "error");
  EXPECT_EQ(scaled("llama-70b", "nvcr.io/nim/nvidia/llama-embed:1"), "info") << "it computes no answers";
  EXPECT_EQ(scaled("llama-70b", "video-encoder:1"), "info");
  EXPECT_EQ(scaled("llama-8b", ""), "warning") << "only the name of the target shows a language model";
  EXPECT_EQ(scaled("encoder", ""), "info");
}

TEST(RuleCases, GpuMemoryIsAnErrorForEnginesThatReserveIt) {
  const auto scaled = [](const std::string& image) {
    std::string text = scaled_by("avg(DCGM_FI_DEV_FB_USED)") + "---\n";
    return found(text + (image.empty() ? "" : server("image: '" + image + "'", "", "vllm")),
                 "gpu-memory-scaling-signal");
  };
  EXPECT_EQ(scaled("vllm/vllm-openai:v0.20.0"), "error");
  EXPECT_EQ(scaled(""), "warning");
  EXPECT_EQ(scaled("ollama/ollama:0.9"), "info") << "it unloads models";
}

TEST(RuleCases, TheDutyCycleOfCloudMonitoringIsFound) {
  const auto metric = [](const std::string& name) {
    return found(
        hpa_with("type: Pods, pods: {metric: {name: '" + name + "'}, target: {type: AverageValue, averageValue: 60}}"),
        "gpu-util-scaling-signal");
  };
  EXPECT_EQ(metric("kubernetes.io|container|accelerator|duty_cycle"), "info");
  EXPECT_EQ(metric("prometheus.googleapis.com|DCGM_FI_DEV_GPU_UTIL|gauge"), "info");
  EXPECT_EQ(metric("prometheus.googleapis.com|vllm:num_requests_waiting|gauge"), "none");
}

TEST(RuleCases, AFileThatIsNotAppliedHasOnlyAdvice) {
  const std::string pool = "apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: a}\nspec: {}\n";
  EXPECT_EQ(found(pool, "karpenter-api-removed"), "error");
  EXPECT_EQ(found("# Kept for history.\n# Do NOT apply.\n---\n" + pool, "karpenter-api-removed"), "info");
  EXPECT_EQ(found("# Do not apply this together\n# with b.yaml.\n" + pool, "karpenter-api-removed"), "error");
  EXPECT_EQ(found("# Do not apply. It was used together with b.yaml.\n" + pool, "karpenter-api-removed"), "info");
  EXPECT_EQ(found(pool + "# do not apply\n", "karpenter-api-removed"), "error") << "the comment is not at the head";
}

std::string service(const std::string& ports, const std::string& more = "") {
  return "---\napiVersion: v1\nkind: Service\nmetadata: {name: llama-70b}\nspec: {" + more +
         "selector: {a: b}, ports: [" + ports + "]}\n";
}

TEST(RuleCases, AnEngineOnLocalhostHasNoClients) {
  const std::string sglang = "image: lmsysorg/sglang, command: [python3, -m, sglang.launch_server, --model-path, m";
  const auto engine = [](const std::string& container, const std::string& more = "", const std::string& spec = "") {
    return found(server(container, spec) + more, "engine-binds-localhost");
  };
  const std::string probe = ", readinessProbe: {httpGet: {path: /health, port: 30000}}";
  EXPECT_EQ(engine(sglang + "]" + probe), "error");
  EXPECT_EQ(engine(sglang + ", --host, 0.0.0.0]" + probe), "none");
  EXPECT_EQ(engine(sglang + ", --port, '8000']" + probe), "none") << "another process may listen on the probed port";
  EXPECT_EQ(engine(sglang + "]"), "none") << "nothing of the input connects";
  EXPECT_EQ(engine(sglang + "]", service("{port: 80, targetPort: 30000}")), "error");
  EXPECT_EQ(engine(sglang + "]", service("{port: 80, targetPort: 8080}")), "none");
  EXPECT_EQ(engine(sglang + "], readinessProbe: {exec: {command: [curl, 'localhost:30000']}}"), "none");
  EXPECT_EQ(engine(sglang + "], readinessProbe: {tcpSocket: {host: 127.0.0.1, port: 30000}}"), "none");
  EXPECT_EQ(engine(sglang + ", --config, a.yaml]" + probe), "none") << "the file may state a host";
  EXPECT_EQ(engine(sglang + ", $(ARGS)]" + probe), "none");
  const std::string vllm = "image: vllm/vllm-openai, args: [--model, m";
  EXPECT_EQ(engine(vllm + "]", service("{port: 8000}")), "none");
  EXPECT_EQ(engine(vllm + ", --host, localhost]", service("{port: 8000}")), "error");
  std::string in_mesh = server(sglang + "]" + probe);
  in_mesh.insert(in_mesh.find("{a: b}}, spec") + 1, "sidecar.istio.io/inject: 'true', ");
  EXPECT_EQ(found(in_mesh, "engine-binds-localhost"), "none");
}

TEST(RuleCases, AServiceTargetsThePortOfTheEngine) {
  const std::string vllm = "image: vllm/vllm-openai, ports: [{name: metrics, containerPort: 8080}], args: [--model, m";
  const auto ports = [](const std::string& container, const std::string& objects, const std::string& spec = "") {
    return found(server(container, spec) + objects, "service-port-not-served");
  };
  EXPECT_EQ(ports(vllm + "]", service("{port: 8000}")), "none");
  EXPECT_EQ(ports(vllm + "]", service("{port: 8080}")), "error");
  EXPECT_EQ(ports(vllm + "]", service("{port: 80, targetPort: metrics}")), "error");
  EXPECT_EQ(ports(vllm + "]", service("{name: a, port: 8000}, {name: b, port: 8080}")), "warning");
  EXPECT_EQ(ports(vllm + ", --port, '8080']", service("{port: 8080}")), "none");
  EXPECT_EQ(ports(vllm + ", --port, $(PORT)]", service("{port: 8080}")), "none");
  EXPECT_EQ(ports(vllm + "]", service("{port: 8080}", "clusterIP: None, ")), "none") << "clients choose the port";
  EXPECT_EQ(ports(vllm + "]", service("{port: 80, targetPort: other}")), "none") << "another defect";
  EXPECT_EQ(ports(vllm + ", --kv-transfer-config, x]", service("{port: 8080}")), "none");
  const std::string sidecar = "initContainers: [{name: proxy, image: envoy, restartPolicy: Always}], ";
  EXPECT_EQ(ports(vllm + "]", service("{port: 8080}"), sidecar), "none") << "the sidecar may listen";
  const auto monitor = [](const std::string& port) {
    return "---\napiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: llama-70b}\nspec: {selector: "
           "{matchLabels: {a: b}}, podMetricsEndpoints: [{port: " +
           port + "}]}\n";
  };
  EXPECT_EQ(ports(vllm + "]", monitor("metrics")), "warning");
  EXPECT_EQ(ports(vllm + ", --port, '8080']", monitor("metrics")), "none");
  const auto annotated = [&](const std::string& port) {
    std::string text = server(vllm + "]");
    text.insert(text.find("labels: {a: b}}, spec"),
                "annotations: {prometheus.io/scrape: 'true', prometheus.io/port: '" + port + "'}, ");
    return found(text, "service-port-not-served");
  };
  EXPECT_EQ(annotated("8080"), "warning");
  EXPECT_EQ(annotated("8000"), "none");
}

TEST(RuleCases, RayServeHasNewNamesForItsLimits) {
  const auto serve = [](const std::string& keys, const std::string& version, const std::string& image = "a:1") {
    return found(
        "apiVersion: ray.io/v1\nkind: RayService\nmetadata: {name: a}\nspec:\n  serveConfigV2: |\n    applications:\n"
        "      - deployments: [{name: a, " +
            keys + "}]\n  rayClusterConfig: {" + version +
            "headGroupSpec: {template: {spec: {containers: [{name: a, image: '" + image + "'}]}}}}\n",
        "ray-serve-key-removed");
  };
  EXPECT_EQ(serve("max_concurrent_queries: 9", "rayVersion: 2.33.0, "), "warning");
  EXPECT_EQ(serve("max_concurrent_queries: 9", "rayVersion: 2.32.0, "), "none");
  EXPECT_EQ(serve("max_concurrent_queries: 9", ""), "info") << "the version is unknown";
  EXPECT_EQ(serve("max_concurrent_queries: 9", "", "rayproject/ray-ml:2.33.0.914af0-py311"), "warning");
  EXPECT_EQ(serve("max_concurrent_queries: 9", "rayVersion: 2.40.0, ", "rayproject/ray:2.9.0-py310"), "none");
  EXPECT_EQ(serve("max_ongoing_requests: 9", "rayVersion: 2.33.0, "), "none");
  EXPECT_EQ(serve("max_ongoing_requests: 9, max_concurrent_queries: 9", "rayVersion: 2.33.0, "), "none");
  EXPECT_EQ(serve("autoscaling_config: {target_num_ongoing_requests_per_replica: 1}", "rayVersion: '2.40.0', "),
            "warning");
  EXPECT_EQ(serve("autoscaling_config: {target_ongoing_requests: 1}", "rayVersion: '2.40.0', "), "none");
}

TEST(RuleCases, AResourceMetricOfGpusIsOneFinding) {
  const auto messages = [](const std::string& resources) {
    const std::string yaml =
        server("image: 'vllm/vllm-openai:v0.20.0'") +
        "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: llama-70b}\nspec: "
        "{scaleTargetRef: {kind: Deployment, name: llama-70b}, minReplicas: 2, maxReplicas: 4, metrics: [" +
        resources + "]}\n";
    Options options;
    const Report report = lint_texts({{"a.yaml", yaml}}, options);
    std::vector<std::string> found;
    for (const Finding& finding : report.findings) {
      if (finding.object->kind == "HorizontalPodAutoscaler") found.push_back(finding.message);
    }
    return found;
  };
  const auto metric = [](const std::string& name) {
    return "{type: Resource, resource: {name: " + name + ", target: {type: Utilization, averageUtilization: 70}}}";
  };
  using Messages = std::vector<std::string>;
  for (const char* name : {"nvidia.com/gpu", "amd.com/gpu", "nvidia.com/mig-1g.10gb"}) {
    EXPECT_EQ(messages(metric(name)),
              Messages{std::string("the metrics server has only cpu and memory, never ") + name});
  }
  const std::string average = "{type: Resource, resource: {name: cpu, target: {type: AverageValue, averageValue: 1}}}";
  EXPECT_EQ(messages(metric("nvidia.com/gpu") + ", " + average),
            (Messages{"the metrics server has only cpu and memory, never nvidia.com/gpu",
                      "Deployment llama-70b runs on GPUs but is scaled only by CPU (nvidia.com/gpu has no resource "
                      "metric)"}));
}

}  // namespace
}  // namespace capstan::lint::rule_cases_test
