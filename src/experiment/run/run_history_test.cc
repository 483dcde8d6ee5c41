// Goal: the history says where every GPU of a run was. Method: runs of small scenarios, whose history must add up to
// the GPU time that the run paid for, and hand-made observations for the bounds.
#include "experiment/run/run_history.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "experiment/run/testing.h"

namespace capstan::experiment {
namespace {

/// Gangs of four pods on nodes of eight GPUs. The load rises so far that nodes are bought and the pool's limit is
/// reached.
constexpr const char* kRise = R"(
name: rise
load:
  generator:
    rate: {kind: spike, rate: 1, peak: 12, start: 5m, length: 15m}
    input: {kind: log_normal, tokens: 700, sigma: 0.8, max: 8000}
    output: {kind: log_normal, tokens: 200, sigma: 0.8, max: 1000}
  duration: 40m
service:
  model: Llama-3.3-70B
  gpu: H100
  tensor_parallel: 4
  pods_per_replica: 4
  together: node
  slo: {ttft: 2s, tpot: 60ms}
  replicas: {min: 1, max: 8, initial: 1}
  engine_settings: {max_seqs: 8}
cluster:
  pools: [{name: h100, gpu_limit: 16, offerings: [{instance: p5.48xlarge}]}]
  existing: [{instance: p5.48xlarge, count: 1, pool: h100}]
policies:
  - {name: queue, scale: {policy: queue_hpa, waiting_per_replica: 2, running_per_replica: 6}, place: gang,
     provision: {policy: group, consolidation: {policy: when_empty, after: 2m}}}
)";

TEST(RunHistory, EveryStepHasTheArithmeticOfItsDecision) {
  const RunResult run = run_with_history(kRise);
  ASSERT_GT(run.scale_steps.size(), 3u);
  for (const ScaleStep& step : run.scale_steps) {
    EXPECT_TRUE(step.arithmetic.starts_with("service: ")) << step.arithmetic;
  }
}

TEST(RunHistory, NodesAddUpToThePaidTime) {
  const RunResult run = run_with_history(kRise);
  ASSERT_TRUE(run.history);
  double gpu_s = 0;
  for (const NodeHistory& node : run.history->nodes) {
    const Instant from = node.launched_at.is_never() ? Instant{} : node.launched_at;
    const Instant until = std::min(node.ended_at, Instant{run.simulated});
    gpu_s += static_cast<double>(node.gpus) * std::chrono::duration<double>(until - from).count();
  }
  const double paid_s = static_cast<double>(run.paid_gpu_ns()) / 1e9;
  EXPECT_GT(run.history->nodes.size(), 1u);
  EXPECT_NEAR(gpu_s, paid_s, 0.02 * paid_s) << "the history knows moments to one period of the control loop";
  EXPECT_EQ(run.history->left_out, 0);
}

TEST(RunHistory, GpuTimeOfPodsIsThePaidTimeWithoutLaunchingAndUnallocated) {
  const RunResult run = run_with_history(kRise);
  double held_s = 0;
  for (const GangHistory& gang : run.history->gangs) {
    EXPECT_EQ(gang.gpus, whole_gpus(4));
    for (const GangHistory::PodGpus& held : gang.held) {
      const Instant until = std::min(held.until, Instant{run.simulated});
      held_s += static_cast<double>(held.gpus.count) / 1e3 * std::chrono::duration<double>(until - held.from).count();
    }
  }
  const GpuNanoseconds empty = run.gpu_ns[static_cast<std::size_t>(GpuState::launching)] +
                               run.gpu_ns[static_cast<std::size_t>(GpuState::unallocated)];
  const double expected_s = static_cast<double>(run.paid_gpu_ns() - empty) / 1e9;
  EXPECT_NEAR(held_s, expected_s, 0.02 * expected_s);
}

TEST(RunHistory, AGangThatWaitsHasAReason) {
  const RunResult run = run_with_history(kRise);
  const auto waited = std::ranges::find_if(run.history->gangs, [](const GangHistory& gang) {
    return std::ranges::any_of(gang.waits, [](const auto& wait) { return wait.reason == "shortfall"; });
  });
  ASSERT_NE(waited, run.history->gangs.end());
  EXPECT_NE(waited->waits.front().sentence.find("the gang is short of"), std::string::npos);
  const bool limited = std::ranges::any_of(run.history->gangs, [](const GangHistory& gang) {
    return std::ranges::any_of(gang.waits, [](const auto& wait) {
      return wait.supply.find("would exceed the limit of") != std::string::npos;
    });
  });
  EXPECT_TRUE(limited) << "the pool may have two machines, and eight replicas are wanted";
}

TEST(RunHistory, StartsAreThoseOfTheRun) {
  const RunResult run = run_with_history(kRise);
  EXPECT_EQ(static_cast<std::int64_t>(run.history->starts.size()), run.cold_starts);
  EXPECT_GT(run.cold_starts, 1);
}

TEST(RunHistory, IsOptionalAndDoesNotChangeTheResult) {
  const auto scenario = scenario::parse_scenario(kRise, CAPSTAN_SOURCE_DIR "/rise.yaml", {});
  ASSERT_TRUE(scenario);
  const RunResult without = run(*scenario, scenario->policies.front(), 1).value();
  EXPECT_FALSE(without.history);
  EXPECT_EQ(without.state_hash, run_with_history(kRise).state_hash);
}

/// An observation of one replica of one pod.
ports::Observation seen(Instant at, model::Gang gang, model::Pod pod) {
  static const auto kCatalog = std::make_shared<const model::Catalog>();
  ports::Observation observation;
  observation.snapshot.at = at;
  observation.snapshot.catalog = kCatalog;
  observation.snapshot.gangs.set(model::GangId{0}, std::move(gang));
  observation.snapshot.pods.set(model::PodId{0}, std::move(pod));
  observation.delta.gangs = {model::GangId{0}};
  observation.delta.pods = {model::PodId{0}};
  return observation;
}

TEST(RunHistory, AReplicaThatChangesItsServiceBeginsAnotherHistory) {
  model::Gang gang{
      .phase = model::Gang::Phase::ready, .service = {0}, .pods = {model::PodId{0}}, .spec = {}, .created_at = {}};
  const model::Pod pod{
      .phase = model::Pod::Phase::ready, .gang = {0}, .gpus = whole_gpus(1), .node = {3}, .created_at = {}};
  const sim::ClusterConfig config;
  HistoryRecorder recorder(config);
  recorder.note(seen(Instant{}, gang, pod));
  gang.service = {1};
  const Instant later{std::chrono::minutes(1)};
  recorder.note(seen(later, gang, pod));
  const RunHistory history = std::move(recorder).take({});
  ASSERT_EQ(history.gangs.size(), 2u);
  EXPECT_EQ(history.gangs[0].ended_at, later);
  EXPECT_EQ(history.gangs[0].held.at(0).until, later);
  EXPECT_EQ(history.gangs[1].user, 1u);
  ASSERT_EQ(history.gangs[1].held.size(), 1u);
  EXPECT_EQ(history.gangs[1].held[0].node, 3u);
  EXPECT_EQ(history.gangs[1].held[0].from, later);
}

TEST(RunHistory, AReplicaNeedsTheGpusOfAllItsPodSets) {
  model::Gang gang{
      .phase = model::Gang::Phase::pending, .service = {0}, .pods = {model::PodId{0}}, .spec = {}, .created_at = {}};
  gang.spec.pods = {.gpu = {0}, .count = 2, .gpus_per_pod = whole_gpus(8)};
  gang.spec.other_pods = {{.gpu = {0}, .count = 3, .gpus_per_pod = whole_gpus(2)}};
  const sim::ClusterConfig config;
  HistoryRecorder recorder(config);
  recorder.note(seen(Instant{}, gang, {.phase = {}, .gang = {0}, .gpus = whole_gpus(8), .node = {}, .created_at = {}}));
  const RunHistory history = std::move(recorder).take({});
  ASSERT_EQ(history.gangs.size(), 1u);
  EXPECT_EQ(history.gangs[0].gpus, whole_gpus(22));
}

TEST(RunHistory, DropsWhatHasEndedAndGoesOn) {
  HistoryRecorder recorder([](const model::Gang& gang) { return std::size_t{gang.service.value}; });
  model::Snapshot now;
  now.catalog = std::make_shared<const model::Catalog>();
  now.nodes.set(model::NodeId{0}, {});
  now.nodes.set(model::NodeId{1}, {});
  for (std::uint32_t id = 0; id < 2; ++id) {
    now.gangs.set(model::GangId{id}, {.service = {id}, .pods = {}, .spec = {}, .created_at = {}});
  }
  model::Names names;
  names.nodes.set(model::NodeId{1}, "node-b");
  model::Delta all;
  all.nodes = {{0}, {1}};
  all.gangs = {{0}, {1}};
  recorder.note_rows(now, all, &names);
  now.at = Instant{std::chrono::seconds(5)};
  now.nodes.erase(model::NodeId{0});
  now.gangs.erase(model::GangId{0});
  recorder.note_rows(now, all, &names);
  EXPECT_EQ(recorder.history().nodes.at(0).ended_at, now.at);
  recorder.drop_ended(now);
  ASSERT_EQ(recorder.history().nodes.size(), 1u);
  EXPECT_EQ(recorder.history().nodes[0].name, "node-b");
  ASSERT_EQ(recorder.history().gangs.size(), 1u);
  EXPECT_EQ(recorder.history().gangs[0].user, 1u);
  now.nodes.erase(model::NodeId{1});
  recorder.note_rows(now, all, &names);
  EXPECT_EQ(recorder.history().nodes[0].ended_at, now.at);
  EXPECT_EQ(recorder.history().nodes[0].revision, 3);
}

TEST(RunHistory, ANodeOfAnUnknownPriceHasNoPrice) {
  HistoryRecorder recorder([](const model::Gang&) { return std::size_t{0}; });
  auto catalog = std::make_shared<model::Catalog>();
  catalog->offerings.resize(2);
  catalog->offerings[1].price_per_hour = MicroUsd{2'400'000};
  model::Snapshot now;
  now.catalog = catalog;
  model::Delta all;
  for (std::uint32_t id = 0; id < 2; ++id) {
    model::Node node;
    node.offering = {id};
    now.nodes.set(model::NodeId{id}, node);
    all.nodes.push_back({id});
  }
  recorder.note_rows(now, all);
  ASSERT_EQ(recorder.history().nodes.size(), 2u);
  EXPECT_EQ(recorder.history().nodes[0].per_hour, std::nullopt);
  EXPECT_EQ(recorder.history().nodes[1].per_hour, MicroUsd{2'400'000});
}

TEST(RunHistory, TheStepsOfAReplicaAreBounded) {
  model::Gang gang{.phase = model::Gang::Phase::ready, .service = {0}, .pods = {}, .spec = {}, .created_at = {}};
  const sim::ClusterConfig config;
  HistoryRecorder recorder(config);
  for (int i = 0; i < 1000; ++i) {
    gang.phase = i % 2 == 0 ? model::Gang::Phase::ready : model::Gang::Phase::sleeping;
    recorder.note(seen(Instant{std::chrono::seconds(i)}, gang, {}));
  }
  const RunHistory history = std::move(recorder).take(std::vector<sim::ColdStart>(RunHistory::kMaxRows + 5));
  EXPECT_EQ(history.gangs.at(0).steps.size(), RunHistory::kMaxSteps);
  EXPECT_EQ(history.starts.size(), RunHistory::kMaxRows);
  EXPECT_EQ(history.left_out, 5);
}

}  // namespace
}  // namespace capstan::experiment
