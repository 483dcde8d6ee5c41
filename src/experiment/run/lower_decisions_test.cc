// Goal: a report names the candidates of placement and of provisioning. Method: runs of a small scenario whose load
// rises beyond the nodes that exist.
#include "experiment/run/lower_decisions.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "experiment/run/testing.h"

namespace capstan::experiment {
namespace {

constexpr const char* kGrowing = R"(
name: growing
load:
  generator: {rate: {kind: spike, rate: 1, peak: 12, start: 5m, length: 10m}, input: 700, output: 200}
  duration: 25m
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
  pools:
  - {name: h100, gpu_limit: 32, offerings: [{instance: p5.48xlarge, usd_per_hour: 10}]}
  - {name: dear, gpu_limit: 32, offerings: [{instance: p5.48xlarge, usd_per_hour: 20}]}
  existing: [{instance: p5.48xlarge, count: 1, pool: h100}]
policies:
  - {name: queue, scale: {policy: queue_hpa, waiting_per_replica: 2, running_per_replica: 6}, place: gang,
     provision: group}
)";

bool mentions(const std::string& text, const char* words) { return text.find(words) != text.npos; }

TEST(LowerDecisions, OfARunNameTheirCandidates) {
  const RunResult run = run_with_history(kGrowing);
  ASSERT_TRUE(run.history);
  std::int64_t waits = 0, launches = 0, binds = 0;
  for (const auto& [decided, user] : run.history->decisions) {
    if (mentions(decided.action, " waits: ")) {
      ++waits;
      EXPECT_EQ(decided.layer, LowerDecision::Layer::place);
      EXPECT_TRUE(mentions(decided.arithmetic, "inside one node")) << decided.arithmetic;
      EXPECT_TRUE(mentions(decided.arithmetic, ": rejected")) << decided.arithmetic;
      EXPECT_EQ(user, 0u);
      EXPECT_EQ(decided.gpus, 4);
    } else if (decided.action.starts_with("launch")) {
      ++launches;
      EXPECT_EQ(decided.layer, LowerDecision::Layer::provision);
      EXPECT_TRUE(mentions(decided.arithmetic, "of pool h100 for 10.00 USD/h: chosen")) << decided.arithmetic;
      EXPECT_TRUE(mentions(decided.arithmetic, "of pool dear for 20.00 USD/h: rejected")) << decided.arithmetic;
      EXPECT_EQ(decided.gpus, 8);
    } else if (decided.action.starts_with("bind")) {
      ++binds;
      EXPECT_TRUE(mentions(decided.arithmetic, ": chosen")) << decided.arithmetic;
      EXPECT_TRUE(decided.object.starts_with("gang ")) << decided.object;
    }
  }
  EXPECT_GT(waits, 0);
  EXPECT_GT(launches, 0);
  EXPECT_GT(binds, 0);
  EXPECT_TRUE(
      std::ranges::is_sorted(run.history->decisions, {}, [](const HistoryDecision& one) { return one.decided.at; }));
  EXPECT_EQ(run.history->decisions_left_out, 0);
}

TEST(SignalMinutes, OfARunHaveTheAgeOfTheReadings) {
  const RunResult run = run_with_history(kGrowing);
  ASSERT_TRUE(run.history);
  const std::vector<SignalMinute>& signals = run.history->signals;
  ASSERT_GE(signals.size(), 20u);
  EXPECT_TRUE(std::ranges::any_of(signals, [](const SignalMinute& one) { return one.oldest > Duration{}; }));
  EXPECT_TRUE(std::ranges::all_of(signals, [](const SignalMinute& one) { return one.silent <= 8; }));
}

}  // namespace
}  // namespace capstan::experiment
