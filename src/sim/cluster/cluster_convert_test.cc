// Goal: a replica changes its role without losing its requests, and is always counted exactly once.
#include <gtest/gtest.h>

#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_fixture.h"

namespace capstan::sim {
namespace {

using namespace test;
using GangPhase = model::Gang::Phase;

const model::GangId kFirst{0};

model::Action convert(std::uint32_t from, std::uint32_t to, model::GangId gang = kFirst) {
  return action(model::ConvertReplica{gang, {from}, {to}});
}

/// Two ready replicas of service 0, none of service 1.
ClusterConfig two_serving() {
  ClusterConfig config = convertible_config();
  config.initial = {{{0}, 2, true}};
  return config;
}

/// Converts one replica at 10 s. It still holds requests at 12 s.
struct Changing : Bench {
  explicit Changing(const ClusterConfig& config = two_serving()) : Bench(config) {
    serving.drains = false;
    run_to(at_s(10));
    cluster.submit(convert(0, 1));
    run_to(at_s(12));
  }
};

TEST(ClusterConvert, AReplicaFinishesItsRequestsBeforeItServesInItsNewRole) {
  Changing bench;
  bench.run_to(at_s(20));
  const model::Gang& leaving = bench.truth().gangs.at(kFirst);
  EXPECT_EQ(leaving.service, model::ServiceId{1});
  EXPECT_EQ(leaving.phase, GangPhase::starting);
  EXPECT_TRUE(leaving.resumed);
  EXPECT_FALSE(bench.truth().signals_of(kFirst).waiting.usable())
      << "signals of the old role do not apply to the new role";
  EXPECT_EQ(bench.truth().services.at({0}).desired_replicas, 1);
  EXPECT_EQ(bench.truth().services.at({1}).desired_replicas, 1);
  EXPECT_TRUE(bench.serving.draining.contains(kFirst));
  EXPECT_EQ(bench.serving.serving.at(kFirst), at_s(0)) << "it does not serve in the new role yet";
  bench.serving.drains = true;
  bench.run_to(at_s(30));
  EXPECT_EQ(bench.truth().gangs.at(kFirst).phase, GangPhase::ready);
  EXPECT_GT(bench.serving.serving.at(kFirst), at_s(23));
  EXPECT_LE(bench.serving.serving.at(kFirst), at_s(25));
  EXPECT_EQ(bench.cluster.cold_starts().size(), 0u);
  EXPECT_EQ(bench.cluster.meter(at_s(30)).conversions, 1);
  EXPECT_EQ(bench.truth().gangs.size(), 2u) << "no replacement was created";
  EXPECT_EQ(bench.gpu_s(GpuState::starting), 4 * 3);
}

TEST(ClusterConvert, AReplicaMayConvertBack) {
  Bench bench(two_serving());
  bench.run_to(at_s(10));
  bench.cluster.submit(convert(0, 1));
  bench.run_to(at_s(20));
  bench.cluster.submit(convert(1, 0));
  bench.run_to(at_s(30));
  EXPECT_EQ(bench.truth().gangs.at(kFirst).service, model::ServiceId{0});
  EXPECT_EQ(bench.truth().gangs.at(kFirst).ordinal, 0u) << "the lowest free ordinal";
  EXPECT_EQ(bench.truth().services.at({0}).desired_replicas, 2);
  EXPECT_EQ(bench.cluster.meter(at_s(30)).conversions, 2);
}

TEST(ClusterConvert, RequestsAreCutAfterTheGracePeriodAndTheReplicaConverts) {
  ClusterConfig config = two_serving();
  config.termination_grace = seconds(20);
  Changing bench(config);
  bench.run_to(at_s(40));
  EXPECT_EQ(bench.serving.killed_gangs, std::vector{kFirst});
  EXPECT_EQ(bench.serving.interruptions, std::vector{Interruption::grace_over});
  EXPECT_EQ(bench.truth().gangs.at(kFirst).phase, GangPhase::ready);
  EXPECT_EQ(bench.cluster.meter(at_s(40)).drains_cut, 1);
}

TEST(ClusterConvert, AScaleDownDuringAConversionRemovesTheDrainedReplica) {
  Changing bench;
  bench.cluster.submit(action(model::SetReplicas{{1}, 0, {}}));
  bench.run_to(at_s(14));
  EXPECT_EQ(bench.truth().gangs.at(kFirst).phase, GangPhase::draining);
  bench.serving.drains = true;
  bench.run_to(at_s(20));
  EXPECT_EQ(bench.truth().gangs.find(kFirst), nullptr);
}

/// The engine still counts the busy time of the old role. Found by scripts/swarm in world 102:8454.
TEST(ClusterConvert, AReplicaScaledDownDuringAConversionKeepsItsDutyCycle) {
  ClusterConfig config = two_serving();
  config.scrape.interval = seconds(5);
  Changing bench(config);
  bench.cluster.submit(action(model::SetReplicas{{1}, 0, {}}));
  bench.run_to(at_s(18));
  const model::Signal& duty = bench.truth().signals_of(kFirst).duty_cycle_percent;
  ASSERT_TRUE(duty.usable());
  EXPECT_EQ(duty.value, 50);
}

TEST(ClusterConvert, AReplicaEvictedDuringAConversionIsReplacedInItsNewRole) {
  Changing bench;
  bench.cluster.submit(action(model::EvictPod{bench.truth().gangs.at(kFirst).pods.front()}));
  bench.run_to(at_s(20));
  EXPECT_EQ(bench.serving.killed_gangs, std::vector{kFirst});
  std::vector<model::ServiceId> services;
  bench.truth().gangs.for_each([&](model::GangId, const model::Gang& gang) { services.push_back(gang.service); });
  EXPECT_EQ(services, (std::vector<model::ServiceId>{{0}, {1}}));
}

TEST(ClusterConvert, RefusesInvalidConversions) {
  ClusterConfig config = two_serving();
  config.initial.push_back({{1}, 1, false});
  Bench bench(config);
  bench.run_to(at_s(10));
  const struct {
    const char* why;
    model::Action action;
  } rows[] = {
      {"the gang belongs to another service", convert(1, 0)}, {"both services are the same", convert(0, 0)},
      {"the target service does not exist", convert(0, 7)},   {"the gang does not exist", convert(0, 1, {99})},
      {"the gang is not ready", convert(1, 0, {2})},
  };
  for (const auto& row : rows) {
    bench.cluster.submit(row.action);
    bench.run_for(seconds(1));
    const std::vector<ports::Outcome> outcomes = bench.cluster.observe().outcomes;
    ASSERT_EQ(outcomes.size(), 1u) << row.why;
    EXPECT_EQ(outcomes.front().kind, ports::Outcome::Kind::refused) << row.why;
  }
}

}  // namespace
}  // namespace capstan::sim
