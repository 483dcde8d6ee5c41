#include "experiment/run/scraped_series.h"

#include <gtest/gtest.h>

#include "peers/autoscaler.h"
#include "promql/evaluate.h"
#include "promql/parser.h"

namespace capstan::experiment {
namespace {

using namespace std::chrono_literals;

double ask(ScrapedSeries& series, const std::string& query, Instant at) {
  const Result<promql::ExpressionPtr> parsed = promql::parse(query);
  const Result<promql::Value> value = promql::evaluate(**parsed, series.at(at), peers::series_ms(at));
  return value && value->vector.size() == 1 ? value->vector[0].value : -1;
}

sim::ReplicaReading reading(std::int64_t running) {
  sim::ReplicaReading out;
  out.engine.running = running;
  out.engine.kv_blocks = 100;
  out.engine.kv_blocks_used = 25;
  out.ttft.add(300ms);
  return out;
}

TEST(ScrapedSeries, AScrapeIsSeenAfterItsDelay) {
  ScrapedSeries series({{"namespace", "chat"}}, 2s, 90);
  series.add(model::GangId{7}, Instant{15s}, {reading(4), 80});
  EXPECT_EQ(ask(series, "sum(vllm:num_requests_running{namespace=\"chat\"})", Instant{16s}), -1);
  EXPECT_EQ(ask(series, "sum(vllm:num_requests_running{pod=\"replica-7\"})", Instant{17s}), 4);
  EXPECT_EQ(ask(series, "avg(DCGM_FI_DEV_GPU_UTIL)", Instant{17s}), 80);
  EXPECT_EQ(ask(series, "max(vllm:kv_cache_usage_perc)", Instant{17s}), 0.25);
}

TEST(ScrapedSeries, FirstTokensBecomeAHistogram) {
  ScrapedSeries series({}, 0s, 90);
  for (int s = 0; s <= 60; s += 15) series.add(model::GangId{1}, Instant{std::chrono::seconds(s)}, {reading(1), 0});
  EXPECT_EQ(ask(series, "vllm:time_to_first_token_seconds_count", Instant{60s}), 5);
  EXPECT_DOUBLE_EQ(ask(series,
                       "histogram_quantile(0.5, sum by (le) "
                       "(increase(vllm:time_to_first_token_seconds_bucket[1m])))",
                       Instant{60s}),
                   0.375)
      << "between 0.25 and 0.5";
}

TEST(ScrapedSeries, ASeriesEndsWithItsReplica) {
  ScrapedSeries series({}, 0s, 90);
  series.add(model::GangId{1}, Instant{15s}, {reading(4), 0});
  series.forget(model::GangId{1});
  EXPECT_EQ(ask(series, "sum(vllm:num_requests_running)", Instant{20s}), 4);
  series.add(Instant{30s}, RequestCount{9});
  EXPECT_EQ(ask(series, "sum(vllm:num_requests_running)", Instant{30s}), -1);
  EXPECT_EQ(ask(series, "inference_extension_flow_control_queue_size", Instant{30s}), 9);
}

TEST(ScrapedSeries, WaitingJobsAreASeriesOfTheirQueue) {
  ScrapedSeries series({{"namespace", "chat"}}, 2s, 90);
  series.add(Instant{15s}, "batch", 7);
  series.add(Instant{15s}, "chat", 1);
  EXPECT_EQ(ask(series, "kueue_pending_workloads{cluster_queue=\"batch\"}", Instant{16s}), -1);
  EXPECT_EQ(ask(series, "kueue_pending_workloads{cluster_queue=\"batch\", status=\"active\"}", Instant{17s}), 7);
  EXPECT_EQ(ask(series, "sum(kueue_pending_workloads)", Instant{17s}), 8);
}

}  // namespace
}  // namespace capstan::experiment
