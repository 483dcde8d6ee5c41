#include "plan/scalers/engine_metrics.h"

#include <gtest/gtest.h>

#include "promql/parser.h"

namespace capstan::plan {
namespace {

struct GaugeRow {
  Engine engine;
  std::string waiting, kv_usage, path;
};

TEST(EngineMetrics, AreThoseOfTheEngine) {
  const GaugeRow rows[] = {
      {Engine::vllm, "vllm:num_requests_waiting{namespace=\"llm\"}", "vllm:kv_cache_usage_perc{namespace=\"llm\"}",
       "/metrics"},
      {Engine::sglang, "{__name__=~\"sglang[:_]num_queue_reqs\",namespace=\"llm\"}",
       "{__name__=~\"sglang[:_]token_usage\",namespace=\"llm\"}", "/metrics"},
      {Engine::tensorrt_llm, "trtllm_num_requests_waiting{namespace=\"llm\"}",
       "trtllm_kv_cache_utilization{namespace=\"llm\"}", "/prometheus/metrics"},
      {Engine::triton, "nv_trt_llm_request_metrics{request_type=\"waiting\",namespace=\"llm\"}",
       "nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=\"fraction\",namespace=\"llm\"}", "/metrics"},
  };
  for (const GaugeRow& row : rows) {
    const EngineMetrics metrics = engine_metrics(row.engine);
    const SeriesLabels labels = {{"namespace", "llm"}};
    EXPECT_EQ(selector_text(metrics.waiting, labels), row.waiting);
    EXPECT_EQ(selector_text(metrics.kv_usage, labels), row.kv_usage);
    EXPECT_EQ(metrics.path, row.path);
    EXPECT_TRUE(promql::parse(selector_text(metrics.running, labels)));
  }
}

TEST(EngineMetrics, HaveTheBucketsOfAHistogramInBothSpellings) {
  const std::optional<EngineMetric> ttft = find_metric(Engine::sglang, signals::SignalName::ttft_p99_us);
  ASSERT_TRUE(ttft);
  EXPECT_EQ(selector_text(*ttft, {{"namespace", "llm"}}, "_bucket"),
            "{__name__=~\"sglang[:_]time_to_first_token_seconds_bucket\",namespace=\"llm\"}");
  EXPECT_EQ(ttft->scale, 1'000'000);
  EXPECT_FALSE(find_metric(Engine::triton, signals::SignalName::queue_p99_us));
}

TEST(EngineMetrics, HaveNamesWithoutAColonForTheMetricsApi) {
  EXPECT_EQ(adapted_name(engine_metrics(Engine::vllm).running), "vllm_num_requests_running");
}

TEST(EngineMetrics, SelectARoleByLabelsThatThePodMonitorCopies) {
  PlanSpec spec;
  spec.namespace_ = "llm";
  const ServiceSpec service{.name = "chat", .is_disaggregated = true};
  EXPECT_EQ(series_labels(spec, service, model::Role::decode),
            (SeriesLabels{{"namespace", "llm"}, {"app_kubernetes_io_name", "chat"}, {"capstan_dev_role", "decode"}}));
  EXPECT_EQ(pod_monitor(spec, service).document(), R"(apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata:
  name: chat
  namespace: llm
spec:
  selector:
    matchLabels:
      app.kubernetes.io/name: chat
  # the queries of the scalers select by these labels
  podTargetLabels:
  - app.kubernetes.io/name
  - capstan.dev/role
  podMetricsEndpoints:
  - port: http
    path: /metrics
    interval: "15s"
)");
}

}  // namespace
}  // namespace capstan::plan
