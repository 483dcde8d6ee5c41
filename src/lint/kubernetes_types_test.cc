#include "lint/kubernetes_types.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lint/fix.h"
#include "lint/run.h"

namespace capstan::lint {
namespace {

using Messages = std::vector<std::string>;

Report lint_all(std::string_view yaml, std::uint32_t kube_minor = KubeVersion().minor) {
  Options options;
  options.advice = true;
  options.settings.kube.minor = kube_minor;
  return lint_texts({{"a.yaml", std::string(yaml)}}, options);
}

/// Returns the messages of the errors of a rule.
Messages errors_of(std::string_view rule, std::string_view yaml, std::uint32_t kube_minor = KubeVersion().minor) {
  Messages messages;
  for (const Finding& finding : lint_all(yaml, kube_minor).findings) {
    EXPECT_NE(finding.rule->id, "yaml-syntax") << yaml;
    if (finding.rule->id == rule && finding.severity == Severity::error) messages.push_back(finding.message);
  }
  return messages;
}

std::string fixed(std::string_view yaml, FixSafety up_to) {
  const Report report = lint_all(yaml);
  for (const FixedFile& file : apply_fixes(report, up_to)) return file.text;
  return std::string(yaml);
}

std::string deployment(std::string_view container, std::string_view pod = "", std::string_view spec = "") {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  " + std::string(spec) +
         "\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n    spec:\n      " +
         std::string(pod) + "\n      containers: [{name: a, image: 'a:1', " + std::string(container) + "}]\n";
}

std::string trigger(std::string_view metadata) {
  return "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec:\n  scaleTargetRef: {name: a}\n"
         "  minReplicaCount: 1\n  maxReplicaCount: 4\n  triggers:\n    - type: prometheus\n      metadata: "
         "{serverAddress: 'http://p:9090', query: 'sum(x)', " +
         std::string(metadata) + "}\n";
}

TEST(KubernetesTypes, NumbersAndBooleansAreReadAsKubernetesReadsYaml) {
  const auto reads = [](std::string_view text) {
    const std::string yaml = "a: " + std::string(text) + "\n";
    const manifest::Documents documents = manifest::Documents::parse(yaml);
    return is_number_or_boolean(documents.all().front().root["a"]);
  };
  for (const std::string_view text :
       {"5",    "-5",   "+5",   "0.5",   ".5",   "5.",   "1e3", "1E-3", "010", "08",
        "0x10", "0o17", "0b11", "1_000", "true", "True", "yes", "No",   "off", "99999999999999999999"}) {
    EXPECT_TRUE(reads(text)) << text;
  }
  for (const std::string_view text : {"\"5\"", "'true'", "5m", "10Gi", "1.2.3", "v1", "2024-01-01", "1:30",
                                      "12e4567890", "e3", "_1", "0x", "-", "truely", "y", "n", "null", "~", "|\n  5"}) {
    EXPECT_FALSE(reads(text)) << text;
  }
}

TEST(KubernetesTypes, ANumberWithoutQuotesIsNoTextOfATrigger) {
  EXPECT_EQ(errors_of("wrong-type", trigger("threshold: '5'")), Messages{});
  EXPECT_EQ(errors_of("wrong-type", trigger("threshold: 5m")), Messages{}) << "a number with a unit is a text";
  EXPECT_EQ(errors_of("wrong-type", trigger("threshold: ")), Messages{}) << "null is an absent value";
  EXPECT_EQ(errors_of("wrong-type", trigger("threshold: !!str 5")), Messages{});
  EXPECT_EQ(errors_of("wrong-type", trigger("threshold: 5, activationThreshold: true")),
            (Messages{"spec.triggers[].metadata.threshold is 5 without quotes, expected a text: write \"5\"",
                      "spec.triggers[].metadata.activationThreshold is true without quotes, expected a text: write "
                      "\"true\""}));
}

TEST(KubernetesTypes, TheFixOfATextKeepsItsLetters) {
  for (const std::string text : {"5", "1e3", "0x10", "010", "true", "yes", "0.50"}) {
    EXPECT_EQ(fixed(trigger("threshold: " + text), FixSafety::safe), trigger("threshold: \"" + text + "\"")) << text;
  }
  EXPECT_EQ(fixed(deployment("args: [--port, 8000]"), FixSafety::safe), deployment("args: [--port, \"8000\"]"));
}

TEST(KubernetesTypes, AllTextsOfAWorkloadAreChecked) {
  struct Row {
    std::string_view place, container, pod;
  };
  const Row rows[] = {
      {"spec.template.spec.containers[0].env[0].value", "env: [{name: A, value: 5}]", ""},
      {"spec.template.spec.containers[0].args[1]", "args: [--port, 8000]", ""},
      {"spec.template.spec.nodeSelector.gpu", "tty: true", "nodeSelector: {gpu: true}"},
      {"spec.template.spec.tolerations[0].value", "tty: true", "tolerations: [{key: a, value: true}]"},
  };
  for (const Row& row : rows) {
    const Messages found = errors_of("wrong-type", deployment(row.container, row.pod));
    ASSERT_EQ(found.size(), 1u) << row.place;
    EXPECT_TRUE(found[0].starts_with(row.place)) << found[0];
  }
  for (const std::string_view yaml :
       {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {port: 8000}\n",
        "apiVersion: v1\nkind: Service\nmetadata: {name: a, labels: {version: 2}}\nspec: {ports: [{port: 80}]}\n",
        "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {selector: {version: 2}, ports: [{port: 80}]}\n",
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec: {template: {spec: {requirements: "
        "[{key: karpenter.k8s.aws/instance-gpu-count, operator: In, values: [8]}]}}}\n",
        "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: a}\nspec:\n  "
        "leaderWorkerTemplate:\n    size: 2\n    workerTemplate:\n      spec:\n        containers: [{name: a, image: "
        "'a:1', env: [{name: A, value: 1}]}]\n"}) {
    EXPECT_EQ(errors_of("wrong-type", yaml).size(), 1u) << yaml;
  }
}

TEST(KubernetesTypes, NumbersAndListsOfAWorkloadAreChecked) {
  struct Row {
    std::string_view container, message;
  };
  const Row rows[] = {
      {"ports: [{containerPort: '8000'}]",
       "spec.template.spec.containers[0].ports[0].containerPort is \"8000\", expected a whole number without quotes"},
      {"tty: 'true'", "spec.template.spec.containers[0].tty is \"true\", expected true or false without quotes"},
      {"env: {A: b}", "spec.template.spec.containers[0].env is a mapping, expected a list"},
      {"resources: [a]", "spec.template.spec.containers[0].resources is a list, expected a mapping"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(errors_of("wrong-type", deployment(row.container)), Messages{std::string(row.message)});
  }
  for (const std::string_view right : {"ports: [{containerPort: 8000}]", "ports: [{containerPort: $PORT}]", "tty: yes",
                                       "env: ", "resources: {limits: {cpu: 1, memory: 1Gi}}",
                                       "livenessProbe: {httpGet: {port: http}, periodSeconds: 1e1}"}) {
    EXPECT_EQ(errors_of("wrong-type", deployment(right)), Messages{}) << right;
  }
}

TEST(KubernetesTypes, AnUnknownFieldIsNamedWithWhatWasMeant) {
  constexpr std::string_view kRule = "kubernetes-field-unknown";
  const std::string none = "tty: true";
  EXPECT_EQ(errors_of(kRule, deployment(none, "", "replica: 2")),
            Messages{"Kubernetes has no field spec.replica; did you mean replicas?"});
  EXPECT_EQ(errors_of(kRule, deployment("resource: {limits: {cpu: 1}}")),
            Messages{"Kubernetes has no field spec.template.spec.containers[0].resource; did you mean resources?"});
  EXPECT_EQ(errors_of(kRule, deployment("resources: {limit: {cpu: 1}}")),
            Messages{"Kubernetes has no field spec.template.spec.containers[0].resources.limit; did you mean limits?"});
  EXPECT_EQ(errors_of(kRule, deployment("tolerations: []")),
            Messages{"Kubernetes has no field spec.template.spec.containers[0].tolerations; tolerations belongs in the "
                     "spec of the pod"});
  EXPECT_EQ(errors_of(kRule, deployment("livenessProbe: {httpget: {port: 1}}")),
            Messages{"Kubernetes has no field spec.template.spec.containers[0].livenessProbe.httpget; did you mean "
                     "httpGet?"});
  EXPECT_EQ(errors_of(kRule, deployment(none, "somethingElseAltogether: 1")),
            Messages{"Kubernetes has no field spec.template.spec.somethingElseAltogether"});
  EXPECT_EQ(errors_of(kRule, deployment(none, "somethingElseAltogether: 1"), kNewestKnownMinor + 1), Messages{})
      << "a later version may have it";
}

TEST(KubernetesTypes, AKnownFieldOrAnotherApiIsNotReported) {
  constexpr std::string_view kRule = "kubernetes-field-unknown";
  for (const std::string& yaml :
       {deployment("resources: {claims: [{name: a, request: b}]}", "resources: {limits: {cpu: 1}}", "paused: false"),
        deployment("lifecycle: {preStop: {sleep: {seconds: 5}}}", "volumes: [{name: a, image: {reference: b}}]"),
        deployment("$patch: replace"), deployment("'${FIELD}': a"),
        std::string("apiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: a}\nspec: {replica: 2, template: "
                    "{spec: {containers: [{name: a, image: b}]}}}\n"),
        std::string("apiVersion: apps.example.com/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replica: 2}\n"),
        std::string(
            "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: a}\nspec: "
            "{replica: 2, leaderWorkerTemplate: {size: 1, workerTemplate: {spec: {containers: [{name: a, image: "
            "b}]}}}}\n")}) {
    EXPECT_EQ(errors_of(kRule, yaml), Messages{}) << yaml;
  }
}

TEST(KubernetesTypes, ARenamedFieldIsAnUnsafeFix) {
  const std::string wrong = deployment("resource: {limits: {cpu: 1}}");
  EXPECT_EQ(fixed(wrong, FixSafety::safe), wrong);
  EXPECT_EQ(fixed(wrong, FixSafety::unsafe), deployment("resources: {limits: {cpu: 1}}"));
  const std::string both = deployment("resource: {limits: {cpu: 1}}, resources: {limits: {cpu: 1}}");
  EXPECT_EQ(fixed(both, FixSafety::unsafe), both) << "the right field is there already";
}

TEST(KubernetesTypes, AWrongGroupIsNamedAndTheObjectIsStillChecked) {
  std::string yaml = deployment("resource: {limits: {cpu: 1}}");
  yaml.replace(yaml.find("apps/v1"), 7, "app/v1");
  EXPECT_EQ(errors_of("api-version-unknown", yaml), Messages{"no kind Deployment in group app, expected apps/v1"});
  EXPECT_EQ(errors_of("kubernetes-field-unknown", yaml).size(), 1u);
  yaml.replace(yaml.find("app/v1"), 6, "apps/v2");
  EXPECT_EQ(errors_of("api-version-unknown", yaml), Messages{"no version v2 of Deployment in apps, expected apps/v1"});
  EXPECT_EQ(errors_of("api-version-unknown", deployment("tty: true")), Messages{});
}

TEST(KubernetesTypes, PodTemplatesOfCustomResourcesHaveKubernetesFieldsOnly) {
  const auto pod = [](const std::string& field) {
    return "{metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: 'a:1', " + field + "}]}}";
  };
  const std::string wrong = pod("resource: {limits: {nvidia.com/gpu: 1}}");
  const std::string right = pod("resources: {limits: {nvidia.com/gpu: 1}}");
  const auto faults = [](const std::string& head, const std::string& spec) {
    return errors_of("kubernetes-field-unknown", head + "\nmetadata: {name: a}\nspec: " + spec + "\n");
  };
  const std::string lws = "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet";
  EXPECT_EQ(
      faults(lws, "{leaderWorkerTemplate: {size: 2, leaderTemplate: " + right + ", workerTemplate: " + wrong + "}}"),
      Messages{"Kubernetes has no field spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].resource; did "
               "you mean resources?"});
  EXPECT_EQ(faults(lws, "{leaderWorkerTemplate: {size: 2, workerTemplate: " + right + "}}"), Messages{});
  const std::string ray = "apiVersion: ray.io/v1\nkind: RayCluster";
  EXPECT_EQ(faults(ray, "{headGroupSpec: {template: " + right +
                            "}, workerGroupSpecs: [{groupName: a, template: " + wrong + "}]}")
                .size(),
            1u);
  const std::string dynamo = "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment";
  EXPECT_EQ(faults(dynamo,
                   "{services: {a: {replicas: 2, dynamoNamespace: a, extraPodSpec: {mainContainer: {image: 'a:1'}}}}}"),
            Messages{})
      << "a service of Dynamo has fields of its own";
  const std::string kserve = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService";
  EXPECT_EQ(faults(kserve, "{predictor: {minReplicas: 1, containers: [{name: a, image: 'a:1'}]}}"), Messages{})
      << "a predictor of KServe has fields of its own";
}

}  // namespace
}  // namespace capstan::lint
