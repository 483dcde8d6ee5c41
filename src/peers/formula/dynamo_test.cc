#include "peers/formula/dynamo.h"

#include <gtest/gtest.h>

#include <cmath>

namespace capstan::peers::dynamo {
namespace {

TEST(DynamoPredictors, TheConstantPredictorReturnsTheLastValue) {
  ConstantPredictor predictor;
  EXPECT_EQ(predictor.predict(), 0);
  for (const double value : {0.0, 40.0, 55.0}) predictor.add(value);
  EXPECT_EQ(predictor.predict(), 55);
  predictor.add(std::nan(""));
  EXPECT_EQ(predictor.predict(), 0) << "NaN counts as no load";
}

// These figures are computed by hand with q 1 and 0.1, r 10: P = diag(1000, 1000) at the first value, 100.
//   step:   P = [[2001, 1000], [1000, 1000.1]], level 100
//   120:    S = 2011, K = [2001/2011, 1000/2011], level 100 + 20 * 2001/2011, trend 20 * 1000/2011
//   step:   level + trend = 100 + 20 * 3001/2011 = 129.8458...
TEST(DynamoPredictors, TheKalmanPredictorFollowsALevelAndItsTrend) {
  KalmanPredictor predictor({});
  predictor.add(0);
  EXPECT_EQ(predictor.predict(), 0) << "zeros before the first load are skipped";
  predictor.add(100);
  EXPECT_EQ(predictor.predict(), 100);
  EXPECT_EQ(predictor.predict(), 100) << "a repeated call does not step again";
  predictor.add(120);
  EXPECT_NEAR(predictor.predict(), 100 + 20 * 3001.0 / 2011.0, 1e-9);
}

TEST(DynamoPredictors, TheKalmanPredictorStepsWithoutACallOfPredict) {
  KalmanPredictor asked({}), silent({});
  for (const double value : {10.0, 14.0, 30.0, 20.0}) {
    asked.add(value);
    asked.predict();
    silent.add(value);
  }
  EXPECT_EQ(asked.predict(), silent.predict());
  KalmanPredictor line({.q_level = 1, .q_trend = 0.1, .r = 1e-9});
  for (int i = 1; i <= 50; ++i) line.add(7.0 * i);
  EXPECT_NEAR(line.predict(), 7 * 51, 1e-6) << "a straight line is extrapolated";
}

TEST(DynamoLoad, OneFullEngineAddsAReplicaAndOnlyAllIdleEnginesRemoveOne) {
  const LoadSettings throughput;
  const Engine full{900, 50, 60}, half{550, 0, 0}, idle{100, 0, 0};
  EXPECT_EQ(follow_kv(throughput, {{idle, full}}, 1000, true), 3);
  EXPECT_EQ(follow_kv(throughput, {{idle, full}}, 1000, false), std::nullopt) << "950 of 1000 tokens";
  EXPECT_EQ(follow_kv(throughput, {{idle, half}}, 1000, true), 1);
  EXPECT_EQ(follow_kv(throughput, {{idle}}, 1000, true), std::nullopt) << "the last one stays";
  const LoadSettings latency{Target::latency, 1};
  EXPECT_EQ(follow_kv(latency, {{idle, half}}, 1000, true), 3);
  EXPECT_EQ(follow_kv(throughput, {}, 1000, true), std::nullopt);
  EXPECT_EQ(follow_kv(throughput, {{idle}}, 0, true), std::nullopt);
}

TEST(DynamoLoad, QueuedPrefillIsMeasuredInContextLengths) {
  const LoadSettings throughput, latency{Target::latency, 1};
  EXPECT_EQ(follow_queue(throughput, {{Engine{0, 0, 8192}, Engine{}}}, 8192), 3);
  EXPECT_EQ(follow_queue(throughput, {{Engine{0, 0, 819}, Engine{}}}, 8192), 1);
  EXPECT_EQ(follow_queue(latency, {{Engine{0, 0, 819}, Engine{}}}, 8192), std::nullopt);
  EXPECT_EQ(follow_queue(latency, {{Engine{}, Engine{}}}, 8192), 1);
}

TEST(DynamoLoad, OneFastEnginePreventsAScaleUp) {
  const LoadSettings settings;
  EXPECT_EQ(follow_latency(settings, {{900.0, 800.0}}, 500, 2, 80), 3);
  EXPECT_EQ(follow_latency(settings, {{900.0, 20.0}}, 500, 2, 80), std::nullopt);
  EXPECT_EQ(follow_latency(settings, {{399.0, 20.0}}, 500, 2, 80), 1);
  EXPECT_EQ(follow_latency(settings, {{400.0, 20.0}}, 500, 2, 80), std::nullopt);
}

// 10 ms per step, 0.1 ms per request and 1 us per KV token with 1200 tokens each: 1.3 ms per request. (50 - 10) / 1.3 =
// 30.77.
TEST(DynamoThroughput, TakesTheLargestBatchWithinTheBound) {
  const StepTime step{0.010, 0.0001, 1e-6};
  const std::optional<DecodeBatch> batch = best_decode_batch(step, 50, 1200, 400, 1'000'000, 256);
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ(batch->size, 30);
  EXPECT_NEAR(batch->itl_ms, 49, 1e-9);
  EXPECT_NEAR(batch->rps, 30 / (400 * 0.049), 1e-12);
  EXPECT_EQ(best_decode_batch(step, 50, 1200, 400, 12'000, 256)->size, 10) << "limited by the KV cache";
  EXPECT_EQ(best_decode_batch(step, 50, 1200, 400, 1'000'000, 8)->size, 8);
  EXPECT_EQ(best_decode_batch(step, 5, 1200, 400, 1'000'000, 8)->size, 1) << "even one request is too slow";
  EXPECT_EQ(best_decode_batch(step, 50, 0, 400, 1, 1), std::nullopt);
}

TEST(DynamoThroughput, ReplicasFollowFromRates) {
  EXPECT_EQ(replicas_for_rate(1000, 180, 1.5, 1), 4);
  EXPECT_EQ(replicas_for_rate(0, 180, 1.5, 2), 2);
  EXPECT_EQ(replicas_for_rate(1000, 180, 0, 1), std::nullopt) << "without a model it holds";
}

TEST(DynamoBudget, CutsBothComponentsByTheSameShare) {
  EXPECT_EQ(within_budget(5, 2, 8, 1), 4);
  EXPECT_EQ(within_budget(5, 16, 8, 1), 0);
  EXPECT_EQ(within_budget({6, 6}, 1, 1, 8, 1), (PrefillDecode{4, 4}));
  EXPECT_EQ(within_budget({9, 1}, 1, 1, 8, 1), (PrefillDecode{7, 1}));
  EXPECT_EQ(within_budget({2, 2}, 4, 8, 8, 1), (PrefillDecode{0, 0}));
}

}  // namespace
}  // namespace capstan::peers::dynamo
