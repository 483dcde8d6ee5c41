#include "sim/cluster/cluster.h"

#include <gtest/gtest.h>

#include "sim/cluster/cluster_fixture.h"

namespace capstan::sim {
namespace {

using namespace test;
using Kind = ports::Outcome::Kind;
using GangPhase = model::Gang::Phase;
using ClaimPhase = model::Claim::Phase;

TEST(Latency, ALogNormalDrawIsAtMostTenYears) {
  const Latency wide{std::chrono::nanoseconds(1), std::chrono::hours(24 * 365 * 9), Latency::Shape::log_normal};
  RandomStream stream(1, "test");
  Duration longest{};
  for (int i = 0; i < 1000; ++i) {
    const Duration drawn = wide.draw(stream);
    ASSERT_GE(drawn, Duration{});
    longest = std::max(longest, drawn);
  }
  EXPECT_EQ(longest, std::chrono::years(10));
}

TEST(ClusterStart, TwoNodesShareTheRegistryAndLoadWeightsSeparately) {
  Bench bench(small_config());
  bench.cluster.submit(scale_to(2));
  bench.run_to(at_s(3));  // 0.05 s for the action, 2 s for the pods
  ASSERT_EQ(bench.truth().gangs.size(), 2U);
  bench.cluster.submit(bind_to(bench.truth(), {0}, {0}));
  bench.cluster.submit(bind_to(bench.truth(), {1}, {1}));
  bench.run_to(at_s(300));
  ASSERT_EQ(bench.cluster.cold_starts().size(), 2U);
  const ColdStart& start = bench.cluster.cold_starts()[0];
  EXPECT_EQ(start.bound_at - Instant{}, milliseconds(3'100));
  EXPECT_EQ(start.image_at - start.bound_at, seconds(32));    // 16 GB at half of 1 GB/s
  EXPECT_EQ(start.weights_at - start.image_at, seconds(70));  // 140 GB over a NIC of 2 GB/s; the store is not the limit
  EXPECT_EQ(start.init_at - start.weights_at, seconds(50));
  EXPECT_EQ(start.ready_at - start.init_at, seconds(5));
  EXPECT_EQ(bench.truth().gangs.at({0}).phase, GangPhase::ready);
  EXPECT_EQ(bench.serving.serving.size(), 2U);
  // 4 GPUs each for 157 s; the other half of each node is free.
  EXPECT_EQ(bench.gpu_s(GpuState::starting), 2 * 4 * 157);
}

TEST(ClusterStart, InitialisationAndWarmUpTakeLongerFromTheConfiguredTime) {
  ClusterConfig config = small_config();
  config.starts[0].slower_from = at_s(100);
  config.starts[0].slower_ppm = 3'000'000;
  Bench bench(config);
  bench.cluster.submit(scale_to(1));
  bench.run_to(at_s(3));
  bench.cluster.submit(bind_to(bench.truth(), {0}, {0}));
  bench.run_to(at_s(400));
  ASSERT_EQ(bench.cluster.cold_starts().size(), 1U);
  const ColdStart& start = bench.cluster.cold_starts()[0];
  EXPECT_LT(start.weights_at, at_s(100));
  EXPECT_EQ(start.init_at - start.weights_at, seconds(50)) << "it began in time";
  EXPECT_EQ(start.ready_at - start.init_at, seconds(15)) << "5 s, three times as long";
}

TEST(ClusterStart, ASecondStartOnANodeUsesItsCaches) {
  Bench bench(small_config());
  bench.cluster.submit(scale_to(1));
  bench.run_to(at_s(3));
  bench.cluster.submit(bind_to(bench.truth(), {0}, {0}));
  bench.run_to(at_s(200));
  bench.cluster.submit(scale_to(2));
  bench.run_to(at_s(203));
  bench.cluster.submit(bind_to(bench.truth(), {1}, {0}));
  bench.run_to(at_s(300));
  ASSERT_EQ(bench.cluster.cold_starts().size(), 2U);
  const ColdStart& start = bench.cluster.cold_starts()[1];
  EXPECT_EQ(start.image_at, start.bound_at);
  EXPECT_EQ(start.weights_at - start.image_at, seconds(35));  // from the disk, 4 GB/s
  EXPECT_EQ(start.init_at - start.weights_at, seconds(20));
}

TEST(ClusterStart, ImageAndWeightsContendOnOneNic) {
  ClusterConfig config = small_config();
  config.bandwidth.registry = 10 * kGb;
  config.starts[1].image = 2;  // the other service has another image
  Bench bench(config);
  bench.cluster.submit(scale_to(1));
  bench.run_to(at_s(3));
  bench.cluster.submit(bind_to(bench.truth(), {0}, {0}));
  bench.run_to(at_s(13));  // the image alone took 8 s; its weights load from 11.1 s on
  bench.cluster.submit(scale_to(1, {1}));
  bench.run_to(at_s(16));
  bench.cluster.submit(bind_to(bench.truth(), {1}, {0}, 1));
  bench.run_to(at_s(200));
  // The pull of the second image shares the NIC of 2 GB/s with the weights. Its 16 GB delay them by 8 s, from 70 s to
  // 78 s.
  EXPECT_EQ(bench.cluster.cold_starts().at(0).weights_at - bench.cluster.cold_starts()[0].image_at, seconds(78));
}

TEST(ClusterStart, ASecondReplicaLoadsItsWeightsFromAPeer) {
  ClusterConfig config = small_config();
  config.starts[0].tier = WeightTier::peer;
  config.initial = {{{0}, 1, true}};
  Bench bench(config);
  bench.cluster.submit(scale_to(2));
  bench.run_to(at_s(3));
  bench.cluster.submit(bind_to(bench.truth(), {1}, {1}));
  bench.run_to(at_s(100));
  ASSERT_EQ(bench.cluster.cold_starts().size(), 1U);
  EXPECT_EQ(bench.cluster.cold_starts()[0].weights_at - bench.cluster.cold_starts()[0].image_at, seconds(7));
}

TEST(ClusterStart, AQueueLimitsTheReplicasOfTheStart) {
  ClusterConfig config = small_config();
  model::Catalog catalog = *config.catalog;
  catalog.queues.resize(2);
  catalog.queues[0] = {.name = "all"};
  catalog.queues[0].gpus.limit = whole_gpus(11);
  catalog.queues[1] = {.name = "chat", .parent = {0}};
  catalog.services[0].workload.queue = {1};
  config.catalog = std::make_shared<model::Catalog>(catalog);
  config.initial = {{{0}, 4, true}};
  Bench bench(config);
  bench.run_to(at_s(1));
  std::size_t ready = 0, pending = 0;
  bench.truth().gangs.for_each([&](model::GangId, const model::Gang& gang) {
    ready += gang.phase == GangPhase::ready ? 1 : 0;
    pending += gang.phase == GangPhase::pending ? 1 : 0;
  });
  EXPECT_EQ(ready, 2u) << "each has four GPUs, and eleven are allowed";
  EXPECT_EQ(pending, 2u) << "these wait, as they would for any scheduler that honours the limit";
}

TEST(ClusterGang, APartlyBoundGangHoldsPaidGpus) {
  Bench bench(small_config());
  bench.cluster.submit(scale_to(1, {1}));
  bench.run_to(at_s(3));
  bench.cluster.submit(bind_to(bench.truth(), {0}, {0}, 4));
  bench.run_to(at_s(4));
  bench.cluster.submit(bind_to(bench.truth(), {0}, {1}, 3));
  bench.run_to(at_s(1000));
  EXPECT_EQ(bench.truth().gangs.at({0}).phase, GangPhase::pending);
  EXPECT_EQ(bench.gpu_s(GpuState::held), 8 * 9969 / 10 + 6 * 9959 / 10);  // since 3.1 s and 4.1 s
  EXPECT_EQ(bench.gpu_s(GpuState::starting), 0);
  EXPECT_EQ(bench.cluster.meter(at_s(1000)).gangs_deferred, 1);
  EXPECT_EQ(bench.cluster.meter(at_s(1000)).cold_starts, 0);
  bench.cluster.submit(bind_to(bench.truth(), {0}, {1}));
  bench.run_to(at_s(1001));
  EXPECT_EQ(bench.truth().gangs.at({0}).phase, GangPhase::starting);
}

TEST(ClusterGang, ABindOutsideTheDomainIsRefused) {
  Bench bench(small_config());
  bench.cluster.submit(scale_to(1));
  bench.run_to(at_s(3));
  bench.cluster.submit(bind_to(bench.truth(), {0}, {0}, 2));
  bench.cluster.submit(action(model::BindPods{{0}, {{{2}, {1}}}}));
  bench.run_to(at_s(4));
  const std::vector<ports::Outcome> outcomes = bench.cluster.observe().outcomes;
  ASSERT_EQ(outcomes.size(), 3U);
  EXPECT_EQ(outcomes[1].kind, Kind::applied);
  EXPECT_EQ(outcomes[2].kind, Kind::refused);
  const ClusterMeter meter = bench.cluster.meter(at_s(4));
  EXPECT_EQ(meter.binds_refused_spread, 1);
  EXPECT_EQ(meter.actions[1].asked, 2);
  EXPECT_EQ(meter.actions[1].refused, 1);
  EXPECT_EQ(meter.all_replicas_spread(), 0);
  EXPECT_EQ(meter.refused_by_user[1], std::vector<std::int64_t>{1}) << "a binding of the first service";
}

TEST(ClusterGang, ABindOutsideTheDomainIsAcceptedWithoutEnforcement) {
  ClusterConfig config = small_config();
  config.enforce_together = false;
  Bench bench(config);
  bench.cluster.submit(scale_to(1));
  bench.run_to(at_s(3));
  bench.cluster.submit(bind_to(bench.truth(), {0}, {0}, 2));
  bench.cluster.submit(action(model::BindPods{{0}, {{{2}, {1}}}}));
  bench.run_to(at_s(4));
  EXPECT_EQ(bench.cluster.observe().outcomes.back().kind, Kind::applied);
  const ClusterMeter meter = bench.cluster.meter(at_s(4));
  EXPECT_EQ(meter.replicas_spread, (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(meter.binds_refused_spread, 0);
  EXPECT_EQ(meter.actions[1].asked, 2);
}

TEST(ClusterGang, ABindIsAllOrNothing) {
  ClusterConfig config = small_config();
  config.initial = {{{0}, 1, true}};
  Bench bench(config);
  bench.cluster.submit(scale_to(1, {1}));
  bench.run_to(at_s(3));
  bench.cluster.observe();
  bench.cluster.submit(bind_to(bench.truth(), {1}, {0}, 3));  // 6 GPUs, 4 are free
  bench.run_to(at_s(4));
  const std::vector<ports::Outcome> outcomes = bench.cluster.observe().outcomes;
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].kind, Kind::refused);
  EXPECT_EQ(outcomes[0].why.code, model::ReasonCode::no_node_fits);
  for (model::PodId pod : bench.truth().gangs.at({1}).pods) EXPECT_FALSE(bench.truth().pods.at(pod).node.valid());
}

TEST(ClusterGang, AScaleDownDrainsTheNamedGangsThenTheHighestOrdinals) {
  ClusterConfig config = small_config();
  config.initial = {{{0}, 4, true}};
  Bench bench(config);
  bench.serving.drains = false;
  bench.cluster.submit(action(model::SetReplicas{{0}, 2, {{1}}}));
  bench.run_to(at_s(1));
  EXPECT_EQ(bench.truth().services.at({0}).desired_replicas, 2);
  EXPECT_EQ(bench.truth().gangs.at({1}).phase, GangPhase::draining);
  EXPECT_EQ(bench.truth().gangs.at({3}).phase, GangPhase::draining);
  EXPECT_EQ(bench.truth().gangs.at({0}).phase, GangPhase::ready);
  EXPECT_EQ(bench.truth().pods.at(bench.truth().gangs.at({1}).pods[0]).phase, model::Pod::Phase::terminating);
  bench.run_to(at_s(100));
  EXPECT_EQ(bench.truth().gangs.size(), 4U);
  bench.run_to(at_s(121));  // grace of 120 s
  EXPECT_EQ(bench.truth().gangs.size(), 2U);
  EXPECT_EQ(bench.cluster.meter(at_s(121)).drains_cut, 2);
  EXPECT_EQ(bench.serving.interruptions, std::vector<Interruption>(2, Interruption::grace_over));
  EXPECT_EQ(bench.serving.killed_gangs.size(), 2U);
  EXPECT_EQ(bench.gpu_s(GpuState::draining), 2 * 4 * 120);
}

TEST(ClusterGang, AScaleDownIsRefusedIfAReplicaWasLostBeforeItTookEffect) {
  for (const std::uint32_t lost : {1u, 3u}) {  // the replica to drain, and a replica to keep
    ClusterConfig config = small_config();
    config.initial = {{{0}, 4, true}};
    config.action_latency = std::chrono::seconds(10);
    Bench bench(config);
    bench.cluster.submit(action(model::EvictPod{bench.truth().gangs.at({lost}).pods[0]}));
    bench.cluster.submit(action(model::SetReplicas{{0}, 3, {{1}}}));
    bench.run_to(at_s(11));
    EXPECT_EQ(bench.truth().services.at({0}).desired_replicas, 4);
    const std::vector<ports::Outcome> outcomes = bench.cluster.observe().outcomes;
    ASSERT_EQ(outcomes.size(), 2U);
    EXPECT_EQ(outcomes[1].kind, Kind::refused);
    EXPECT_EQ(outcomes[1].why.code, model::ReasonCode::replicas_lost);
  }
}

TEST(ClusterGang, AReplicaWithoutRequestsEndsAtTheNextPoll) {
  ClusterConfig config = small_config();
  config.initial = {{{0}, 1, true}};
  Bench bench(config);
  bench.cluster.submit(scale_to(0));
  bench.run_to(at_s(2));
  EXPECT_EQ(bench.truth().gangs.size(), 0U);
  EXPECT_TRUE(bench.serving.killed_gangs.empty());
  bench.cluster.submit(scale_to(1));
  bench.run_to(at_s(5));
  EXPECT_EQ(bench.truth().gangs.at({1}).ordinal, 0U);  // the lowest free ordinal
}

TEST(ClusterGang, AnEvictedPodRestartsItsReplica) {
  ClusterConfig config = small_config();
  config.initial = {{{0}, 1, true}};
  Bench bench(config);
  bench.cluster.submit(action(model::EvictPod{{2}}));
  bench.run_to(at_s(1));
  EXPECT_EQ(bench.truth().gangs.size(), 0U);
  EXPECT_EQ(bench.serving.killed_gangs, std::vector<model::GangId>{{0}});
  EXPECT_EQ(bench.serving.interruptions, std::vector<Interruption>{Interruption::eviction});
  bench.run_to(at_s(3));
  EXPECT_EQ(bench.truth().gangs.at({1}).phase, GangPhase::pending);
  EXPECT_EQ(bench.cluster.meter(at_s(3)).killed_by_eviction, 1);
}

TEST(ClusterGang, AnEvictedPodOfAnIncompleteGangIsReplacedAlone) {
  Bench bench(small_config());
  bench.cluster.submit(scale_to(1));
  bench.run_to(at_s(3));
  bench.cluster.submit(bind_to(bench.truth(), {0}, {0}, 2));
  bench.run_to(at_s(4));
  bench.cluster.submit(action(model::EvictPod{{0}}));
  bench.run_to(at_s(5));
  EXPECT_EQ(bench.truth().gangs.at({0}).pods, (std::vector<model::PodId>{{4}, {1}, {2}, {3}}));
  EXPECT_TRUE(bench.truth().pods.at({1}).node.valid());
  EXPECT_EQ(bench.cluster.meter(at_s(5)).disruptions(), 0);
}

TEST(ClusterAction, MayBeRefusedByChanceOrHaveAnUnknownOutcome) {
  ClusterConfig config = small_config();
  config.refused_ppm = 1'000'000;
  Bench refusing(config);
  refusing.cluster.submit(scale_to(3));
  refusing.run_to(at_s(10));
  const ports::Observation seen = refusing.cluster.observe();
  ASSERT_EQ(seen.outcomes.size(), 1U);
  EXPECT_EQ(seen.outcomes[0].kind, Kind::refused);
  EXPECT_EQ(seen.snapshot.services.at({0}).desired_replicas, 0);

  config.refused_ppm = 0;
  config.unknown_ppm = 1'000'000;
  Bench unknown(config);
  for (int i = 0; i < 40; ++i) unknown.cluster.submit(action(model::LaunchNodes{{0}, {1}, {}, 1, {}, {}}));
  unknown.run_to(at_s(10));
  EXPECT_TRUE(unknown.cluster.observe().outcomes.empty());
  unknown.run_to(at_s(11));
  const ports::Observation after = unknown.cluster.observe();
  ASSERT_EQ(after.outcomes.size(), 40U);
  for (const ports::Outcome& outcome : after.outcomes) EXPECT_EQ(outcome.kind, Kind::unknown);
  EXPECT_GT(after.snapshot.claims.size(), 0U);  // some of them took effect
  EXPECT_LT(after.snapshot.claims.size(), 40U);
}

TEST(ClusterNode, AClaimGoesThroughItsPhases) {
  Bench bench(small_config());
  bench.cluster.submit(action(model::LaunchNodes{{0}, {1}, {}, 1, {}, {}}));
  bench.run_to(at_s(1));
  EXPECT_EQ(bench.truth().claims.at({0}).phase, ClaimPhase::requested);
  EXPECT_EQ(bench.truth().claims.at({0}).expected_ready_at - Instant{}, milliseconds(50'050));
  EXPECT_EQ(bench.gpu_s(GpuState::launching), 0);
  bench.run_to(at_s(11));
  EXPECT_EQ(bench.truth().claims.at({0}).phase, ClaimPhase::launched);
  bench.run_to(at_s(60));
  const model::Claim& claim = bench.truth().claims.at({0});
  EXPECT_EQ(claim.phase, ClaimPhase::registered);
  EXPECT_EQ(bench.truth().nodes.at(claim.node).ready_at - Instant{}, milliseconds(50'050));
  EXPECT_EQ(bench.gpu_s(GpuState::launching), 8 * 40);
  bench.cluster.submit(action(model::TerminateNode{claim.node}));
  bench.run_to(at_s(100));
  EXPECT_EQ(bench.truth().claims.size(), 0U);
  EXPECT_EQ(bench.truth().nodes.size(), 2U);
  // The node was bought at 10.05 s, given back at 60.05 s, and gone 30 s later: 80 s at 1 cent/s. The two other nodes
  // are paid for 100 s each.
  EXPECT_EQ(bench.cluster.meter(at_s(100)).total_cost.count, 800'000 + 2'000'000);
}

/// One of two nodes has a replica on half of its GPUs. Only the other node is empty, until the replica ends.
TEST(ClusterNode, TheTimeOfNodesWithoutPodsIsMeasured) {
  ClusterConfig config = small_config();
  config.initial = {{{0}, 1, true}};
  Bench bench(config);
  bench.run_to(at_s(100));
  const auto empty_s = [&] {
    return static_cast<std::int64_t>(bench.cluster.meter(bench.cluster.now()).empty_nodes.gpu_time / 1'000'000'000'000);
  };
  EXPECT_EQ(bench.gpu_s(GpuState::unallocated), 4 * 100 + 8 * 100);
  EXPECT_EQ(empty_s(), 8 * 100);
  EXPECT_EQ(bench.cluster.meter(at_s(100)).empty_nodes.cost.count, 1'000'000);
  bench.cluster.submit(scale_to(0));
  bench.run_to(at_s(200));
  EXPECT_EQ(bench.truth().pods.size(), 0U);
  EXPECT_GT(empty_s(), 8 * 200 + 8 * 97) << "the replica ends at the next poll";
  EXPECT_LT(empty_s(), 8 * 200 + 8 * 100);
}

TEST(ClusterNode, CapacityErrorsAndFullZonesFailTheClaim) {
  ClusterConfig config = small_config();
  config.provider.refused_ppm = {0, 1'000'000, 0};
  Bench bench(config);
  bench.cluster.submit(action(model::LaunchNodes{{0}, {1}, {}, 1, {}, {}}));  // always refused
  bench.cluster.submit(action(model::LaunchNodes{{0}, {0}, {}, 3, {}, {}}));  // two places are left in zone a
  bench.run_to(at_s(11));
  EXPECT_EQ(bench.cluster.meter(at_s(11)).launches_refused, 2);
  EXPECT_EQ(bench.cluster.meter(at_s(11)).launches_without_room, 1);
  EXPECT_EQ(bench.cluster.meter(at_s(11)).launches, 2);
  const ports::Observation once = bench.cluster.observe();
  EXPECT_EQ(once.snapshot.claims.at({0}).phase, ClaimPhase::failed);
  EXPECT_EQ(once.snapshot.claims.size(), 4U);
  const ports::Observation twice = bench.cluster.observe();
  EXPECT_EQ(twice.snapshot.claims.find({0}), nullptr);
  EXPECT_EQ(twice.delta.claims.size(), 2U);
}

TEST(ClusterNode, NodesAreLaunchedInTheRequestedDomain) {
  Bench bench(small_config());
  model::DomainId rack;
  for (std::uint32_t d = 0; d < bench.truth().catalog->domains.size(); ++d) {
    if (bench.truth().catalog->domains[d].name == "b/rack-1") rack = {d};
  }
  bench.cluster.submit(action(model::LaunchNodes{{0}, {1}, rack, 2, seconds(300), {}}));
  bench.run_to(at_s(60));
  for (std::uint32_t node : {2U, 3U}) {
    EXPECT_EQ(bench.truth().nodes.at({node}).domains.domain_at(model::TopologyLevel::rack), rack);
  }
  EXPECT_NE(bench.truth().nodes.at({2}).domains, bench.truth().nodes.at({3}).domains);
}

TEST(ClusterNode, ALaunchAboveThePoolLimitIsRefused) {
  Bench bench(small_config());
  bench.cluster.submit(action(model::LaunchNodes{{0}, {1}, {}, 7, {}, {}}));  // 16 + 56 > 64
  bench.run_to(at_s(1));
  const ports::Observation seen = bench.cluster.observe();
  ASSERT_EQ(seen.outcomes.size(), 1U);
  EXPECT_EQ(seen.outcomes[0].why, (model::Reason{model::ReasonCode::pool_limit, {56, 64, 16}}));
}

TEST(ClusterNode, AGroupIsReleasedAsAWhole) {
  ClusterConfig config = small_config();
  config.provider.driver =
      Latency::between(seconds(0), seconds(100));  // so that the nodes become ready one after the other
  Bench bench(config);
  bench.cluster.submit(action(model::LaunchNodes{{0}, {1}, {}, 3, seconds(60), {}}));
  while (bench.truth().nodes.size() < 3) bench.run_to(bench.cluster.next_event());
  const model::ClaimGroupId group = bench.truth().claims.at({0}).group;
  ASSERT_TRUE(group.valid());
  bench.cluster.submit(action(model::ReleaseGroup{group}));
  bench.run_for(seconds(40));
  EXPECT_EQ(bench.truth().claims.size(), 0U);
  EXPECT_EQ(bench.truth().nodes.size(), 2U);
  EXPECT_EQ(bench.cluster.meter(bench.cluster.now()).nodes_removed, 3);
  bench.cluster.submit(action(model::ReleaseGroup{group}));  // nothing is left to release
  bench.run_for(seconds(1));
  EXPECT_EQ(bench.cluster.observe().outcomes.back().kind, Kind::refused);
}

TEST(ClusterNode, TerminatingANodeKillsItsReplicas) {
  ClusterConfig config = small_config();
  config.initial = {{{0}, 3, true}};
  Bench bench(config);
  bench.cluster.submit(action(model::TerminateNode{{0}}));
  bench.run_to(at_s(5));
  EXPECT_EQ(bench.serving.killed_gangs.size(), 2U);
  EXPECT_EQ(bench.cluster.meter(at_s(5)).killed_by_termination, 2);
  EXPECT_EQ(bench.serving.interruptions, std::vector<Interruption>(2, Interruption::termination));
  EXPECT_EQ(bench.truth().gangs.size(), 3U);  // two of them are replacements that wait
  EXPECT_EQ(bench.truth().gangs.at({4}).phase, GangPhase::pending);
}

TEST(ClusterNode, ASpotNodeIsCordonedBeforeItEnds) {
  ClusterConfig config = small_config();
  config.provider.spot_interruptions_per_million_hours = 3'600'000'000;  // once a second
  config.existing = {{{2}, 1, {0}}};
  config.initial = {{{0}, 1, true}};
  Bench bench(config);
  while (bench.truth().nodes.at({0}).phase == model::Node::Phase::ready) bench.run_to(bench.cluster.next_event());
  EXPECT_EQ(bench.truth().nodes.at({0}).phase, model::Node::Phase::cordoned);
  EXPECT_EQ(bench.truth().gangs.at({0}).phase, GangPhase::ready);
  bench.run_for(seconds(119));
  EXPECT_EQ(bench.truth().nodes.size(), 1U);
  bench.run_for(seconds(1));
  EXPECT_EQ(bench.truth().nodes.size(), 0U);
  EXPECT_EQ(bench.cluster.meter(bench.cluster.now()).killed_by_spot, 1);
}

TEST(ClusterSignals, ChangeOncePerScrapeAndAge) {
  ClusterConfig config = small_config();
  config.initial = {{{0}, 1, true}};
  Bench bench(config);
  bench.run_to(at_s(15));  // scraped, not published
  EXPECT_FALSE(bench.cluster.observe().snapshot.signals_of({0}).waiting.usable());
  bench.run_to(at_s(16));
  const ports::Observation first = bench.cluster.observe();
  EXPECT_EQ(first.snapshot.signals_of({0}).waiting, model::Signal::measured(7, seconds(1)));
  EXPECT_EQ(first.snapshot.signals_of({0}).kv_usage_ppm, model::Signal::measured(250'000, seconds(1)));
  EXPECT_EQ(first.snapshot.signals_of({0}).duty_cycle_percent, model::Signal::measured(50, seconds(1)));
  EXPECT_EQ(first.snapshot.signals_of({0}).ttft_p99_us, model::Signal::measured(120'000, seconds(1)));
  EXPECT_EQ(first.snapshot.services.at({0}).gateway_waiting, model::Signal::measured(7, seconds(1)));
  bench.serving.waiting = 9;
  bench.run_to(at_s(30));
  EXPECT_TRUE(bench.cluster.observe().delta.empty());
  bench.run_to(at_s(31));
  EXPECT_EQ(bench.cluster.observe().snapshot.signals_of({0}).waiting.value, 9);
}

TEST(ClusterSignals, LostScrapesMakeValuesStaleAndThenMissing) {
  ClusterConfig config = small_config();
  config.initial = {{{0}, 1, true}};
  config.scrape.loss_ppm = 950'000;
  config.scrape.stale_after = seconds(30);
  config.scrape.missing_after = seconds(60);
  Bench bench(config, 3);
  std::set<model::Signal::State> states;
  for (int i = 0; i < 400; ++i) {
    bench.run_for(seconds(15));
    const model::Signal signal = bench.cluster.observe().snapshot.signals_of({0}).waiting;
    states.insert(signal.state);
    const bool young = signal.age <= seconds(30);
    EXPECT_TRUE(signal.state == model::Signal::State::missing || young == signal.usable());
  }
  EXPECT_EQ(states.size(), 3U);
}

TEST(ClusterSignals, AgeDuringABlackout) {
  ClusterConfig config = small_config();
  config.initial = {{{0}, 1, true}};
  config.scrape.blackout = seconds(120);
  config.scrape.blackout_every = seconds(300);
  Bench bench(config);
  const auto age_at = [&](std::int64_t second) {
    bench.run_to(at_s(second));
    return bench.cluster.observe().snapshot.signals_of({0}).waiting.age;
  };
  EXPECT_EQ(age_at(299), seconds(1)) << "not before it is due for the first time";
  EXPECT_GE(age_at(419), seconds(119));
  EXPECT_LE(age_at(422), seconds(1)) << "the first scrape behind it";
}

TEST(ClusterSignals, AStartingReplicaHasNoSignals) {
  Bench bench(small_config());
  bench.cluster.submit(scale_to(1));
  bench.run_to(at_s(3));
  bench.cluster.submit(bind_to(bench.truth(), {0}, {0}));
  bench.run_to(at_s(100));
  EXPECT_EQ(bench.truth().gangs.at({0}).phase, GangPhase::starting);
  EXPECT_EQ(bench.truth().signals_of({0}).waiting.state, model::Signal::State::missing);
}

}  // namespace
}  // namespace capstan::sim
