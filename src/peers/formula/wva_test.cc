#include <gtest/gtest.h>

#include <array>

#include "peers/formula/wva_optimizer.h"
#include "peers/formula/wva_queue.h"
#include "peers/formula/wva_saturation.h"

namespace capstan::peers::wva {
namespace {

std::vector<ReplicaLoad> loads(std::int64_t busy, std::int64_t idle, double kv, double queue) {
  std::vector<ReplicaLoad> all(static_cast<std::size_t>(busy), ReplicaLoad{"v", 0.95, 8});
  all.insert(all.end(), static_cast<std::size_t>(idle), ReplicaLoad{"v", kv, queue});
  return all;
}

TEST(WvaV1, Saturation) {
  struct Row {
    const char* what;
    std::vector<ReplicaLoad> loads;
    bool up, down_safe;
  };
  const Row rows[] = {
      {"no replica", {}, false, false},
      {"KV is short", loads(0, 2, 0.75, 0), true, false},
      {"the queue is long", loads(0, 2, 0.1, 3), true, false},
      {"one replica fewer suffices", loads(0, 4, 0.2, 0), false, true},
      {"the last replica stays", loads(0, 1, 0.2, 0), false, false},
      {"all saturated", loads(3, 0, 0, 0), true, false},
      {"scales down although a third is saturated", loads(2, 4, 0.1, 0), false, true},
      {"exactly the required spare capacity, lost by rounding the mean", {{"v", 0.3, 1}, {"w", 0.4, 1}}, false, false},
  };
  for (const Row& row : rows) {
    const Saturation saturation = analyze_v1({}, row.loads);
    EXPECT_EQ(saturation.scale_up, row.up) << row.what;
    EXPECT_EQ(saturation.scale_down_safe, row.down_safe) << row.what;
  }
}

TEST(WvaV1, Targets) {
  const std::vector<VariantState> still = {{"b", 5, 2, 2, 0}, {"a", 5, 2, 2, 2}, {"expensive", 20, 1, 1, 0}};
  using Counts = std::vector<ReplicaCount>;
  EXPECT_EQ(targets_v1(true, false, still), (Counts{2, 3, 1})) << "the cheapest, ordered by name among equals";
  EXPECT_EQ(targets_v1(false, true, still), (Counts{1, 2, 1}))
      << "the most expensive variant with more than one replica";
  EXPECT_EQ(targets_v1(false, false, still), (Counts{2, 2, 1}));
  std::vector<VariantState> moving = still;
  moving[0].desired = 4;
  EXPECT_EQ(targets_v1(true, false, moving), (Counts{4, 2, 1})) << "one variant in transition blocks all changes";
  std::vector<VariantState> starting = still;
  starting[1].pending = 1;
  EXPECT_EQ(targets_v1(true, false, starting), (Counts{3, 2, 1})) << "a variant with pending replicas gets no more";
  std::vector<VariantState> silent = still;
  silent[2].reporting = 0;
  EXPECT_EQ(targets_v1(true, false, silent), (Counts{2, 2, 1}));
}

ReplicaTokens replica(std::int64_t in_use, std::int64_t queue, double input = 100, double output = 50) {
  return {"v", "H100", in_use, 16000, queue, input, output, 0};
}

TEST(WvaV2, CapacityOfAReplica) {
  AnalyzerV2 analyzer;
  const std::vector<VariantReplicas> one = {{"v", 1, 0}};
  const auto capacity = [&](const ReplicaTokens& loaded) {
    return analyzer.analyze({}, std::array{loaded}, one, {}).per_replica_capacity.at("v");
  };
  EXPECT_EQ(capacity(replica(5000, 0)), 12800) << "limited by the KV cache";
  EXPECT_EQ(capacity(replica(8000, 6)), 8000) << "the tokens it holds while its queue is long";
  EXPECT_EQ(capacity(replica(4000, 5)), 4000) << "its own value, not the mean";
  EXPECT_EQ(capacity(replica(100, 0)), 6000) << "without a queue, the mean of the history";
  EXPECT_EQ(capacity(replica(100, 0, 100, 600)), 12800) << "outputs of another length have another history";
  const SaturationConfig fraction{.queue_threshold = 5.9};
  EXPECT_EQ(analyzer.analyze(fraction, std::array{replica(3000, 5)}, one, {}).per_replica_capacity.at("v"), 3000)
      << "the threshold is truncated to an integer";
}

TEST(WvaV2, ReplicasAreReadInOrder) {
  AnalyzerV2 analyzer;
  const auto model_row = [](const char* variant, std::int64_t in_use, std::int64_t queue) {
    ReplicaTokens made = replica(in_use, queue);
    made.variant = variant;
    return made;
  };
  const std::array all = {model_row("v", 8000, 9), model_row("w", 100, 0), model_row("v", 4000, 9),
                          model_row("unrequested", 9000, 0)};
  const std::vector<VariantReplicas> variants = {{"v", 2, 0}, {"w", 1, 0}};
  const Supply supply = analyzer.analyze({}, all, variants, {});
  EXPECT_EQ(supply.per_replica_capacity, (std::map<std::string, std::int64_t>{{"v", 6000}, {"w", 8000}}))
      << "the third is not in the history when the second is read";
  EXPECT_EQ(supply.demand, 8900 + 100 + 4900) << "the fourth's variant was not requested";
  const Supply later = analyzer.analyze({}, {}, std::array{VariantReplicas{"v", 0, 0}}, {});
  EXPECT_EQ(later.per_replica_capacity.at("v"), 4000) << "the last replica's value is stored, not the median";
}

TEST(WvaV2, AReplicaWithAnUnknownKvCacheIsIgnored) {
  AnalyzerV2 analyzer;
  ReplicaTokens unknown = replica(9000, 3);
  unknown.total_kv_tokens = 0;
  const std::array two = {replica(5000, 0), unknown};
  const Supply supply = analyzer.analyze({}, two, std::array{VariantReplicas{"v", 2, 0}}, {});
  EXPECT_EQ(supply.per_replica_capacity.at("v"), 12800);
  EXPECT_EQ(supply.demand, 5000);
}

TEST(WvaV2, AThresholdOfZeroDisablesItsDirection) {
  AnalyzerV2 analyzer;
  const SaturationConfig off{.scale_up_threshold = 0, .scale_down_boundary = 0};
  const std::vector<VariantReplicas> one = {{"v", 1, 0}};
  EXPECT_EQ(analyzer.analyze(off, std::array{replica(20000, 0)}, one, {}).required, 0);
  EXPECT_EQ(analyzer.analyze(off, std::array{replica(100, 0)}, one, {}).spare, 0);
}

TEST(WvaV2, CapacityWithoutAReplica) {
  AnalyzerV2 analyzer;
  analyzer.store("x", {"A100", 1, false, 8192, 30000, 8192, 256, ""});
  analyzer.store("y", {"A100", 1, true, 700, 0, 0, 0, "other"});
  const std::vector<VariantReplicas> variants = {{"v", 1, 0}, {"x", 0, 0}, {"y", 0, 0}, {"z", 0, 0}};
  Supply supply = analyzer.analyze({}, std::array{replica(5000, 0, 500, 100)}, variants, {});
  EXPECT_EQ(supply.per_replica_capacity["x"], 24000) << "derived from its parameters, bounded by its KV cache";
  EXPECT_EQ(supply.per_replica_capacity["y"], 700) << "as measured";
  EXPECT_EQ(supply.per_replica_capacity["z"], 0);
  analyzer.store("y", {"A100", 1, true, 700, 0, 0, 0, ""});
  supply = analyzer.analyze({}, std::array{replica(5000, 0, 500, 100)}, variants, {});
  EXPECT_EQ(supply.per_replica_capacity["x"], 24000) << "a record with unknown parameters is not comparable";
  analyzer.store("y", {"A100", 1, true, 700, 0, 8192, 256, ""});
  supply = analyzer.analyze({}, std::array{replica(5000, 0, 500, 100)}, variants, {});
  EXPECT_EQ(supply.per_replica_capacity["x"], 700) << "bounded by a comparable measured record";
  supply = analyzer.analyze({}, std::array{replica(5000, 0, 0, 0)}, variants, {});
  EXPECT_EQ(supply.per_replica_capacity["x"], 8192) << "without lengths the stored value";
  analyzer.store("x", {"A100", 1, false, 0, 30000, 8192, 256, ""});
  supply = analyzer.analyze({}, std::array{replica(5000, 0, 500, 100)}, variants, {});
  EXPECT_EQ(supply.per_replica_capacity["x"], 0) << "a record without capacity is not estimated";
  std::array two = {replica(5000, 0, 500, 100), replica(0, 0)};
  two[1].variant = "x", two[1].accelerator = "A100", two[1].total_kv_tokens = 0;
  supply = analyzer.analyze({}, two, variants, {});
  EXPECT_EQ(supply.per_replica_capacity["x"], 700) << "an unmeasured replica names the GPU for a comparable record";
}

TEST(WvaV2, SupplyAndDemand) {
  AnalyzerV2 analyzer;
  const Supply up =
      analyzer.analyze({}, std::array{replica(11000, 3, 100.9)}, std::array{VariantReplicas{"v", 1, 0}}, {});
  EXPECT_EQ(up.demand, 11300) << "the mean length is truncated to an integer";
  EXPECT_NEAR(up.required, 11300 / 0.85 - 12800, 1e-9);
  EXPECT_EQ(up.spare, 0);
  const Supply pending =
      analyzer.analyze({}, std::array{replica(11000, 3)}, std::array{VariantReplicas{"v", 2, 1}}, {});
  EXPECT_EQ(pending.required, 0) << "a pending replica is anticipated";
  EXPECT_EQ(pending.spare, 0) << "a pending replica is not spare yet";
  const Supply queued = analyzer.analyze({}, std::array{replica(5000, 0)}, std::array{VariantReplicas{"v", 1, 0}},
                                         SchedulerQueue{10, 20000});
  EXPECT_EQ(queued.demand, 5000 + 5000 + 500);
}

TEST(WvaV2, Parts) {
  EXPECT_EQ(capacity_from_parameters(4096, 256, 500, 100), 140800);
  EXPECT_EQ(capacity_from_parameters(1000, 256, 500, 100), 91666) << "limited by the step's token budget";
  EXPECT_EQ(capacity_from_parameters(8192, 256, 500, 0), 0);
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({4, 1}), 2);
}

TEST(WvaOptimizer, AddsCheapAndRemovesExpensiveReplicas) {
  using Counts = std::vector<ReplicaCount>;
  const std::vector<VariantCost> two = {{"cheap", 5, 10000, 3}, {"expensive", 15, 20000, 2}};
  EXPECT_EQ(optimize(25000, 0, two), (Counts{6, 2})) << "all to the cheapest capacity";
  EXPECT_EQ(optimize(1, 0, std::vector<VariantCost>{{"half", 1, 0.4, 0}}), (Counts{3}));
  EXPECT_EQ(optimize(0, 15000, two), (Counts{2, 2})) << "one expensive replica is more than the spare capacity";
  EXPECT_EQ(optimize(0, 1e6, two), (Counts{1, 0})) << "the cheapest keeps one if no other variant has any";
  EXPECT_EQ(optimize(0, 9999, two), (Counts{3, 2}));
  EXPECT_EQ(optimize(1, 0, std::vector<VariantCost>{{"none", 1, 0, 1}}), (Counts{1}));
  EXPECT_EQ(optimize(1, 0, {}), Counts{});
  EXPECT_EQ(by_efficiency(two), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(by_cost_descending(two), (std::vector<std::size_t>{1, 0}));
}

TEST(WvaLimiter, APartialGrantLosesTheRemainingGpus) {
  GpusByType free = {{"H100", 5}};
  const std::vector<ScaleUp> wishes = {{"later", "H100", 1, 2, 1, 0.5, 1},
                                       {"first", "H100", 1, 2, 2, 0.1, 1},
                                       {"second", "H100", 1, 9, 2, 0.1, 2},
                                       {"down", "H100", 3, 1, 2, 0, 0},
                                       {"unknown", "B200", 0, 1, 0, 0, 0}};
  const std::vector<GpuGrant> granted = limit(free, wishes);
  EXPECT_EQ(granted[1].target, 2);
  EXPECT_EQ(granted[2].target, 2);
  EXPECT_EQ(granted[2].gpus, 2);
  EXPECT_TRUE(granted[2].limited);
  EXPECT_EQ(granted[0].target, 1) << "nothing is granted although one GPU is free";
  EXPECT_EQ(granted[3].target, 1);
  EXPECT_EQ(granted[4].target, 0);
  EXPECT_EQ(free["H100"], 0);
}

TEST(WvaLimiter, Inventories) {
  EXPECT_EQ(available({{"A", 8}, {"B", 4}}, {{"A", 12}, {"C", 1}}), (GpusByType{{"A", 0}, {"B", 4}}));
  EXPECT_EQ(least_of(std::vector<GpusByType>{{{"A", 10}, {"B", 4}}, {{"A", 6}}}), (GpusByType{{"A", 6}, {"B", 4}}));
  EXPECT_EQ(
      gpus_in_use(std::vector<ScaleUp>{{"x", "A", 2, 3, 2, 0, 0}, {"y", "A", 1, 1, 0, 0, 0}, {"z", "", 1, 1, 1, 0, 0}}),
      (GpusByType{{"A", 4}}));
  for (const auto& [product, name] : {std::pair{"NVIDIA-A100-PCIE-80GB", "A100"},
                                      {"AMD-MI300X-192G", "MI300X"},
                                      {"Intel-Gaudi-2-96GB", "Gaudi-2"},
                                      {"INTEL-Gaudi-3", "Gaudi-3"},
                                      {"intel-Max1550", "Max1550"},
                                      {"Unknown-GPU-Model-123", "GPU"},
                                      {"H100", "H100"}}) {
    EXPECT_EQ(accelerator_name(product), name);
  }
}

TEST(WvaEnforcer, ScalesToZeroOnlyWithoutCompletedRequests) {
  using Targets = std::map<std::string, ReplicaCount>;
  const Targets some = {{"a", 2}, {"b", 1}}, none = {{"a", 0}, {"b", 0}};
  EXPECT_EQ(enforce(true, 0.0, some, {}).targets, none);
  EXPECT_EQ(enforce(true, 1.0, some, {}).targets, some);
  EXPECT_EQ(enforce(true, -1.0, some, {}).targets, none) << "only a positive number keeps the targets";
  EXPECT_EQ(enforce(true, std::nullopt, some, {}).targets, some) << "the query failed";
  EXPECT_EQ(enforce(false, 0.0, some, {}).targets, some);
  EXPECT_EQ(enforce(false, 0.0, none, {{"a", 2}, {"b", 1}}).targets, (Targets{{"a", 0}, {"b", 1}}));
  EXPECT_EQ(enforce(std::nullopt, 0.0, none, {{"a", 11}}).targets, (Targets{{"a", 0}, {"b", 1}}))
      << "an unknown cost is 10";
  EXPECT_EQ(enforce(std::nullopt, 0.0, none, {}).targets, (Targets{{"a", 1}, {"b", 0}}))
      << "ordered by name among equals";
  EXPECT_FALSE(enforce(false, 0.0, {}, {}).applied);
}

TEST(WvaQueue, HasTheFiguresOfWvasQueueModel) {
  EXPECT_FLOAT_EQ(prefill_ms({10, 0.01F, 0.001F}, {1000, 0}, 1), 32);
  EXPECT_FLOAT_EQ(prefill_ms({10, 0.01F, 0.001F}, {0, 10}, 4), 0);
  EXPECT_FLOAT_EQ(decode_ms({1, 0.1F, 0.01F}, {1, 1}, 2.5F), 1.4025F);
  EXPECT_TRUE(is_valid_queue(10, 9.9F, 1)) << "a load of 9.9 loses requests and is valid";
  EXPECT_FALSE(is_valid_queue(10, 11, 1));
  EXPECT_FALSE(is_valid_queue(10, 1, 0));
  EXPECT_TRUE((RequestSize{0, 1}.valid()));
  EXPECT_FALSE((RequestSize{50, 0}.valid()));
}

// One request at a time with 8 ms per step: a first token and one more, 8 ms each. With one waiting place it is
// M/M/1/2: at a load of one half the states are 4/7, 2/7 and 1/7.
TEST(WvaSizing, SolvesASmallQueueAsByHand) {
  const QueueConfig config{1, 1, {8, 0, 0}};
  const RequestSize size{100, 1};
  const std::optional<QueueFigures> figures = analyze_queue(config, size, 1000.0f / 32);
  ASSERT_TRUE(figures.has_value());
  EXPECT_NEAR(figures->in_service, 3.0 / 7, 1e-6);
  EXPECT_NEAR(figures->throughput, 1000.0 / 32 * 6 / 7, 1e-4);
  EXPECT_NEAR(figures->response_ms, (4.0 / 7) / (6.0 / 7 / 32), 1e-4);
  EXPECT_NEAR(figures->wait_ms, (1.0 / 7) / (6.0 / 7 / 32), 1e-4);
  EXPECT_NEAR(figures->ttft_ms, figures->wait_ms + 16, 1e-4);
  EXPECT_FALSE(analyze_queue(config, size, 1000).has_value()) << "above its maximum rate";
}

TEST(WvaSizing, TheRateKeepsTheTargets) {
  const QueueConfig config{64, 128, {7, 0.03f, 0.0002f}};
  const RequestSize size{1000, 200};
  const SizingTargets targets{.ttft_ms = 400, .itl_ms = 30, .tps = 0};
  const std::optional<Sizing> sizing = size_queue(config, size, targets);
  ASSERT_TRUE(sizing.has_value());
  EXPECT_EQ(sizing->rate, std::min(sizing->rate_for_ttft, sizing->rate_for_itl));
  EXPECT_LE(sizing->at_rate.ttft_ms, 400 * 1.0001);
  EXPECT_LE(sizing->at_rate.token_ms, 30 * 1.0001);
  const std::optional<QueueFigures> more = analyze_queue(config, size, sizing->rate * 1.02f);
  EXPECT_TRUE(!more || more->ttft_ms > 400 || more->token_ms > 30) << "a higher rate breaks a target";
  EXPECT_EQ(replicas_for(sizing->rate * 2.5f, *sizing), 3);
  EXPECT_FALSE(size_queue(config, size, {.ttft_ms = 1, .itl_ms = 0, .tps = 0}).has_value());
  const std::optional<Sizing> by_tokens = size_queue(config, size, {.ttft_ms = 0, .itl_ms = 0, .tps = 1000});
  EXPECT_NEAR(by_tokens->rate_for_tps, by_tokens->rate_for_itl * 0.9, 1e-3);
}

}  // namespace
}  // namespace capstan::peers::wva
