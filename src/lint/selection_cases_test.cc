#include "lint/testing/cases.h"

// Tests of the rules that compare names and labels which must agree: selectors, ports of probes, targets of scalers.
namespace capstan::lint::selection_cases_test {
namespace {

using namespace testing_cases;

std::string workload(const std::string& kind, const std::string& selector, const std::string& labels,
                     const std::string& container = "ports: [{containerPort: 8000}]",
                     const std::string& name = "chat") {
  return "apiVersion: apps/v1\nkind: " + kind + "\nmetadata: {name: " + name + "}\nspec:\n  selector: {" + selector +
         "}\n  template: {metadata: {labels: {" + labels + "}}, spec: {containers: [{name: a, image: 'a:1', " +
         container + "}]}}\n---\n";
}

std::string deployment(const std::string& labels, const std::string& name = "chat") {
  return workload("Deployment", "matchLabels: {" + labels + "}", labels, "ports: [{containerPort: 8000}]", name);
}

TEST(SelectionCases, TheApiServerRefusesASelectorThatDoesNotMatchItsTemplate) {
  struct Row {
    const char* selector;
    const char* labels;
    std::string_view severity;
  };
  const Row rows[] = {
      {"matchLabels: {app: chat}", "app: chat, a: b", "none"},
      {"matchLabels: {app: chat}", "app: vllm", "error"},
      {"matchLabels: {app: chat}", "", "error"},
      {"matchLabels: {app: chat, a: b}", "app: chat", "error"},
      {"matchLabels: {app: '${APP}'}", "app: vllm", "none"},
      {"matchLabels: {app: chat}", "app: '{{ app }}'", "none"},
      {"matchLabels: {version: 1}", "version: '1'", "none"},
      {"matchExpressions: [{key: app, operator: In, values: [chat, vllm]}]", "app: vllm", "none"},
      {"matchExpressions: [{key: app, operator: In, values: [chat]}]", "app: vllm", "error"},
      {"matchExpressions: [{key: app, operator: In, values: [chat]}]", "a: b", "error"},
      {"matchExpressions: [{key: app, operator: NotIn, values: [chat]}]", "app: chat", "error"},
      {"matchExpressions: [{key: app, operator: NotIn, values: [chat]}]", "a: b", "none"},
      {"matchExpressions: [{key: app, operator: Exists}]", "app: a", "none"},
      {"matchExpressions: [{key: app, operator: Exists}]", "a: b", "error"},
      {"matchExpressions: [{key: app, operator: DoesNotExist}]", "app: b", "error"},
      {"matchExpressions: [{key: app, operator: Later}]", "app: b", "none"},
      {"", "app: b", "none"},
  };
  for (const Row& row : rows) {
    for (const char* kind : {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"}) {
      EXPECT_EQ(found(workload(kind, row.selector, row.labels), "selector-labels-mismatch"), row.severity)
          << kind << " " << row.selector << " and " << row.labels;
    }
  }
}

TEST(SelectionCases, ASelectorWithoutATemplateIsAPatch) {
  EXPECT_EQ(found("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 2, selector: "
                  "{matchLabels: {app: a}}}\n",
                  "selector-labels-mismatch"),
            "none");
  const std::string shortened = workload("Deployment", "matchLabels: {app: a, b: c}", "app: a");
  EXPECT_EQ(found(Texts{{"a/README.md", "```yaml\n" + shortened + "```\n"}}, "selector-labels-mismatch"), "info")
      << "an excerpt may leave out a label";
}

TEST(SelectionCases, OneMismatchIsOneFinding) {
  Options options;
  options.advice = true;
  const Report report = lint_texts({{"a.yaml", workload("Deployment", "matchLabels: {app: a, b: c}", "x: y",
                                                        "resources: {limits: "
                                                        "{nvidia.com/gpu: 1}}",
                                                        "gpu-balloon")}},
                                   options);
  std::vector<std::string_view> errors;
  for (const Finding& finding : report.findings) {
    if (finding.severity == Severity::error) errors.push_back(finding.rule->id);
  }
  EXPECT_EQ(errors, std::vector<std::string_view>{"selector-labels-mismatch"});
}

TEST(SelectionCases, AProbeNamesAPortOfItsOwnContainer) {
  const std::string ports = "ports: [{name: http, containerPort: 8000}, {name: metrics, containerPort: 9000}], ";
  struct Row {
    std::string container;
    std::string_view severity;
  };
  const Row rows[] = {
      {ports + "readinessProbe: {httpGet: {port: http}}", "none"},
      {ports + "readinessProbe: {httpGet: {port: 8001}}", "none"},
      {ports + "readinessProbe: {httpGet: {port: '8001'}}", "none"},
      {ports + "readinessProbe: {httpGet: {port: api}}", "error"},
      {ports + "startupProbe: {tcpSocket: {port: api}}", "error"},
      {ports + "livenessProbe: {httpGet: {port: api}}", "warning"},
      {ports + "livenessProbe: {grpc: {port: 9000}}", "none"},
      {ports + "livenessProbe: {exec: {command: [api]}}", "none"},
      {"readinessProbe: {httpGet: {port: http}}", "error"},
      {"readinessProbe: {httpGet: {port: '${PORT}'}}", "none"},
      {"ports: '${PORTS}', readinessProbe: {httpGet: {port: http}}", "none"},
      {"ports: [{name: '${NAME}', containerPort: 1}], readinessProbe: {httpGet: {port: http}}", "none"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(found(pod("containers: [{name: a, image: 'a:1', " + row.container + "}]"), "probe-port-unknown"),
              row.severity)
        << row.container;
  }
}

TEST(SelectionCases, AProbeDoesNotReachThePortsOfOtherContainers) {
  const auto probed = [](const std::string& more) {
    return found(pod("containers: [{name: proxy, image: 'p:1', ports: [{name: http, containerPort: 80}]}, {name: a, "
                     "image: 'a:1', readinessProbe: {httpGet: {port: http}}" +
                     more + "}]"),
                 "probe-port-unknown");
  };
  EXPECT_EQ(probed(""), "error");
  EXPECT_EQ(probed(", ports: [{name: http, containerPort: 8000}]"), "none");
  EXPECT_EQ(found("apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: a}\nspec: "
                  "{predictor: {containers: [{name: a, image: 'a:1', readinessProbe: {httpGet: {port: http}}}]}}\n",
                  "probe-port-unknown"),
            "info")
      << "the operator may add the port";
  EXPECT_EQ(found("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {spec: {containers: "
                  "[{name: a, readinessProbe: {httpGet: {port: http}}}]}}}\n",
                  "probe-port-unknown"),
            "none")
      << "a patch is merged with the ports";
}

TEST(SelectionCases, ProbesOfOneContainerWithTheSameUnknownPortAreOneFinding) {
  Options options;
  const Report report = lint_texts(
      {{"a.yaml",
        pod("containers: [{name: a, image: 'a:1', ports: [{containerPort: 8000}], readinessProbe: {httpGet: "
            "{port: http}}, livenessProbe: {httpGet: {port: http}}, startupProbe: {tcpSocket: {port: api}}}]")}},
      options);
  std::vector<std::string> messages;
  for (const Finding& finding : report.findings) {
    if (finding.rule->id == "probe-port-unknown") messages.push_back(finding.message);
  }
  const std::vector<std::string> expected = {
      "container a has no port with the name http for its readiness and liveness probes: the pod never becomes ready",
      "container a has no port with the name api for its startup probe: the container never counts as started, and the "
      "pod never becomes ready"};
  EXPECT_EQ(messages, expected);
}

std::string service(const std::string& selector, const std::string& name = "chat", const std::string& port = "8000") {
  return "apiVersion: v1\nkind: Service\nmetadata: {name: " + name + "}\nspec: {selector: {" + selector +
         "}, ports: [{port: " + port + "}]}\n---\n";
}

TEST(SelectionCases, AServiceThatSelectsNoPodNeedsEvidenceOfTheWorkloadThatIsMeant) {
  struct Row {
    std::string yaml;
    std::string_view severity;
  };
  const std::string other = deployment("app: embed", "embed");
  const Row rows[] = {
      {service("app: chat") + deployment("app: chat"), "none"},
      {service("app: infernece") + deployment("app: inference", "llm") + other, "warning"},
      {service("app: chat, model: llama-8b") + deployment("app: chat, model: llama8b") + other, "warning"},
      {service("app: chat-api") + deployment("app: chat"), "warning"},
      {service("app: chat-api", "chat-svc") + deployment("app: chat", "chat-server"), "warning"},
      {service("app: chat, tier: web") + deployment("app: chat"), "warning"},
      {service("app: redis", "redis") + deployment("app: chat"), "none"},
      {service("app: redis", "redis", "6379") + deployment("app: chat"), "none"},
      {service("app: chat-api", "chat", "9000") + deployment("app: chat"), "none"},
      {service("app: chat-api") + deployment("app: chat") + other, "none"},
      {service("app: chat, role: decode", "decode") + deployment("app: chat, role: prefill", "prefill"), "info"},
      {service("app: chat, a: b, c: d", "x") + deployment("app: chat", "y"), "none"},
      {service("app: chat, leaderworkerset.sigs.k8s.io/worker-index: '0'") + deployment("app: chat"), "none"},
      {service("app: chat, role: leader") + workload("StatefulSet", "matchLabels: {app: chat}", "app: chat"), "none"},
      {service("app: '${APP}'") + deployment("app: chat"), "none"},
      {service("") + deployment("app: chat"), "none"},
      {service("app: chat") + workload("Deployment", "matchLabels: {app: chat}", "app: vllm"), "none"},
      {service("app: llama-8b", "llama-8b") + deployment("app: llama-70b", "llama-70b"), "none"},
  };
  for (const Row& row : rows) EXPECT_EQ(found(row.yaml, "service-selects-no-pod"), row.severity) << row.yaml;
}

TEST(SelectionCases, AServiceMaySelectThePodsOfAnotherFile) {
  const std::string near = service("app: chat-api") + deployment("app: chat");
  const auto with = [&](const std::string& path, const std::string& more) {
    return found(Texts{{"a/a.yaml", near}, {path, more}}, "service-selects-no-pod");
  };
  EXPECT_EQ(with("a/b.yaml", deployment("app: x", "x")), "warning");
  EXPECT_EQ(with("a/b.yaml", deployment("app: chat-api", "x")), "none");
  EXPECT_EQ(with("b/b.yaml", deployment("app: chat-api", "x")), "none");
  EXPECT_EQ(with("a/b.yaml",
                 "apiVersion: example.com/v1\nkind: Engine\nmetadata: {name: e}\nspec: {template: "
                 "{metadata: {labels: {app: chat-api}}, spec: {containers: [{name: a, image: 'a:1'}]}}}\n"),
            "none")
      << "the pods of an unknown kind";
}

std::string scaler(const std::string& name, const std::string& kind = "Deployment", const std::string& own = "h") {
  return "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: " + own +
         "}\nspec: {scaleTargetRef: {apiVersion: apps/v1, kind: " + kind + ", name: " + name +
         "}, maxReplicas: 4}\n---\n";
}

TEST(SelectionCases, AMisspeltTargetInTheFileIsFoundWithoutTheWholeCluster) {
  struct Row {
    std::string yaml;
    std::string_view severity;
  };
  const std::string stateful = workload("StatefulSet", "matchLabels: {a: b}", "a: b");
  const Row rows[] = {
      {scaler("chat") + deployment("app: chat"), "none"},
      {scaler("infernece") + deployment("app: a", "inference"), "error"},
      {scaler("vllm-lama") + deployment("app: a", "vllm-llama") + deployment("app: b", "embed"), "error"},
      {scaler("vllm") + deployment("app: a", "vllm-deployment"), "error"},
      {scaler("vllm") + deployment("app: a", "vllm-deployment") + deployment("app: b", "embed"), "none"},
      {scaler("llama-8b") + deployment("app: a", "llama-70b"), "none"},
      {scaler("chat-a") + deployment("app: a", "chat-b"), "none"},
      {scaler("redis") + deployment("app: a", "chat"), "none"},
      {scaler("'${NAME}'") + deployment("app: a", "chat"), "none"},
      {scaler("chat") + stateful, "error"},
      {scaler("chat") + stateful + scaler("chat", "StatefulSet", "other"), "none"},
      {scaler("infernece") + deployment("app: a", "inference") + scaler("inference", "Deployment", "i"), "none"},
  };
  for (const Row& row : rows) EXPECT_EQ(found(row.yaml, "scale-target-missing"), row.severity) << row.yaml;
  const Texts elsewhere = {{"a/a.yaml", scaler("infernece") + deployment("app: a", "inference")},
                           {"b/b.yaml", deployment("app: b", "infernece")}};
  EXPECT_EQ(found(elsewhere, "scale-target-missing"), "none");
  const Texts two_files = {{"a/a.yaml", scaler("infernece")}, {"a/b.yaml", deployment("app: a", "inference")}};
  EXPECT_EQ(found(two_files, "scale-target-missing"), "none") << "the target may be deployed by another tool";
}

}  // namespace
}  // namespace capstan::lint::selection_cases_test
