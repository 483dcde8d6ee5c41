#include "plan/pods/pause_container.h"
#include "plan/pods/weight_cache.h"
#include "plan/sections/balloon.h"
#include "plan/sections/test_services.h"
#include "plan/sections/warm_minimum.h"

namespace capstan::plan {
namespace {

using namespace std::chrono_literals;
using testing::chat_sample;
using testing::PlanSample;

TEST(WarmPoolSection, WritesManifestsInWhichLintFindsNothing) {
  for (const Engine engine : {Engine::vllm, Engine::triton}) {
    testing::expect_no_findings({warm_pool_section(chat_sample(engine).facts())});
    testing::expect_no_findings({warm_pool_section(testing::disaggregated_sample(engine).facts())});
    testing::expect_no_findings({warm_pool_section(testing::gang_sample(engine).facts())});
  }
}

TEST(WarmPoolSection, NamesTheLongestStepOfAColdStart) {
  const Section section = warm_pool_section(chat_sample().facts());
  EXPECT_EQ(section.answer,
            "Keep 3 replicas of chat ready. A cold start of chat takes 6 min 45 s, 2 min 30 s of it for image pull. "
            "Images and weights are fetched onto each node before a replica needs them.");
  EXPECT_EQ(testing::value_of_statement(section, "chat cold start"), "6 min 45 s");
  EXPECT_EQ(testing::value_of_statement(section, "chat balloon"), "27.52 USD/h");  // 55.04 USD/h for 8 GPUs
}

TEST(WarmPoolSection, SaysThatTheSearchCountsWhereTheFormulaDiffers) {
  PlanSample sample = chat_sample();
  RoleFleet& role = sample.services.front().roles.front();
  const auto by_formula = warm_minimum(sample.spec.services.front(), sample.services.front(), role);
  ASSERT_TRUE(by_formula);
  for (const ReplicaCount more : {0, 5}) {
    role.minimum = by_formula->replicas + more;
    const Section section = warm_pool_section(sample.facts());
    const auto found = std::ranges::find(section.statements, "chat minimum ready replicas", &Statement::name);
    ASSERT_NE(found, section.statements.end());
    EXPECT_EQ(found->why.find("the formula gives") != found->why.npos, more > 0) << found->why;
    EXPECT_TRUE(found->why.contains("never 0, because the first request would then wait for a whole cold start, "));
  }
}

/// Returns the minimum of a service that needs half a replica outside bursts and `burst_in_replicas` in bursts.
ReplicaCount minimum_of(PlanSample sample, double burst_in_replicas, Duration lead, std::uint32_t attainment_ppm) {
  ServiceSpec& service = sample.spec.services.front();
  const RoleFleet& role = sample.services.front().roles.front();
  const double capacity = replica_capacity(service, role, mean_request(service, {})).requests_per_s;
  service.load.requests_per_s = capacity / 2;
  service.load.burst_factor = burst_in_replicas * 2;
  service.slo.attainment_ppm = attainment_ppm;
  sample.services.front().start = {{StartStep::node, lead - kDetection, lead}};
  return warm_minimum(service, sample.services.front(), role)->replicas;
}

TEST(WarmMinimum, IsTheFewestReplicasThatABurstNeeds) {
  // A burst that needs 4 replicas, a lead time of 300 s and a TTFT of 2 s: 4 x 300 / 302 = 3.97 replicas.
  EXPECT_EQ(minimum_of(chat_sample(), 4, 300s, 1'000'000), 4);
  // If 10 % of the requests may be late: (4 x 300 - 0.1 x (1800 x 0.5 + 600 x 3.5)) / 302 = 2.98 replicas.
  EXPECT_EQ(minimum_of(chat_sample(), 4, 300s, 900'000), 3);
  // A burst that one replica can serve needs no more replicas than the load outside bursts.
  EXPECT_EQ(minimum_of(chat_sample(), 0.5, 300s, 1'000'000), 1);
}

TEST(WarmMinimum, IsUnknownForARecordedLoad) {
  PlanSample sample = chat_sample();
  sample.spec.services.front().load.source = LoadSpec::Source::trace;
  EXPECT_FALSE(
      warm_minimum(sample.spec.services.front(), sample.services.front(), sample.services.front().roles.front()));
}

TEST(Balloon, HoldsTheGpusOfOneReplicaAndGivesThemAwayAtOnce) {
  const PlanSample sample = chat_sample();
  const RoleFleet& role = sample.services.front().roles.front();
  EXPECT_EQ(balloon_deployment(sample.spec, sample.spec.services.front(), role).document(), R"yaml(apiVersion: apps/v1
kind: Deployment
metadata:
  name: chat-balloon
  namespace: llm
  labels:
    app.kubernetes.io/name: chat-balloon
spec:
  # the room of one replica
  replicas: 1
  selector:
    matchLabels:
      app.kubernetes.io/name: chat-balloon
  template:
    metadata:
      labels:
        app.kubernetes.io/name: chat-balloon
    spec:
      priorityClassName: balloon
      # a replica that needs the GPUs gets them at once
      terminationGracePeriodSeconds: 0
      automountServiceAccountToken: false
      nodeSelector:
        capstan.dev/pool: h100
      tolerations:
      - key: nvidia.com/gpu
        operator: Exists
        effect: NoSchedule
      containers:
      - name: pause
        image: registry.k8s.io/pause:3.10
        resources:
          requests:
            cpu: "100m"
            memory: "64Mi"
            nvidia.com/gpu: 4
          limits:
            cpu: "100m"
            memory: "64Mi"
            nvidia.com/gpu: 4
)yaml");
  EXPECT_EQ(capacity_buffer_objects(sample.spec, sample.spec.services.front(), role).back().document(),
            R"yaml(apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityBuffer
metadata:
  name: chat-buffer
  namespace: llm
spec:
  podTemplateRef:
    name: chat-buffer
  # the room of one replica
  replicas: 1
)yaml");
}

TEST(Balloon, ReplacesNoServiceOfItsName) {
  PlanSample sample = chat_sample();
  sample.spec.services.push_back(sample.spec.services.front());
  sample.spec.services.back().name = "chat-balloon";
  sample.services.push_back(sample.services.front());
  sample.services.back().service = "chat-balloon";
  const Yaml balloons =
      balloon_deployment(sample.spec, sample.spec.services.front(), sample.services.front().roles.front());
  EXPECT_EQ(balloons.find("metadata")->find("name")->text(), "chat-balloon-pods");
  EXPECT_EQ(balloons.find("spec")->find("selector")->find("matchLabels")->find("app.kubernetes.io/name")->text(),
            "chat-balloon-pods");
}

TEST(Balloon, IsPlacedByTheSchedulerOfTheReplicas) {
  const PlanSample sample = testing::gang_sample();
  const std::string text =
      balloon_deployment(sample.spec, sample.spec.services.front(), sample.services.front().roles.front()).document();
  EXPECT_NE(text.find("schedulerName: kai-scheduler"), text.npos);
  EXPECT_NE(text.find("kai.scheduler/queue: production"), text.npos);
}

TEST(WeightCache, WritesItsMarkerLastAndUnderALock) {
  const PlanSample sample = chat_sample();
  const std::vector<Yaml> objects = weight_cache_objects(sample.spec, sample.spec.services.front(), {"h100"});
  ASSERT_EQ(objects.size(), 2u);
  const std::string script = objects.front().find("data")->find("fetch.sh")->text();
  const std::size_t lock = script.find("flock 9"), download = script.find("snapshot_download("),
                    marker = script.find("touch \"$MODEL_FOLDER/.complete\"");
  EXPECT_LT(lock, download);
  EXPECT_LT(download, marker);
  EXPECT_NE(marker, script.npos);
}

TEST(WeightCache, IsOnTheDisksOfTheNode) {
  PlanSample sample = chat_sample();
  EXPECT_EQ(node_cache_path(sample.spec), "/mnt/k8s-disks/0/models");
  sample.spec.cluster.provisioner = Provisioner::cluster_autoscaler;  // eksctl mounts the disks in the same place
  EXPECT_EQ(node_cache_path(sample.spec), "/mnt/k8s-disks/0/models");
  sample.spec.cluster.provisioner = Provisioner::none;
  EXPECT_EQ(node_cache_path(sample.spec), "/var/lib/models");
  sample.spec.cluster.cloud = Cloud::gcp;
  EXPECT_EQ(node_cache_path(sample.spec), "/var/lib/models");
  EXPECT_EQ(model_folder(sample.spec.services.front()), "/models/meta-llama--Llama-3.3-70B-Instruct");
}

}  // namespace
}  // namespace capstan::plan
