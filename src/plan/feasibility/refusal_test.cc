#include "plan/feasibility/refusal.h"

#include <gtest/gtest.h>

#include "plan/read/read_spec.h"

namespace capstan::plan {
namespace {

PlanSpec refusal_spec() {
  PlanSpec spec;
  spec.cluster.machines = {{.name = "p5.48xlarge", .gpu = "h100_sxm", .gpus = 8}};
  spec.services = {{.name = "chat"}};
  return spec;
}

/// Returns the first refused choice, or an empty text.
std::string first_refused(const PlanSpec& spec) {
  const std::vector<Refusal> found = refusals(spec);
  return found.empty() ? "" : found.front().what;
}

TEST(Refusals, APlainSpecHasNone) { EXPECT_EQ(first_refused(refusal_spec()), ""); }

TEST(Refusals, DutyCycleAndGpuMemoryAreNoSignals) {
  struct Case {
    const char* asked;
    const char* refused;  ///< part of the refusal; empty: accepted
  };
  const Case cases[] = {
      {"DCGM_FI_DEV_GPU_UTIL", "duty cycle"},
      {"gpu_utilization", "duty cycle"},
      {"GPU duty cycle", "duty cycle"},
      {"nvidia_gpu_duty_cycle", "duty cycle"},
      {"nv_gpu_utilization", "duty cycle"},
      {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", "duty cycle"},
      {"DCGM_FI_PROF_SM_ACTIVE", "duty cycle"},
      {"nvidia_smi_gpu_utilization_ratio", "duty cycle"},
      {"gpu-memory", "memory of the GPU"},
      {"nvidia_gpu_memory_used_bytes", "memory of the GPU"},
      {"DCGM_FI_DEV_FB_FREE", "memory of the GPU"},
      {"DCGM_FI_DEV_FB_USED", "memory of the GPU"},
      {"queue", ""},
      {"kv", ""},
      {"vllm:kv_cache_usage_perc", ""},
      {"goodput", ""},
      {"", ""},
  };
  for (const Case& c : cases) {
    PlanSpec spec = refusal_spec();
    spec.asked.scale_on = c.asked;
    const std::string refused = first_refused(spec);
    EXPECT_EQ(refused.empty(), std::string_view(c.refused).empty()) << c.asked;
    EXPECT_NE(refused.find(c.refused), std::string::npos) << c.asked << ": " << refused;
  }
}

TEST(Refusals, ALimitForOneMachineLeavesNothingToScale) {
  PlanSpec spec = refusal_spec();
  spec.limits.gpus = 8;
  ASSERT_NE(first_refused(spec).find("limits.gpus: 8 allows only one machine (p5.48xlarge"), std::string::npos)
      << first_refused(spec);
  EXPECT_NE(refusals(spec).front().instead.find("allow a second machine: limits.gpus: 16, at least."),
            std::string::npos);
  spec.limits.gpus = 16;
  EXPECT_EQ(first_refused(spec), "");
  spec.limits.gpus = 8;
  spec.cluster.machines.push_back({.name = "p5.4xlarge", .gpu = "h100_sxm", .gpus = 1});
  EXPECT_EQ(first_refused(spec), "") << "eight small machines keep the limit, too";
}

TEST(Refusals, APriceForOneMachineLeavesNothingToScale) {
  PlanSpec spec = refusal_spec();
  spec.cluster.capacity = {model::CapacityType::on_demand};
  spec.cluster.machines.front().on_demand_per_hour = MicroUsd{55'040'000};
  spec.limits.per_hour = MicroUsd{60'000'000};
  EXPECT_EQ(first_refused(spec),
            "limits.usd_per_hour: 60.00 USD/h allows only one machine (p5.48xlarge with 8 x h100_sxm)");
  EXPECT_NE(refusals(spec).front().instead.find("allow a second machine: limits.usd_per_hour: 110.08, at least"),
            std::string::npos)
      << refusals(spec).front().instead;
  spec.limits.per_hour = MicroUsd{110'080'000};
  EXPECT_EQ(first_refused(spec), "");
}

TEST(Refusals, AnEngineWithoutACommandHasNoPlan) {
  PlanSpec spec = refusal_spec();
  spec.services[0].pipeline_parallel = 2;
  spec.services[0].is_disaggregated = true;
  EXPECT_EQ(first_refused(spec), "services.chat: its workload cannot be written") << "KV memory of stages";
  spec = refusal_spec();
  spec.services[0].engine = Engine::tensorrt_llm;
  EXPECT_EQ(first_refused(spec), "");
  spec.services[0].pods_per_replica = 2;
  const std::vector<Refusal> found = refusals(spec);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].what, "services.chat: its workload cannot be written");
  EXPECT_EQ(found[0].instead, "Use vLLM or SGLang, or fewer GPUs for a replica.");
}

TEST(Refusals, NameTheLineOfTheChoice) {
  const SpecResult spec = parse_plan_spec(
      "services:\n- {name: chat, model: Llama-3.1-8B, slo: {ttft_p99: 1s}, pods_per_replica: 2}\n"
      "asked:\n  scale_on: gpu\n  consolidation: WhenEmptyOrUnderutilized\n  gang_scheduling: false\n",
      "s.yaml");
  ASSERT_TRUE(spec) << spec.error().text();
  std::vector<std::string> places;
  for (const Refusal& refusal : refusals(*spec)) places.push_back(refusal.place);
  EXPECT_EQ(places, (std::vector<std::string>{"s.yaml:4:13", "s.yaml:5:18", "s.yaml:6:20"}));
}

TEST(Refusals, TheDutyCycleIsRefusedForItsRealFailure) {
  PlanSpec spec = refusal_spec();
  spec.asked.scale_on = "gpu_util";
  ASSERT_EQ(refusals(spec).size(), 1u);
  const Refusal refusal = refusals(spec).front();
  EXPECT_NE(refusal.why.find("stays at its maximum"), std::string::npos);
  EXPECT_NE(refusal.instead.find("queue depth"), std::string::npos);
  EXPECT_NE(refusal.instead.find("KV-cache use"), std::string::npos);
}

TEST(Refusals, ConsolidationOfUnderusedNodes) {
  PlanSpec spec = refusal_spec();
  spec.asked.consolidation = "WhenEmpty";
  EXPECT_EQ(first_refused(spec), "");
  spec.asked.consolidation = "WhenEmptyOrUnderutilized";
  EXPECT_EQ(first_refused(spec), "asked.consolidation: WhenEmptyOrUnderutilized on a GPU pool");
  EXPECT_NE(refusals(spec).front().why.find("evicts running replicas"), std::string::npos);
}

TEST(Refusals, AReplicaOfSeveralPodsWithoutGangScheduling) {
  PlanSpec spec = refusal_spec();
  spec.services.front().pods_per_replica = 2;
  EXPECT_EQ(first_refused(spec), "");
  spec.asked.declines_gang_scheduling = true;
  EXPECT_EQ(first_refused(spec), "asked.gang_scheduling: false: services.chat has 2 pods per replica");
  spec.asked.declines_gang_scheduling = false;
  spec.cluster.gang_scheduler = GangScheduler::none;
  EXPECT_EQ(first_refused(spec), "cluster.gang_scheduler: none: services.chat has 2 pods per replica");
}

TEST(Refusals, OnePodWithEightGpusNeedsNoGangScheduler) {
  PlanSpec spec = refusal_spec();
  spec.services.front().tensor_parallel = 8;
  spec.asked.declines_gang_scheduling = true;
  EXPECT_EQ(first_refused(spec), "");
}

TEST(Refusals, OneMachineAndNothingToBuy) {
  PlanSpec spec = refusal_spec();
  spec.cluster.machines.front().existing = 1;
  EXPECT_EQ(first_refused(spec), "");  // Karpenter can buy a second one
  spec.limits.gpus = 8;
  EXPECT_EQ(first_refused(spec), "cluster: one machine (p5.48xlarge with 8 x h100_sxm) and nothing that may be bought");
  EXPECT_NE(refusals(spec).front().instead.find("managed serverless"), std::string::npos);
  spec.limits.gpus = 16;
  EXPECT_EQ(first_refused(spec), "");
  spec.cluster.provisioner = Provisioner::none;
  EXPECT_NE(first_refused(spec), "");
  spec.cluster.machines.front().existing = 2;
  EXPECT_EQ(first_refused(spec), "");
}

TEST(Refusals, AllAreListedAtOnce) {
  PlanSpec spec = refusal_spec();
  spec.asked = {.scale_on = "memory", .consolidation = "WhenEmptyOrUnderutilized", .declines_gang_scheduling = true};
  spec.services.front().pods_per_replica = 4;
  EXPECT_EQ(refusals(spec).size(), 3u);
}

}  // namespace
}  // namespace capstan::plan
