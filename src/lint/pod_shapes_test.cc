#include "lint/pod_shapes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "lint/pods.h"
#include "lint/run.h"
#include "lint/value_path.h"

namespace capstan::lint::pod_shapes_test {
namespace {

struct Parsed {
  explicit Parsed(const std::string& yaml) : file("a.yaml", yaml) {
    file.documents = manifest::Documents::parse(file.text);
    for (const manifest::Document& document : file.documents.all()) find_objects(file, document.root, objects);
  }
  File file;
  std::vector<Object> objects;
};

const std::string kContainer = "{name: a, image: 'a:1', resources: {limits: {nvidia.com/gpu: 2}}}";
const std::string kPod = "{containers: [" + kContainer + "]}";
const std::string kTemplate = "{spec: " + kPod + "}";

std::string object(const std::string& api_version, const std::string& kind, const std::string& spec) {
  return "apiVersion: " + api_version + "\nkind: " + kind + "\nmetadata: {name: a}\nspec: " + spec + "\n";
}

TEST(PodShapes, FindsThePodsOfEveryKnownKind) {
  struct Row {
    std::string api, kind, spec;
    std::size_t pods;
    PodMaker maker;
  };
  const std::string templated = "{template: " + kTemplate + "}";
  const std::string ray = "{headGroupSpec: {template: " + kTemplate + "}, workerGroupSpecs: [{template: " + kTemplate +
                          "}, {template: " + kTemplate + "}]}";
  const std::string lws = "{leaderTemplate: " + kTemplate + ", workerTemplate: " + kTemplate + "}";
  const std::string kserve = "{template: " + kPod + ", worker: " + kPod + ", prefill: {template: " + kPod +
                             ", worker: " + kPod + "}, router: {scheduler: {template: " + kPod + "}}}";
  const std::string replicas = "ReplicaSpecs: {Master: " + templated + ", Worker: " + templated + "}}";
  const std::string dynamo =
      "{resources: {limits: {gpu: '2'}}, extraPodSpec: {mainContainer: {image: 'a:1', args: [--model, m]}}}";
  using enum PodMaker;
  const Row rows[] = {
      {"v1", "Pod", kPod, 1, plain},
      {"apps/v1", "Deployment", templated, 1, serving},
      {"apps/v1", "StatefulSet", templated, 1, serving},
      {"apps.kruise.io/v1beta1", "StatefulSet", templated, 1, serving},
      {"apps/v1", "DaemonSet", templated, 1, plain},
      {"apps/v1", "ReplicaSet", templated, 1, plain},
      {"v1", "ReplicationController", templated, 1, plain},
      {"batch/v1", "Job", templated, 1, plain},
      {"batch/v1", "CronJob", "{jobTemplate: {spec: " + templated + "}}", 1, plain},
      {"keda.sh/v1alpha1", "ScaledJob", "{jobTargetRef: " + templated + "}", 1, plain},
      {"argoproj.io/v1alpha1", "Workflow",
       "{templates: [{container: " + kContainer + "}, {script: " + kContainer + "}]}", 2, plain},
      {"argoproj.io/v1alpha1", "CronWorkflow", "{workflowSpec: {templates: [{container: " + kContainer + "}]}}", 1,
       plain},
      {"batch.volcano.sh/v1alpha1", "Job", "{tasks: [" + templated + ", " + templated + "]}", 2, grouped},
      {"argoproj.io/v1alpha1", "Rollout", templated, 1, serving},
      {"leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "{leaderWorkerTemplate: " + lws + "}", 2, serving},
      {"disaggregatedset.x-k8s.io/v1", "DisaggregatedSet", "{roles: [{spec: {leaderWorkerTemplate: " + lws + "}}]}", 2,
       grouped},
      {"jobset.x-k8s.io/v1alpha2", "JobSet", "{replicatedJobs: [{template: {spec: " + templated + "}}]}", 1, grouped},
      {"ray.io/v1", "RayCluster", ray, 3, grouped},
      {"ray.io/v1", "RayService", "{rayClusterConfig: " + ray + "}", 3, grouped},
      {"ray.io/v1", "RayJob", "{rayClusterSpec: " + ray + ", submitterPodTemplate: " + kTemplate + "}", 4, grouped},
      {"orchestration.aibrix.ai/v1alpha1", "RayClusterFleet", "{template: {spec: " + ray + "}}", 3, grouped},
      {"orchestration.aibrix.ai/v1alpha1", "StormService", "{template: {spec: {roles: [" + templated + "]}}}", 1,
       grouped},
      {"workload.serving.volcano.sh/v1alpha1", "ModelServing",
       "{template: {roles: [{entryTemplate: " + kTemplate + ", workerTemplate: " + kTemplate + "}]}}", 2, grouped},
      {"serving.kserve.io/v1beta1", "InferenceService", "{predictor: " + kPod + "}", 1, operated},
      {"serving.kserve.io/v1beta1", "InferenceService", "{predictor: {model: " + kContainer + "}}", 1, operated},
      {"serving.kserve.io/v1beta1", "InferenceService", "{predictor: {triton: " + kContainer + "}}", 1, operated},
      {"serving.kserve.io/v1beta1", "InferenceService", "{predictor: {minReplicas: 1}}", 0, operated},
      {"serving.kserve.io/v1alpha1", "ServingRuntime", kPod, 1, merged},
      {"serving.kserve.io/v1alpha1", "ClusterServingRuntime", kPod, 1, merged},
      {"serving.kserve.io/v1alpha2", "LLMInferenceService", kserve, 5, merged},
      {"serving.kserve.io/v1alpha2", "LLMInferenceServiceConfig", kserve, 5, merged},
      {"serving.knative.dev/v1", "Service", templated, 1, operated},
      {"apps.nvidia.com/v1alpha1", "NIMService", "{resources: {limits: {nvidia.com/gpu: 2}}}", 1, operated},
      {"nvidia.com/v1beta1", "DynamoGraphDeployment", "{components: [{podTemplate: " + kTemplate + "}]}", 1, grouped},
      {"nvidia.com/v1alpha1", "DynamoGraphDeployment", "{services: {Decode: " + dynamo + "}}", 2, grouped},
      {"nvidia.com/v1alpha1", "DynamoComponentDeployment", dynamo, 2, grouped},
      {"grove.io/v1alpha1", "PodCliqueSet", "{template: {cliques: [{name: a, spec: {podSpec: " + kPod + "}}]}}", 1,
       grouped},
      {"kubeflow.org/v1", "PyTorchJob", "{pytorch" + replicas, 2, grouped},
      {"kubeflow.org/v1", "TFJob", "{tf" + replicas, 2, grouped},
      {"kubeflow.org/v1", "JAXJob", "{jax" + replicas, 2, grouped},
      {"kubeflow.org/v1", "XGBoostJob", "{xgb" + replicas, 2, grouped},
      {"kubeflow.org/v1", "PaddleJob", "{paddle" + replicas, 2, grouped},
      {"kubeflow.org/v2beta1", "MPIJob", "{mpi" + replicas, 2, grouped},
      {"trainer.kubeflow.org/v1alpha1", "TrainJob", "{trainer: {resourcesPerNode: {limits: {nvidia.com/gpu: 2}}}}", 1,
       merged},
      {"trainer.kubeflow.org/v1alpha1", "TrainingRuntime",
       "{template: {spec: {replicatedJobs: [{template: {spec: " + templated + "}}]}}}", 1, merged},
      // Unknown kinds are recognised by their structure.
      {"example.com/v1", "Fleet", "{members: [{pod: " + kTemplate + "}, {pod: " + kTemplate + "}]}", 2, grouped},
      {"workloads.x-k8s.io/v1alpha1", "RoleBasedGroup", "{roles: [" + templated + "]}", 1, grouped},
      {"example.com/v1", "Deployment", "{podSpec: " + kPod + "}", 1, grouped},
  };
  for (const Row& row : rows) {
    const Parsed parsed(object(row.api, row.kind, row.spec));
    const std::string name = row.kind + " of " + row.api + ": " + row.spec;
    ASSERT_EQ(parsed.objects.size(), 1u) << name;
    const Pods pods = pods_of(parsed.objects[0]);
    EXPECT_EQ(pods.size(), row.pods) << name;
    EXPECT_EQ(pod_maker(parsed.objects[0]), row.maker) << name;
    EXPECT_EQ(gpus_of_largest_pod(parsed.objects[0]), row.pods == 0 ? 0 : 2) << name;
  }
}

TEST(PodShapes, FindsNoPodsInObjectsThatOnlyDescribeThem) {
  const std::string pattern = "{rules: [{validate: {pattern: " + kTemplate + "}}]}";
  for (const std::string& yaml :
       {object("kyverno.io/v1", "ClusterPolicy", pattern), object("v1", "Service", "{selector: {a: b}}"),
        object("karpenter.sh/v1", "NodePool", "{template: {spec: {taints: []}}}"),
        object("example.com/v1", "Sieve", "{containers: [{size: 5}]}")}) {
    EXPECT_FALSE(pod_maker(Parsed(yaml).objects.at(0))) << yaml;
  }
}

TEST(PodShapes, AnObjectWithMoreThan32PodsHasTheFirst32) {
  std::string spec = "{components: [";
  for (int i = 0; i < 40; ++i) spec += "{podTemplate: {spec: {containers: []}}},";
  const Parsed parsed(object("nvidia.com/v1beta1", "DynamoGraphDeployment", spec + "]}"));
  EXPECT_EQ(pods_of(parsed.objects[0]).size(), 32u);
}

TEST(PodShapes, ReadsTheObjectsInsideOtherObjects) {
  const std::string inner =
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: b}, spec: {template: " + kTemplate + "}}";
  const std::string rows[] = {
      object("workload.codeflare.dev/v1beta2", "AppWrapper", "{components: [{template: " + inner + "}]}"),
      object("work.open-cluster-management.io/v1", "ManifestWork", "{workload: {manifests: [" + inner + "]}}"),
      object("kubernetes.crossplane.io/v1alpha2", "Object", "{forProvider: {manifest: " + inner + "}}"),
      "apiVersion: template.openshift.io/v1\nkind: Template\nobjects: [" + inner + "]\n"};
  for (const std::string& yaml : rows) {
    const Parsed parsed(yaml);
    ASSERT_EQ(parsed.objects.size(), 2u) << yaml;
    EXPECT_EQ(parsed.objects[1].kind, "Deployment");
    EXPECT_TRUE(serves_on_gpu(parsed.objects[1]));
  }
}

TEST(PodShapes, CountsGpusOfInitContainersLikeTheScheduler) {
  const auto container = [](const std::string& gpus, const std::string& more = "") {
    return "{name: a, " + more + "resources: {limits: {nvidia.com/gpu: " + gpus + "}}}";
  };
  const std::string sidecar = "restartPolicy: Always, ";
  struct Row {
    std::string init, containers;
    std::int64_t gpus;
    bool has_gpu_container;
  };
  const Row rows[] = {
      {"", container("4"), 4, true},
      {container("2"), container("4"), 4, true},
      {container("8"), container("4"), 8, true},
      {container("8"), "{name: b}", 8, false},
      {container("1", sidecar), container("4"), 5, true},
      {container("1", sidecar), "{name: b}", 1, true},
      {container("1", sidecar) + ", " + container("4"), container("2"), 5, true},
      {"", container("0"), 0, false},
  };
  for (const Row& row : rows) {
    const std::string spec = "{initContainers: [" + row.init + "], containers: [" + row.containers + "]}";
    const Parsed parsed(object("v1", "Pod", spec));
    const Pods pods = pods_of(parsed.objects[0]);
    EXPECT_EQ(gpus_of(pods[0]), row.gpus) << spec;
    EXPECT_EQ(static_cast<bool>(gpu_container(pods[0])), row.has_gpu_container) << spec;
    EXPECT_EQ(wants_gpu(pods[0]), row.gpus > 0) << spec;
  }
}

TEST(PodShapes, ListsContainersBeforeInitContainers) {
  const auto names = [](const std::string& spec) {
    const Parsed parsed(object("v1", "Pod", spec));
    std::string out;
    const Pods pods = pods_of(parsed.objects.at(0));
    for (const Value* container : all_containers_of(pods[0])) out += (*container)["name"].text;
    return out;
  };
  EXPECT_EQ(names("{containers: [{name: a}, {name: b}], initContainers: [{name: c}, {name: d}]}"), "abcd");
  EXPECT_EQ(names("{initContainers: [{name: c}], containers: [{name: a}]}"), "ac");
  EXPECT_EQ(names("{containers: [], initContainers: [{name: c}]}"), "c");
  EXPECT_EQ(names("{containers: [{name: a}]}"), "a");
  EXPECT_EQ(names("{nodeName: x}"), "");
}

/// Returns the rules that find errors or warnings in a text.
std::vector<std::string_view> found(const std::string& yaml) {
  const Report report = lint_texts({{"a/a.yaml", yaml}}, {});
  std::vector<std::string_view> rules;
  for (const Finding& finding : report.findings) rules.push_back(finding.rule->id);
  return rules;
}

TEST(PodShapes, RulesOfPodsCheckInitContainersAndUnknownKinds) {
  const std::string bad =
      "{name: b, image: 'k8s.gcr.io/metrics-server:v0.7.0', env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}], "
      "resources: {requests: {nvidia.com/gpu: '0.5'}}}";
  const std::vector<std::string_view> expected = {"image-registry-frozen", "visible-devices-override",
                                                  "gpu-request-without-limit", "fractional-gpu"};
  const std::string serving = "{containers: [" + kContainer + "], initContainers: [" + bad + "]}";
  EXPECT_EQ(found(object("v1", "Pod", serving)), expected);
  EXPECT_EQ(found(object("example.com/v1", "Fleet", "{pod: {spec: {containers: [" + bad + "]}}}")), expected);
}

TEST(PodShapes, KindsThatAreNotReadAreCounted) {
  const Report report =
      lint_texts({{"a.yaml", object("example.com/v1", "Foo", "{}") + "---\n" + object("example.com/v1", "Foo", "{}") +
                                 "---\n" + object("v1", "Secret", "{}") + "---\n" +
                                 object("hypershift.openshift.io/v1beta1", "NodePool", "{}") + "---\n" +
                                 object("apps/v1", "Deployment", "{selector: {}}")}},
                 {});
  const std::map<std::string, std::size_t> expected = {
      {"Foo.example.com", 2}, {"NodePool.hypershift.openshift.io", 1}, {"Secret", 1}};
  EXPECT_EQ(report.summary.kinds_not_read, expected);
  const std::string carrier =
      "apiVersion: template.openshift.io/v1\nkind: Template\nobjects: [{apiVersion: apps/v1, kind: Deployment, "
      "metadata: "
      "{name: a}, spec: {selector: {}}}]\n";
  EXPECT_TRUE(lint_texts({{"a.yaml", carrier}}, {}).summary.kinds_not_read.empty()) << "the objects inside are read";
}

TEST(ValuePath, VisitsTheItemsOfListsAndMappings) {
  const manifest::Documents documents =
      manifest::Documents::parse("a: {b: [{c: 1}, {c: 2}, {d: 3}], m: {x: {c: 4}, y: {c: 5}}}\n");
  const auto texts = [&](std::string_view path) {
    std::string out;
    for_each_at(documents.all()[0].root, path, [&](const Value& value) { out += std::string(value.text) + " "; });
    return out;
  };
  EXPECT_EQ(texts("a.b[].c"), "1 2 ");
  EXPECT_EQ(texts("a.m.*.c"), "4 5 ");
  EXPECT_EQ(texts("a.m.x.c"), "4 ");
  EXPECT_EQ(texts("a.m[].c"), "");
  EXPECT_EQ(texts("a.b.*.c"), "");
  EXPECT_EQ(texts("a.none.c"), "");
}

}  // namespace
}  // namespace capstan::lint::pod_shapes_test
