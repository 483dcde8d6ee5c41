#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_fixture.h"

namespace capstan::sim {
namespace {

using namespace test;

constexpr model::ServiceId kSmall{0};
constexpr model::ServiceId kSmallCopy{1};  ///< its replicas equal the replicas of `kSmall`
constexpr model::ServiceId kLarge{2};

/// Returns a configuration in which every kind of fault happens at times.
ClusterConfig hostile_config() {
  ClusterConfig config = convertible_config();
  config.existing = {{{0}, 1, {0}}, {{2}, 1, {0}}};
  config.initial = {{kSmall, 2, true}, {kLarge, 1, true}};
  config.starts[0].sleep = {2, seconds(200), Latency::between(seconds(2), seconds(6))};
  config.provider.scatter = true;
  config.provider.decision = Latency::between(seconds(2), seconds(20));
  config.provider.boot = {seconds(20), seconds(60), Latency::Shape::log_normal};
  config.provider.refused_ppm = {200'000, 200'000, 200'000};
  config.provider.spot_interruptions_per_million_hours = 20'000'000;
  config.pod_creation = Latency::between(seconds(1), seconds(8));
  config.termination_grace = seconds(20);
  config.refused_ppm = 50'000;
  config.unknown_ppm = 50'000;
  config.scrape.loss_ppm = 100'000;
  config.job_classes = {{.name = "train",
                         .gpu = {0},
                         .required_level = model::TopologyLevel::rack,
                         .queue = {},
                         .start = Latency::between(seconds(5), seconds(20)),
                         .checkpoint_every = seconds(30)}};
  for (int i = 0; i < 12; ++i) config.jobs.push_back({at_s(40 * i), 0, 1 + i % 3, whole_gpus(2), seconds(90 + 20 * i)});
  return config;
}

/// Returns the id of a row of the table, or at times an id that never existed.
template <typename IdType, typename T>
IdType some_row(const SharedTable<IdType, T>& table, RandomStream& draws) {
  std::vector<IdType> ids{{99'999}};
  table.for_each([&](IdType id, const T&) { ids.push_back(id); });
  return ids[draws.below(ids.size())];
}

/// Returns a random action. Many of them are valid.
model::Action some_action(const model::Snapshot& seen, RandomStream& draws) {
  switch (draws.below(9)) {
    case 0: {
      // One draw per line, so that the order of the draws is defined.
      const model::ServiceId service = draws.below(2) == 0 ? kSmall : kLarge;
      const auto replicas = static_cast<ReplicaCount>(draws.below(6));
      return scale_to(replicas, service);
    }
    case 1: {
      model::SetReplicas lower{{0}, static_cast<ReplicaCount>(draws.below(3)), {}};
      seen.gangs.for_each([&](model::GangId id, const model::Gang&) {
        if (draws.below(3) == 0) lower.drain.push_back(id);
      });
      return action(lower);
    }
    case 2: {
      const std::uint32_t zone = static_cast<std::uint32_t>(draws.below(3));
      return action(model::LaunchNodes{{0}, {zone}, {}, draws.between(0, 3), seconds(60 * draws.below(2)), {}});
    }
    case 3:
      return action(model::ReleaseGroup{{static_cast<std::uint32_t>(draws.below(4))}});
    case 4:
      if (draws.below(4) > 0) break;
      return action(model::TerminateNode{some_row(seen.nodes, draws)});
    case 5:
      if (draws.below(4) > 0) break;
      return action(model::EvictPod{some_row(seen.pods, draws)});
    case 6: {
      const model::GangId gang = some_row(seen.gangs, draws);
      const model::ServiceId from = seen.gangs.find(gang) == nullptr ? kSmall : seen.gangs.at(gang).service;
      // A large replica is asked to convert to its own service, which the cluster refuses.
      const model::ServiceId to = from == kSmall ? kSmallCopy : from == kSmallCopy ? kSmall : from;
      return action(model::ConvertReplica{gang, from, to});
    }
    default:
      break;
  }
  // Some pods of a pending gang are bound to a random node.
  std::vector<model::GangId> pending;
  seen.gangs.for_each([&](model::GangId id, const model::Gang& gang) {
    if (gang.phase == model::Gang::Phase::pending) pending.push_back(id);
  });
  std::vector<model::NodeId> nodes;
  seen.nodes.for_each([&](model::NodeId id, const model::Node&) { nodes.push_back(id); });
  if (pending.empty() || nodes.empty()) return scale_to(4);
  const model::NodeId node = nodes[draws.below(nodes.size())];
  const std::size_t pods = 1 + draws.below(8);
  return bind_to(seen, pending[draws.below(pending.size())], node, pods);
}

template <typename IdType, typename T>
void apply(SharedTable<IdType, T>& old, const SharedTable<IdType, T>& now, const std::vector<IdType>& changed) {
  for (std::size_t i = 0; i < changed.size(); ++i) {
    // The parentheses are needed: the macro overloads ||, and without them both operands would be evaluated.
    RC_ASSERT((i == 0 || changed[i - 1] < changed[i]));
    const T* row = now.find(changed[i]);
    row != nullptr ? old.set(changed[i], *row) : old.erase(changed[i]);
  }
}

struct Run {
  std::uint64_t hash = 0;
  std::int64_t observations = 0;
  ClusterMeter total;
};

/// Runs `steps` random actions, ten seconds apart on average, and checks the cluster after every event.
Run run(std::uint64_t seed, int steps) {
  Bench bench(hostile_config(), seed);
  bench.serving.drains = seed % 2 == 0;
  RandomStream draws(seed, "test.actions");
  model::Snapshot copy;
  Run result;
  GpuTime paid_before = 0;
  for (int i = 0; i < steps; ++i) {
    bench.run_for(milliseconds(draws.between(0, 20'000)));
    const ports::Observation seen = bench.cluster.observe();
    RC_ASSERT(seen.delta.from_version == copy.version);
    apply(copy.services, seen.snapshot.services, seen.delta.services);
    apply(copy.nodes, seen.snapshot.nodes, seen.delta.nodes);
    apply(copy.claims, seen.snapshot.claims, seen.delta.claims);
    apply(copy.gangs, seen.snapshot.gangs, seen.delta.gangs);
    apply(copy.pods, seen.snapshot.pods, seen.delta.pods);
    apply(copy.signals, seen.snapshot.signals, seen.delta.signals);
    copy.at = seen.snapshot.at;
    copy.version = seen.snapshot.version;
    RC_ASSERT(model::state_hash(copy) == model::state_hash(seen.snapshot));
    // Each value is at least as old as the delay from its scrape to its publication.
    seen.snapshot.signals.for_each([&](model::GangId, const model::ReplicaSignals& signals) {
      const model::Signal& waiting = signals.waiting;
      RC_ASSERT((waiting.state == model::Signal::State::missing || waiting.age >= seconds(1)));
    });
    const ClusterMeter total = bench.cluster.meter(bench.cluster.now() + seconds(5));
    GpuTime sum = 0;
    std::int64_t cost = 0;
    for (std::size_t s = 0; s < kGpuStates; ++s) {
      sum += total.gpu_time[s];
      cost += total.cost[s].count;
    }
    RC_ASSERT(sum == total.paid_gpu_time);
    RC_ASSERT(cost == total.total_cost.count);
    RC_ASSERT(total.paid_gpu_time >= paid_before);
    paid_before = bench.cluster.meter(bench.cluster.now()).paid_gpu_time;
    bench.cluster.submit(some_action(seen.snapshot, draws));
    ++result.observations;
  }
  result.hash = bench.cluster.state_hash();
  result.total = bench.cluster.meter(bench.cluster.now());
  return result;
}

RC_GTEST_PROP(ClusterProperty, ConservesGpuTimeAndMoneyUnderAnyActions, (std::uint64_t seed)) {
  const Run first = run(seed, 120);
  const Run second = run(seed, 120);
  RC_ASSERT(first.hash == second.hash);
}

TEST(ClusterProperty, RandomRunsCoverEveryKindOfEvent) {
  ClusterMeter sum;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    const ClusterMeter total = run(seed, 120).total;
    sum.launches += total.launches;
    sum.launches_refused += total.launches_refused;
    sum.killed_by_eviction += total.killed_by_eviction;
    sum.killed_by_spot += total.killed_by_spot;
    sum.killed_by_termination += total.killed_by_termination;
    sum.drains_cut += total.drains_cut;
    sum.cold_starts += total.cold_starts;
    sum.conversions += total.conversions;
    sum.wakes += total.wakes;
    sum.gangs_deferred += total.gangs_deferred;
    sum.actions_unknown += total.actions_unknown;
    for (std::size_t s = 0; s < kGpuStates; ++s) sum.gpu_time[s] += total.gpu_time[s];
  }
  for (std::int64_t n :
       {sum.launches, sum.launches_refused, sum.killed_by_eviction, sum.killed_by_spot, sum.killed_by_termination,
        sum.drains_cut, sum.cold_starts, sum.conversions, sum.wakes, sum.gangs_deferred, sum.actions_unknown}) {
    EXPECT_GT(n, 0);
  }
  for (GpuTime time : sum.gpu_time) EXPECT_GT(time, 0);
}

TEST(ClusterProperty, SeedsDiffer) { EXPECT_NE(run(1, 60).hash, run(2, 60).hash); }

}  // namespace
}  // namespace capstan::sim
