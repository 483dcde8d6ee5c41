#include "plan/measure/queries.h"

#include <gtest/gtest.h>

#include "plan/testing/measured_load.h"
#include "promql/parser.h"

namespace capstan::plan {
namespace {

using namespace std::chrono_literals;
using testing::inventory_of;
using testing::kMeasuredModel;
using testing::kVllmSeries;
using testing::measured_spec;

Result<MeasureQueries> queries_of(const PlanSpec& spec, const signals::ApiAnswer& inventory) {
  return measure_queries(spec.services[0], *spec.engines, inventory);
}

std::string query_text(const MeasureQueries& queries, MeasuredPart part) {
  const MeasureQuery* query = queries.find(part);
  return query == nullptr ? "" : query->promql;
}

TEST(MeasureQueries, AskWhatTheServerHolds) {
  const PlanSpec spec = measured_spec();
  const std::string query = inventory_query(spec.services[0]);
  EXPECT_TRUE(query.starts_with("count by (__name__, model_name) (last_over_time({__name__=~\"(kserve_)?vllm[:_]"))
      << query;
  EXPECT_TRUE(query.ends_with("\",namespace=\"llm\"}[30m]))")) << query;
  EXPECT_NE(query.find("sglang[:_]num_requests_total"), std::string::npos) << "other engines, for errors";
  EXPECT_TRUE(promql::parse(query));
}

TEST(MeasureQueries, SelectTheSeriesOfTheService) {
  const PlanSpec spec = measured_spec("vllm", ", labels: {namespace: prod, job: 'a\"b'}");
  const auto queries = queries_of(spec, inventory_of(kVllmSeries, {kMeasuredModel}));
  ASSERT_TRUE(queries) << queries.error().text();
  const std::string labels = "{namespace=\"prod\",job=\"a\\\"b\",model_name=\"meta-llama/Llama-3.1-8B-Instruct\"}";
  EXPECT_EQ(query_text(*queries, MeasuredPart::rate), "sum (rate(vllm:request_success_total" + labels + "[2m]))");
  EXPECT_EQ(query_text(*queries, MeasuredPart::in_flight),
            "sum (vllm:num_requests_running" + labels + ") + sum (vllm:num_requests_waiting" + labels + ")");
  EXPECT_EQ(query_text(*queries, MeasuredPart::prompt_lengths),
            "sum by (le) (increase(vllm:request_prompt_tokens_bucket" + labels + "[30m]))");
  EXPECT_EQ(query_text(*queries, MeasuredPart::answer_sum),
            "sum (increase(vllm:request_generation_tokens_sum" + labels + "[30m]))");
  EXPECT_EQ(queries->find(MeasuredPart::prompt_tokens), nullptr) << "the histogram has their sum";
  for (const MeasureQuery& query : queries->queries) EXPECT_TRUE(promql::parse(query.promql)) << query.promql;
}

TEST(MeasureQueries, UseTheSpellingOfTheServer) {
  const auto queries =
      queries_of(measured_spec(),
                 inventory_of({"kserve_vllm_request_success_total", "vllm_num_requests_running"}, {kMeasuredModel}));
  ASSERT_TRUE(queries) << queries.error().text();
  EXPECT_TRUE(query_text(*queries, MeasuredPart::rate).starts_with("sum (rate(kserve_vllm_request_success_total{"));
  EXPECT_TRUE(query_text(*queries, MeasuredPart::in_flight).starts_with("sum (vllm_num_requests_running{"));
}

TEST(MeasureQueries, UseCountersWithoutHistograms) {
  const auto queries =
      queries_of(measured_spec("tensorrt-llm"),
                 inventory_of({"trtllm_request_success_total", "trtllm_prompt_tokens_total"}, {kMeasuredModel}));
  ASSERT_TRUE(queries) << queries.error().text();
  EXPECT_TRUE(
      query_text(*queries, MeasuredPart::prompt_tokens).starts_with("sum (increase(trtllm_prompt_tokens_total{"));
  EXPECT_EQ(queries->find(MeasuredPart::answer_tokens), nullptr);
}

TEST(MeasureQueries, SelectThePartOfAMetricByItsLabels) {
  const auto queries =
      queries_of(measured_spec("triton"),
                 inventory_of({"nv_inference_request_success", "nv_trt_llm_request_metrics"}, {"ensemble"}, "model"));
  ASSERT_TRUE(queries) << queries.error().text();
  EXPECT_NE(query_text(*queries, MeasuredPart::in_flight).find("request_type=\"scheduled\""), std::string::npos)
      << query_text(*queries, MeasuredPart::in_flight);
}

TEST(MeasureQueries, ChooseTheModelOfTheService) {
  const struct {
    std::vector<std::string> models;
    const char* chosen;
  } rows[] = {
      {{"another/model"}, "another/model"},  // the only model; its requests are taken as the load of the service
      {{"a", kMeasuredModel}, kMeasuredModel},
      {{"a", "RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8"}, "RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8"},
      {{""}, ""},
  };
  for (const auto& row : rows) {
    const auto queries = queries_of(measured_spec(), inventory_of(kVllmSeries, row.models));
    ASSERT_TRUE(queries) << queries.error().text();
    EXPECT_EQ(queries->model, row.chosen);
  }
}

TEST(MeasureQueries, SayWhatIsMissing) {
  const auto message = [](const PlanSpec& spec, const signals::ApiAnswer& inventory) {
    const auto queries = queries_of(spec, inventory);
    return queries ? std::string() : queries.error().text();
  };
  const auto expect = [](const std::string& text, std::initializer_list<const char*> parts) {
    for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  };
  expect(message(measured_spec(), inventory_of({}, {})),
         {"http://prom:9090: services.chat.load.prometheus: no series of vllm:request_success_total with "
          "namespace=\"llm\" in the last 30m",
          "check load.prometheus.labels and the PodMonitor", "query: count by ("});
  expect(message(measured_spec(), inventory_of({"sglang_num_requests_total"}, {kMeasuredModel})),
         {"the server has requests of sglang: state that as the engine of the service"});
  expect(message(measured_spec(), inventory_of(kVllmSeries, {"b", "a"})),
         {"the series are of 2 models (\"a\", \"b\"), 0 of them Llama-3.1-8B, expected one", "model_name: a"});
}

TEST(MeasureQueries, ComputeRatesOverAWindowWithSamples) {
  EXPECT_EQ(rate_window(1min), 2min);
  EXPECT_EQ(rate_window(15s), 1min);
  EXPECT_EQ(rate_window(5min), 5min);
}

}  // namespace
}  // namespace capstan::plan
