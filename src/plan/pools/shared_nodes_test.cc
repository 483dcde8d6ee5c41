#include "plan/pools/shared_nodes.h"

#include <gtest/gtest.h>

#include <utility>

namespace capstan::plan {
namespace {

using namespace std::chrono_literals;

/// Returns a service with replicas of `tp` GPUs on nodes of 8 GPUs at 80 USD/h, simulated for three hours.
ServicePlan sharing_service(const std::string& name, std::int64_t tp, std::vector<ReplicaCount> by_hour) {
  RoleFleet role;
  role.engine.gpu = "h100_sxm";
  role.engine.tp = tp;
  role.machine = {.name = "p5.48xlarge", .gpu = "h100_sxm", .gpus = 8, .on_demand_per_hour = MicroUsd{80'000'000}};
  ServicePlan service{.service = name, .roles = {role}};
  Trial trial{.micro_usd = 240'000'000, .simulated = 3h};
  for (const ReplicaCount replicas : by_hour)
    trial.replicas_by_minute.insert(trial.replicas_by_minute.end(), 60, replicas);
  service.seeds = {trial};
  return service;
}

TEST(SharedNodes, CostWhatTheReplicasOfAllServicesNeedTogether) {
  std::vector<ServicePlan> services = {sharing_service("chat", 4, {1, 1, 1}), sharing_service("code", 2, {1, 1, 1})};
  share_nodes(services);
  // One node for 6 GPUs, divided 4 to 2.
  EXPECT_EQ(services[0].shared_micro_usd_per_hour, 53'333'280);
  EXPECT_EQ(services[1].shared_micro_usd_per_hour, 26'666'640);
  EXPECT_NE(services[0].shared_why.find("80.00 USD/h for the 1.0 nodes of p5.48xlarge"), std::string::npos)
      << services[0].shared_why;
}

TEST(SharedNodes, AreKeptForAnHourAfterTheyWereNeeded) {
  std::vector<ServicePlan> services = {sharing_service("chat", 4, {3, 1, 1}), sharing_service("code", 2, {1, 1, 1})};
  share_nodes(services);
  // 14 GPUs need two nodes in the first hour; the second node stays for the second hour.
  const std::int64_t sum = *services[0].shared_micro_usd_per_hour + *services[1].shared_micro_usd_per_hour;
  EXPECT_NEAR(static_cast<double>(sum), 80e6 * 5 / 3, 1e6);
}

TEST(SharedNodes, AServiceWithAPoolOfItsOwnKeepsItsCost) {
  std::vector<ServicePlan> services = {sharing_service("chat", 4, {1}), sharing_service("code", 2, {1})};
  services[1].roles[0].pool = "h100-p5-4xlarge";
  share_nodes(services);
  EXPECT_FALSE(services[0].shared_micro_usd_per_hour);
  EXPECT_FALSE(services[1].shared_micro_usd_per_hour);
}

TEST(SharedNodes, HaveTheCostOfTheSimulationsOfAllServices) {
  std::vector<ServicePlan> services = {sharing_service("chat", 4, {1, 1, 1}), sharing_service("code", 2, {1, 1, 1})};
  share_nodes(services);
  experiment::RunResult result;
  result.simulated = 3h;
  for (const auto& [pool, micro_usd] :
       {std::pair("h100", 300'000'000), std::pair("h100-spot", 60'000'000), std::pair("l4", 5'000'000)}) {
    experiment::Spending& spending = result.spending.emplace_back();
    spending.pool = pool;
    spending.micro_usd = micro_usd;
  }
  result.services.resize(2);
  result.services[0].gpu_ns = 3000;
  result.services[1].gpu_ns = 1000;
  share_simulated_nodes(services, {&result, 1}, "");
  // 120 USD/h, divided 3 to 1.
  EXPECT_EQ(services[0].shared_micro_usd_per_hour, 90'000'000);
  EXPECT_EQ(services[1].shared_micro_usd_per_hour, 30'000'000);
  EXPECT_TRUE(
      services[1].shared_why.starts_with("25.0 % of 120.00 USD/h for the nodes of p5.48xlarge that chat and "
                                         "code share in the simulations"))
      << services[1].shared_why;
  result.jobs.push_back({.name = "tune", .team = {}, .gpu_ns = 4000});
  share_simulated_nodes(services, {&result, 1}, "h100");
  EXPECT_EQ(services[0].shared_micro_usd_per_hour, 45'000'000) << "the jobs take a half";
  EXPECT_NE(services[0].shared_why.find("that chat, code and the jobs share"), std::string::npos);
  share_simulated_nodes(services, {&result, 1}, "l4");
  EXPECT_EQ(services[0].shared_micro_usd_per_hour, 90'000'000) << "the jobs use other nodes";
  services[1].seeds.front().simulated = 1h;
  result.services[0].gpu_ns = 1000;
  share_simulated_nodes(services, {&result, 1}, "");
  EXPECT_EQ(services[0].shared_micro_usd_per_hour, 90'000'000) << "the loads have different lengths";
}

}  // namespace
}  // namespace capstan::plan
