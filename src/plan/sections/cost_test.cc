#include <gtest/gtest.h>

#include <algorithm>

#include "plan/sections/sections.h"

namespace capstan::plan {
namespace {

using namespace std::chrono_literals;

/// Returns a service with two replicas of four H100 at 10 USD for a GPU-hour, simulated for an hour under two seeds.
ServicePlan costed_service(const std::string& name) {
  ServicePlan service{.service = name};
  RoleFleet role{.minimum = 2, .maximum = 8, .mean_ready_milli = 2000};
  role.engine.tp = 4;
  role.machine.gpus = 8;
  role.machine.on_demand_per_hour = MicroUsd{80'000'000};
  service.roles.push_back(role);
  for (const std::uint64_t seed : {1, 2}) {
    service.seeds.push_back({.seed = seed,
                             .requests = 3600,
                             .micro_usd = 100'000'000,
                             .simulated = 1h,
                             .paid_gpu_ns = GpuNanoseconds{10} * 3'600'000'000'000,
                             .idle_gpu_ns = GpuNanoseconds{2} * 3'600'000'000'000,
                             .useful_gpu_ns = GpuNanoseconds{3} * 3'600'000'000'000,
                             .answer_tokens = 1'000'000});
  }
  service.start = {{StartStep::node, 1min, 2min}, {StartStep::weights, 6min, 8min}};
  service.runner_up = FrontierPoint{.fleet = "H200", .attainment_ppm = 995'000, .micro_usd_per_hour = 120'000'000};
  return service;
}

std::string value_of(const Section& section, std::string_view name) {
  for (const Statement& statement : section.statements) {
    if (statement.name == name) return statement.value;
  }
  return "no statement";
}

TEST(CostSection, AnswersEveryQuestionOfOneService) {
  PlanSpec spec;
  spec.services.push_back({.name = "chat"});
  const std::vector<ServicePlan> services = {costed_service("chat")};
  const Section section = cost_section({spec, services});
  PlanSpec other = spec;
  other.cluster.provisioner = Provisioner::cluster_autoscaler;
  EXPECT_EQ(value_of(cost_section({other, services}), "consolidation trap"), "no statement") << "a policy of Karpenter";
  EXPECT_EQ(value_of(section, "machines"), "73,000 USD/month");
  EXPECT_EQ(value_of(section, "million answer tokens"), "100.00 USD");
  EXPECT_EQ(value_of(section, "GPU time above need"), "51,100 USD/month");  // 7 of 10 GPU-hours
  EXPECT_EQ(value_of(section, "GPUs without a running step"), "14,600 USD/month");
  EXPECT_EQ(value_of(section, "warm pool"), "58,400 USD/month");
  EXPECT_EQ(value_of(section, "consolidation trap"), "87,600 USD/year of GPU time");
  EXPECT_EQ(value_of(section, "requests in the trap"), "up to 10,800 a day");  // half a request/s for 6 min, 60 times
  EXPECT_EQ(value_of(section, "runner-up"), "120.00 USD/h");
  EXPECT_EQ(value_of(section, "break-even with serverless"),
            "36.38 USD for a GPU-hour of useful work");  // 79,667 USD/month / (3 GPUs x 730 h)
}

TEST(CostSection, ARunnerUpThatMissesRequestsDoesNotMeetAll) {
  PlanSpec spec;
  spec.services.push_back({.name = "chat"});
  std::vector<ServicePlan> services = {costed_service("chat")};
  services.front().runner_up->attainment_ppm = 999'960;
  const Section section = cost_section({spec, services});
  const auto runner_up = std::ranges::find(section.statements, "runner-up", &Statement::name);
  ASSERT_NE(runner_up, section.statements.end());
  EXPECT_NE(runner_up->why.find("H200, 99.9 % met"), std::string::npos) << runner_up->why;
}

TEST(CostSection, NamesTheServiceIfThereAreSeveral) {
  PlanSpec spec;
  spec.services = {{.name = "chat"}, {.name = "code"}};
  const std::vector<ServicePlan> services = {costed_service("chat"), costed_service("code")};
  const Section section = cost_section({spec, services});
  EXPECT_EQ(value_of(section, "code machines"), "73,000 USD/month");
  EXPECT_EQ(section.answer,
            "The machines cost 200.00 USD/h, 146,000 USD/month. With staff costs included, serverless inference is "
            "cheaper if it costs less than 34.86 USD for each hour in which one GPU would run full batches; this load "
            "needs 6.0 such GPUs on average. The prices contain no network, storage or control plane.");
}

TEST(CostSection, CountsOnlyTheShareOfNodesThatServicesHaveInCommon) {
  PlanSpec spec;
  spec.services.push_back({.name = "chat"});
  std::vector<ServicePlan> services = {costed_service("chat")};
  services[0].shared_micro_usd_per_hour = 90'000'000;  // nodes of its own cost 100 USD/h
  const Section section = cost_section({spec, services});
  EXPECT_EQ(value_of(section, "million answer tokens"), "90.00 USD");
  // The replicas work for 80 of 100 USD/h; that leaves 10 of 90 USD/h.
  EXPECT_EQ(value_of(section, "GPUs without a running step"), "7,300 USD/month");
}

}  // namespace
}  // namespace capstan::plan
