#include <fmt/format.h>

#include "plan/objects/names.h"
#include "plan/pods/engine_command.h"
#include "plan/pods/pod_spec.h"
#include "plan/sections/test_services.h"
#include "plan/sections/testing.h"

namespace capstan::plan {
namespace {

using namespace std::chrono_literals;
using testing::chat_sample;
using testing::PlanSample;

TEST(WorkloadSection, WritesManifestsInWhichLintFindsNothing) {
  const std::pair<Engine, std::string> engines[] = {
      {Engine::vllm, "vllm/vllm-openai:v0.25.1"},
      {Engine::sglang, "lmsysorg/sglang:v0.5.18"},
      {Engine::tensorrt_llm, "nvcr.io/nvidia/tensorrt-llm/release:1.2.1"},
      {Engine::triton, "nvcr.io/nvidia/tritonserver:25.05-trtllm-python-py3"}};
  for (const auto& [engine, image] : engines) {
    for (const PlanSample& sample : {chat_sample(engine, image), testing::disaggregated_sample(engine, image),
                                     testing::gang_sample(engine, image)}) {
      testing::expect_no_findings(
          {workload_section(sample.facts()), replicas_section(sample.facts()), warm_pool_section(sample.facts())});
    }
  }
}

TEST(WorkloadSection, StatesTheReplicasOfAConstantFleetOnly) {
  for (PlanSample sample : {chat_sample(), testing::gang_sample()}) {
    const std::string kind = sample.services.front().roles.front().pods > 1 ? "LeaderWorkerSet" : "Deployment";
    const auto replicas = [&] {
      const Section section = workload_section(sample.facts());
      const Yaml* body = testing::find_body(section, "workload/chat.yaml", kind);
      const Yaml* found = body == nullptr ? nullptr : body->find("spec")->find("replicas");
      return found == nullptr ? std::string() : std::string(found->text());
    };
    EXPECT_EQ(replicas(), "") << kind;
    sample.services.front().scaler = ScalerKind::constant;
    EXPECT_EQ(replicas(), fmt::format("{}", sample.services.front().roles.front().minimum)) << kind;
    const Section constant = workload_section(sample.facts());
    const std::string text = testing::find_body(constant, "workload/chat.yaml", kind)->document();
    EXPECT_NE(text.find("delete this line and run: kubectl apply set-last-applied -f workload/chat.yaml ("), text.npos)
        << text;
  }
}

TEST(WorkloadSection, WritesADeploymentThatStartsAndEndsInTime) {
  const Section section = workload_section(chat_sample().facts());
  EXPECT_EQ(testing::find_body(section, "workload/chat.yaml", "Deployment")->document(), R"yaml(apiVersion: apps/v1
kind: Deployment
metadata:
  name: chat
  namespace: llm
  labels:
    app.kubernetes.io/name: chat
spec:
  selector:
    matchLabels:
      app.kubernetes.io/name: chat
  strategy:
    type: RollingUpdate
    rollingUpdate:
      # a surge needs GPUs that may not be there
      maxSurge: 0
      maxUnavailable: 1
  template:
    metadata:
      labels:
        app.kubernetes.io/name: chat
    spec:
      priorityClassName: production
      # preStop 15 s + drain 164 s + 15 s
      terminationGracePeriodSeconds: 194
      automountServiceAccountToken: false
      nodeSelector:
        capstan.dev/pool: h100
      tolerations:
      - key: nvidia.com/gpu
        operator: Exists
        effect: NoSchedule
      initContainers:
      - name: weights
        # the image of the engine, so that there is one image to pull
        image: vllm/vllm-openai:v0.25.1
        command:
        - sh
        - /scripts/fetch.sh
        env:
        - name: MODEL
          value: meta-llama/Llama-3.3-70B-Instruct
        - name: MODEL_FOLDER
          value: /models/meta-llama--Llama-3.3-70B-Instruct
        - name: HF_TOKEN
          valueFrom:
            secretKeyRef:
              name: hugging-face
              key: token
        resources:
          requests:
            cpu: "500m"
            memory: "1Gi"
          limits:
            cpu: "500m"
            memory: "1Gi"
        volumeMounts:
        - name: models
          mountPath: /models
        - name: scripts
          mountPath: /scripts
      containers:
      - name: engine
        image: vllm/vllm-openai:v0.25.1
        args:
        - "--model=/models/meta-llama--Llama-3.3-70B-Instruct"
        - "--served-model-name=meta-llama/Llama-3.3-70B-Instruct"
        - "--tensor-parallel-size=4"
        - "--max-num-seqs=256"
        - "--max-num-batched-tokens=8192"
        - "--port=8000"
        - "--shutdown-timeout=164"
        - "--quantization=fp8"
        ports:
        - name: http
          containerPort: 8000
        resources:
          requests:
            cpu: "81"
            memory: "870Gi"
            nvidia.com/gpu: 4
          limits:
            cpu: "81"
            memory: "870Gi"
            nvidia.com/gpu: 4
        volumeMounts:
        - name: models
          mountPath: /models
          readOnly: true
        - name: shared-memory
          mountPath: /dev/shm
        startupProbe:
          httpGet:
            path: /health
            port: http
          periodSeconds: 10
          # 2 x 11 min, the longest start on a node that exists
          failureThreshold: 132
        readinessProbe:
          httpGet:
            path: /health
            port: http
          periodSeconds: 5
          timeoutSeconds: 5
        lifecycle:
          preStop:
            sleep:
              # until routers have dropped the pod
              seconds: 15
      volumes:
      - name: models
        hostPath:
          # on the node's own disks; it outlives the pod
          path: /mnt/k8s-disks/0/models
          type: DirectoryOrCreate
      - name: scripts
        configMap:
          name: chat-weights
      - name: shared-memory
        emptyDir:
          # the processes of the GPUs exchange data here; the default is 64 MiB
          medium: Memory
          sizeLimit: "16Gi"
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: ScheduleAnyway
        labelSelector:
          matchLabels:
            app.kubernetes.io/name: chat
      - maxSkew: 1
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: ScheduleAnyway
        labelSelector:
          matchLabels:
            app.kubernetes.io/name: chat
)yaml");
}

TEST(WorkloadSection, WritesAServiceAndABudget) {
  const Section section = workload_section(testing::disaggregated_sample().facts());
  EXPECT_EQ(testing::find_body(section, "workload/chat-decode.yaml", "Service")->document(), R"yaml(apiVersion: v1
kind: Service
metadata:
  name: chat-decode
  namespace: llm
  labels:
    app.kubernetes.io/name: chat
    capstan.dev/role: decode
spec:
  selector:
    app.kubernetes.io/name: chat
    capstan.dev/role: decode
  ports:
  - name: http
    port: 80
    targetPort: http
)yaml");
  EXPECT_EQ(testing::find_body(section, "workload/chat-decode.yaml", "PodDisruptionBudget")->document(),
            R"yaml(apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: chat-decode
  namespace: llm
spec:
  maxUnavailable: 1
  # a pod that does not serve blocks no drain
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      app.kubernetes.io/name: chat
      capstan.dev/role: decode
)yaml");
}

TEST(WorkloadSection, WritesALeaderWorkerSetForReplicasOfSeveralPods) {
  const Section section = workload_section(testing::gang_sample().facts());
  const Yaml* set = testing::find_body(section, "workload/chat.yaml", "LeaderWorkerSet");
  ASSERT_NE(set, nullptr);
  const Yaml* group = set->find("spec")->find("leaderWorkerTemplate");
  EXPECT_EQ(group->find("size")->text(), "2");
  for (const std::string_view part : {"leaderTemplate", "workerTemplate"}) {
    const std::string text = group->find(part)->document();
    EXPECT_NE(text.find("schedulerName: kai-scheduler"), text.npos);
    EXPECT_NE(text.find("nvidia.com/gpu: 4"), text.npos) << "8 GPUs on two pods";
  }
}

TEST(WorkloadSection, KueuePlacesLeaderAndWorkersInOneDomain) {
  PlanSample sample = testing::gang_sample();
  sample.spec.cluster.gang_scheduler = GangScheduler::kueue;
  const Section section = workload_section(sample.facts());
  const Yaml* set = testing::find_body(section, "workload/chat.yaml", "LeaderWorkerSet");
  ASSERT_NE(set, nullptr);
  for (const std::string_view part : {"leaderTemplate", "workerTemplate"}) {
    const Yaml* annotations =
        set->find("spec")->find("leaderWorkerTemplate")->find(part)->find("metadata")->find("annotations");
    ASSERT_NE(annotations, nullptr);
    EXPECT_EQ(annotations->find("kueue.x-k8s.io/podset-group-name")->text(), "chat");
    EXPECT_EQ(annotations->find("kueue.x-k8s.io/podset-required-topology")->text(), "kubernetes.io/hostname")
        << "one node has all 8 GPUs";
  }
}

TEST(WorkloadSection, PodsThatShareAGpuTakeTheirPartOfItsMemory) {
  testing::SamplePlan plan = testing::batch_plan();
  plan.services[0].roles[0].engine.gpu = "l40s";
  std::string text = testing::find_body(workload_section(plan.facts()), "workload/tags.yaml", "Deployment")->document();
  EXPECT_NE(text.find("--gpu-memory-utilization=0.45\""), text.npos) << text;
  EXPECT_NE(text.find("cpu: \"20\""), text.npos) << "0.85 x 192 cores / 8 shares\n" << text;
  EXPECT_EQ(text.find("hostIPC"), text.npos);
  plan.spec.cluster.cloud = Cloud::gcp;
  text = testing::find_body(workload_section(plan.facts()), "workload/tags.yaml", "Deployment")->document();
  EXPECT_NE(text.find("hostIPC: true"), text.npos) << text;
}

TEST(WorkloadSection, SaysWhatItDoesNotWrite) {
  const Section section = workload_section(testing::gang_sample(Engine::triton).facts());
  EXPECT_EQ(testing::value_of_statement(section, "chat workload"), "not written");
  EXPECT_TRUE(section.manifests.empty());
  EXPECT_TRUE(std::ranges::none_of(section.apply,
                                   [](const ApplyCommand& command) { return command.step == ApplyStep::workload; }));
}

TEST(WorkloadSection, AsksForAnFp8CheckpointWhereTheEngineCannotQuantize) {
  PlanSample sample = chat_sample(Engine::tensorrt_llm, "nvcr.io/nvidia/tensorrt-llm/release:1.2.1");
  EXPECT_EQ(testing::value_of_statement(workload_section(sample.facts()), "chat workload"), "not written");
  sample.spec.services.front().served_model_name = "nvidia/Llama-3.3-70B-Instruct-FP8";
  const Section section = workload_section(sample.facts());
  EXPECT_EQ(testing::value_of_statement(section, "chat workload"), "no statement");
  EXPECT_NE(testing::find_body(section, "workload/chat.yaml", "Deployment"), nullptr);
}

/// Returns the preStop sleep of a pod template, seconds.
std::string sleep_of(const Yaml& pod) {
  return pod.find("spec")
      ->find("containers")
      ->elements()
      .front()
      .find("lifecycle")
      ->find("preStop")
      ->find("sleep")
      ->find("seconds")
      ->text();
}

TEST(PodSpec, SleepsForTheDrainWhereTheEngineDoesNotWait) {
  for (const auto& [engine, seconds] : {std::pair(Engine::vllm, "15"), std::pair(Engine::sglang, "179")}) {
    const PlanSample sample = testing::gang_sample(engine);
    const ServiceSpec& service = sample.spec.services.front();
    const ServicePlan& fleet = sample.services.front();
    EXPECT_EQ(sleep_of(engine_pod(sample.spec, service, fleet, fleet.roles.front())), seconds);
    // A worker computes its part of the running answers until the leader has ended.
    EXPECT_EQ(sleep_of(worker_pod(sample.spec, service, fleet, fleet.roles.front())), "179");
  }
}

TEST(WorkloadSection, SetsTheLimitsThatWereSimulated) {
  const Section section = workload_section(chat_sample().facts());
  EXPECT_EQ(testing::value_of_statement(section, "limits of an engine step"), "256 sequences, 8,192 tokens");
}

struct TimesRow {
  std::string name;
  std::int32_t longest_answer;
  Duration tpot;
  model::Role role;
  std::int64_t drain_s, grace_s;
};

TEST(PodTimes, FollowFromTheLongestAnswer) {
  const TimesRow rows[] = {
      {"2048 tokens of 80 ms", 2048, 80ms, model::Role::both, 164, 194},
      {"short answers get the least", 100, 50ms, model::Role::both, 105, 135},
      {"a recorded load", 0, 80ms, model::Role::both, 150, 180},
      {"prefill replicas write no answers", 2048, 80ms, model::Role::prefill, 105, 135},
      {"a node waits for an hour", 200'000, 80ms, model::Role::both, 3510, 3540},
  };
  for (const TimesRow& row : rows) {
    PlanSample sample = chat_sample();
    ServiceSpec& service = sample.spec.services.front();
    service.load.answer.longest = row.longest_answer;
    service.slo.tpot = row.tpot;
    RoleFleet role = sample.services.front().roles.front();
    role.role = row.role;
    const PodTimes times = pod_times(service, sample.services.front(), role);
    EXPECT_EQ(times.drain_s, row.drain_s) << row.name;
    EXPECT_EQ(times.grace_s, row.grace_s) << row.name;
  }
}

TEST(PodTimes, LetAModelStartForTwiceItsLongestStart) {
  const PlanSample sample = chat_sample();
  const PodTimes times =
      pod_times(sample.spec.services.front(), sample.services.front(), sample.services.front().roles.front());
  EXPECT_EQ(times.startup_s, 1320);  // 2 x (300 + 200 + 160)
}

struct ShareRow {
  std::string name, gpu;
  GpuCount tp;
  std::int64_t pods, cpu, memory_gib, shared_memory_gib;
};

TEST(ResourcesShare, IsThePartOfTheMachineThatThePodsGpusAre) {
  const ShareRow rows[] = {
      {"half of the GPUs", "h100_sxm", 4, 1, 81, 870, 16},  // 0.85 x 192 x 4 / 8
      {"all GPUs", "h100_sxm", 8, 1, 163, 1740, 32},        // 0.85 x 192
      {"two pods with four GPUs each", "h100_sxm", 8, 2, 81, 870, 16},
      {"a slice that is one of 16", "h100-3g.40gb", 1, 1, 10, 108, 0},  // 0.85 x 192 / 16
  };
  for (const ShareRow& row : rows) {
    RoleFleet role{.pods = row.pods, .machine = testing::p5_machine()};
    role.engine.gpu = row.gpu;
    role.engine.tp = row.tp;
    if (mig_profile_of(row.gpu)) role.machine.gpus = 16;
    const PodResourceNeeds share = resource_needs(role);
    EXPECT_EQ(share.cpu, row.cpu) << row.name;
    EXPECT_EQ(share.memory_gib, row.memory_gib) << row.name;
    EXPECT_EQ(share.shared_memory_gib, row.shared_memory_gib) << row.name;
  }
}

TEST(ResourcesShare, IsAssumedForAMachineOfUnknownShape) {
  RoleFleet role;
  role.engine.tp = 2;
  const PodResourceNeeds share = resource_needs(role);
  EXPECT_FALSE(share.is_machine_known);
  EXPECT_EQ(share.cpu, 16);
}

TEST(EngineCommand, IsThatOfTheEngine) {
  const PlanSample sample = testing::disaggregated_sample();
  ServiceSpec service = sample.spec.services.front();
  const RoleFleet& prefill = sample.services.front().roles.front();
  const auto has = [](const EngineCommand& command, std::string_view argument) {
    return std::ranges::find(command.args, argument) != command.args.end();
  };
  const EngineCommand vllm = engine_command(service, prefill, 150);
  EXPECT_TRUE(has(vllm, "--shutdown-timeout=150"));
  EXPECT_TRUE(has(vllm, "--tensor-parallel-size=4"));
  EXPECT_TRUE(has(vllm, "--quantization=fp8"));
  EXPECT_TRUE(has(vllm, "--max-num-seqs=256"));
  EXPECT_TRUE(has(vllm, "--max-num-batched-tokens=8192"));
  EXPECT_TRUE(has(vllm, R"(--kv-transfer-config={"kv_connector": "NixlConnector", "kv_role": "kv_both"})"));
  service.engine = Engine::sglang;
  EXPECT_TRUE(has(engine_command(service, prefill, 150), "--disaggregation-mode=prefill"));
  EXPECT_TRUE(has(engine_command(service, prefill, 150), "--max-running-requests=256"));
  EXPECT_TRUE(has(engine_command(service, prefill, 150), "--chunked-prefill-size=8192"));
  service.engine = Engine::tensorrt_llm;
  EXPECT_TRUE(has(engine_command(service, prefill, 150), "--max_num_tokens=8192"));
  EXPECT_NE(engine_command(service, prefill, 150).config.find("return_perf_metrics: true"), std::string::npos);
  service.engine = Engine::triton;
  EXPECT_EQ(engine_command(service, prefill, 150).health_path, "/v2/health/ready");
}

TEST(EngineCommand, DividesThePipelineIntoStages) {
  const PlanSample sample = chat_sample();
  ServiceSpec service = sample.spec.services.front();
  RoleFleet role = sample.services.front().roles.front();
  role.engine.tp = 8;
  role.engine.stages = 2;
  const auto has = [&](std::string_view argument) {
    const EngineCommand command = engine_command(service, role, 150);
    return std::ranges::find(command.args, argument) != command.args.end();
  };
  EXPECT_TRUE(has("--tensor-parallel-size=4"));
  EXPECT_TRUE(has("--pipeline-parallel-size=2"));
  service.engine = Engine::sglang;
  EXPECT_TRUE(has("--tp-size=4"));
  EXPECT_TRUE(has("--pp-size=2"));
  service.engine = Engine::tensorrt_llm;
  EXPECT_TRUE(has("--tp_size=4"));
  EXPECT_TRUE(has("--pp_size=2"));
}

TEST(EngineCommand, DoesNotQuantizeAModelThatIsFp8) {
  const PlanSample sample = chat_sample();
  ServiceSpec service = sample.spec.services.front();
  service.served_model_name = "RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic";
  const EngineCommand command = engine_command(service, sample.services.front().roles.front(), 150);
  EXPECT_EQ(std::ranges::find(command.args, "--quantization=fp8"), command.args.end());
}

}  // namespace
}  // namespace capstan::plan
