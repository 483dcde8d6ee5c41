#include <gtest/gtest.h>

#include <string>

#include "lint/testing/cases.h"

// Tests of the rules about references between objects: targets, ports, fields and devices.
namespace capstan::lint::reference_cases_test {
namespace {

using namespace testing_cases;

std::string named(const std::string& kind, const std::string& space, const std::string& rest) {
  const std::string api = kind == "Deployment" ? "apps/v1" : "autoscaling/v2";
  return "apiVersion: " + api + "\nkind: " + kind + "\nmetadata: {name: llama" +
         (space.empty() ? "" : ", namespace: " + space) + "}\nspec: {" + rest + "}\n---\n";
}

std::string hpa_in(const std::string& space) {
  return named("HorizontalPodAutoscaler", space, "scaleTargetRef: {kind: Deployment, name: llama}, maxReplicas: 4");
}

std::string deployment_in(const std::string& space) {
  return named("Deployment", space, "selector: {matchLabels: {a: b}}, template: {spec: {containers: [{name: a}]}}");
}

TEST(ReferenceCases, ATargetInAnotherNamespaceIsNotFound) {
  const auto target = [](const std::string& yaml) { return found(yaml, "scale-target-other-namespace"); };
  EXPECT_EQ(target(hpa_in("a") + deployment_in("b")), "warning");
  EXPECT_EQ(target(hpa_in("a") + deployment_in("a")), "none");
  EXPECT_EQ(target(hpa_in("a") + deployment_in("")), "none") << "it may be applied into the same namespace";
  EXPECT_EQ(target(hpa_in("") + deployment_in("b")), "none");
  EXPECT_EQ(target(hpa_in("a") + deployment_in("b") + deployment_in("a")), "none");
  EXPECT_EQ(target(hpa_in("'${NS}'") + deployment_in("b")), "none");
  EXPECT_EQ(target(hpa_in("a")), "none");
  const Texts folder = {{"k/hpa.yaml", hpa_in("a")}, {"k/app.yaml", deployment_in("b")}};
  EXPECT_EQ(found(folder, "scale-target-other-namespace"), "warning");
  const Texts folders = {{"k/hpa.yaml", hpa_in("a")}, {"other/app.yaml", deployment_in("b")}};
  EXPECT_EQ(found(folders, "scale-target-other-namespace"), "none");
}

std::string monitor(const std::string& kind, const std::string& endpoint, const std::string& label = "llama") {
  return "apiVersion: monitoring.coreos.com/v1\nkind: " + kind +
         "\nmetadata: {name: m}\nspec: {selector: {matchLabels: {app: " + label + "}}, " +
         (kind == "PodMonitor" ? "podMetricsEndpoints" : "endpoints") + ": [{" + endpoint + "}]}\n---\n";
}

std::string service(const std::string& ports, const std::string& name = "llama") {
  return "apiVersion: v1\nkind: Service\nmetadata: {name: " + name +
         ", labels: {app: llama}}\nspec: {selector: {a: b}, "
         "ports: [" +
         ports + "]}\n---\n";
}

TEST(ReferenceCases, AMonitorNamesAPortOfItsService) {
  const auto port = [](const std::string& yaml) { return found(yaml, "monitor-port-missing"); };
  const std::string http = service("{name: http, port: 80}");
  EXPECT_EQ(port(monitor("ServiceMonitor", "port: metrics") + http), "warning");
  EXPECT_EQ(port(monitor("ServiceMonitor", "port: http") + http), "none");
  EXPECT_EQ(port(monitor("ServiceMonitor", "port: http") + service("{port: 80}")), "warning") << "it has no name";
  EXPECT_EQ(port(monitor("ServiceMonitor", "targetPort: 80") + http), "none");
  EXPECT_EQ(port(monitor("ServiceMonitor", "port: metrics", "other") + http), "none") << "it selects another Service";
  EXPECT_EQ(port(monitor("ServiceMonitor", "port: metrics") + http + service("{name: metrics, port: 9}", "b")), "none");
  EXPECT_EQ(port(monitor("ServiceMonitor", "port: '${PORT}'") + http), "none");
}

TEST(ReferenceCases, AMonitorNamesAPortOfItsPods) {
  const auto port = [](const std::string& endpoint, const std::string& ports) {
    const std::string pods =
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: llama}\nspec: {selector: {matchLabels: {app: llama}}, "
        "template: {metadata: {labels: {app: llama}}, spec: {containers: [{name: a, image: 'a:1', ports: [" +
        ports + "]}]}}}\n";
    return found(monitor("PodMonitor", endpoint) + pods, "monitor-port-missing");
  };
  EXPECT_EQ(port("port: metrics", "{name: http, containerPort: 80}"), "warning");
  EXPECT_EQ(port("port: http", "{name: http, containerPort: 80}"), "none");
  EXPECT_EQ(port("portNumber: 80", "{name: http, containerPort: 80}"), "none");
}

TEST(ReferenceCases, AFieldOfAPoolMustBeKnown) {
  const auto pool = [](const std::string& spec, const std::string& version = "v1") {
    return found(
        "apiVersion: karpenter.sh/" + version + "\nkind: NodePool\nmetadata: {name: a}\nspec: {" + spec + "}\n",
        "pool-field-unknown");
  };
  EXPECT_EQ(pool("requirements: []"), "error");
  EXPECT_EQ(pool("limit: {cpu: 4}"), "error");
  EXPECT_EQ(pool("weights: 4"), "error");
  EXPECT_EQ(pool("consolidationPolicy: WhenEmpty"), "error");
  EXPECT_EQ(pool("template: {spec: {kubelet: {maxPods: 4}}}"), "error");
  EXPECT_EQ(pool("template: {spec: {requirement: []}}"), "error");
  EXPECT_EQ(pool("weight: 4, limits: {cpu: 4}, template: {spec: {requirements: [], expireAfter: Never}}"), "none");
  EXPECT_EQ(pool("someFutureField: 1"), "none") << "a later version may have it";
  EXPECT_EQ(pool("template: {spec: {kubelet: {maxPods: 4}}}", "v1beta1"), "none");
  const auto node_class = [](const std::string& spec) {
    return found("apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec: {" + spec + "}\n",
                 "pool-field-unknown");
  };
  EXPECT_EQ(node_class("subnetSelector: {a: b}"), "error");
  EXPECT_EQ(node_class("blockDeviceMapping: []"), "error");
  EXPECT_EQ(node_class("kubelet: {maxPods: 4}, subnetSelectorTerms: [], role: r"), "none");
}

/// Returns the severity for vLLM with these arguments in a container with these fields and no GPU.
std::string_view without_gpu(const std::string& args, const std::string& container = "", const std::string& spec = "",
                             const std::string& image = "vllm/vllm-openai:v0.20.0") {
  return found(
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: llama}\nspec: {selector: {matchLabels: {a: b}}, "
      "template: {spec: {" +
          spec + "containers: [{name: a, image: '" + image + "', " + container + "args: [" + args + "]}]}}}\n",
      "engine-without-gpu");
}

TEST(ReferenceCases, AnEngineForGpusAsksForOne) {
  EXPECT_EQ(without_gpu("--model, m"), "info");
  EXPECT_EQ(without_gpu("--model, m, --gpu-memory-utilization, '0.9'"), "warning");
  EXPECT_EQ(without_gpu("--model, m, --tensor-parallel-size, '2'"), "warning");
  const std::string args = "--model, m, --tensor-parallel-size, '2'";
  EXPECT_EQ(without_gpu(args, "resources: {limits: {cpu: 4}}, "), "warning");
  EXPECT_EQ(without_gpu(args, "resources: {limits: {nvidia.com/gpu: 2}}, "), "none");
  EXPECT_EQ(without_gpu(args, "resources: {limits: {amd.com/gpu: 2}}, "), "none");
  EXPECT_EQ(without_gpu(args, "", "runtimeClassName: nvidia, "), "none") << "the runtime may give it all GPUs";
  EXPECT_EQ(without_gpu(args, "", "resourceClaims: [{name: g}], "), "none");
  EXPECT_EQ(without_gpu(args, "env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}], "), "none");
  EXPECT_EQ(without_gpu(args, "", "", "vllm/vllm-openai-cpu:v0.20.0"), "none");
  EXPECT_EQ(without_gpu(args + ", --device, cpu"), "none");
}

}  // namespace
}  // namespace capstan::lint::reference_cases_test
