#include "promql/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "promql/aggregate.h"
#include "promql/binary.h"
#include "promql/histogram_quantile.h"
#include "promql/parser.h"

namespace capstan::promql {
namespace {

Labels labels(std::string_view metric, Labels others) {
  set(others, kMetricName, metric);
  return others;
}

/// Returns the series of two engines, scraped every 15 s for ten minutes. The second engine restarts after 5 minutes.
SeriesStore engines() {
  SeriesStore store;
  for (std::int64_t i = 0; i <= 40; ++i) {
    const auto n = static_cast<double>(i);
    store.append(labels("done_total", {{"pod", "a"}}), {i * 15'000, 30 * n});
    store.append(labels("done_total", {{"pod", "b"}}), {i * 15'000, i < 20 ? 15 * n : 15 * (n - 20)});
    store.append(labels("running", {{"pod", "a"}}), {i * 15'000, n});
    store.append(labels("running", {{"pod", "b"}}), {i * 15'000, 2 * n});
  }
  return store;
}

std::string answer(std::string_view query, const SeriesStore& store, std::int64_t at_ms = 600'000) {
  const Result<ExpressionPtr> parsed = parse(query, "q");
  if (!parsed) return parsed.error().text();
  const Result<Value> value = evaluate(**parsed, store, at_ms, {}, "q");
  if (!value) return value.error().text();
  std::string out = value->type == ValueType::scalar ? std::to_string(value->scalar) : value->text;
  for (const Sample& sample : value->vector) {
    out += (out.empty() ? "" : " ") + text(sample.labels) + "=" + std::to_string(sample.value).substr(0, 6);
  }
  return out;
}

TEST(PromqlEvaluation, ComputesQueriesThatScalersUse) {
  const SeriesStore store = engines();
  EXPECT_EQ(answer("sum(running)", store), "{}=120.00");
  EXPECT_EQ(answer("avg by (pod) (running)", store), "{pod=\"a\"}=40.000 {pod=\"b\"}=80.000");
  EXPECT_EQ(answer("rate(done_total[2m])", store), "{pod=\"a\"}=2.0000 {pod=\"b\"}=1.0000");
  EXPECT_EQ(answer("increase(done_total{pod=\"b\"}[10m])", store), "{pod=\"b\"}=585.00")
      << "the value before the reset is added";
  EXPECT_EQ(answer("max_over_time(running{pod=\"a\"}[1m] offset 5m)", store), "{pod=\"a\"}=20.000");
  EXPECT_EQ(answer("max_over_time(sum(running)[2m:30s])", store), "{}=120.00");
  EXPECT_EQ(answer("running / on (pod) group_left running > 1", store), "");
  EXPECT_EQ(answer("topk(1, running)", store), "running{pod=\"b\"}=80.000");
  EXPECT_EQ(answer("1 + scalar(sum(running)) / 2", store), "61.000000");
}

TEST(PromqlEvaluation, OmitsOldAndEndedSeries) {
  SeriesStore store = engines();
  EXPECT_EQ(answer("sum(running)", store, 900'000), "{}=120.00") << "five minutes old: still there";
  EXPECT_EQ(answer("sum(running)", store, 900'001), "");
  store.append(labels("running", {{"pod", "a"}}), {610'000, stale_marker()});
  EXPECT_EQ(answer("sum(running)", store, 611'000), "{}=80.000");
  EXPECT_EQ(answer("count_over_time(running{pod=\"a\"}[15s])", store, 615'000), "{pod=\"a\"}=1.0000");
}

TEST(PromqlEvaluation, ErrorsNameThePlace) {
  const SeriesStore store = engines();
  EXPECT_EQ(answer("1 + hour()", store), "q:1:5: Capstan does not evaluate hour");
  EXPECT_EQ(answer("running + on () running", store),
            "q:1:1: more than one series of the right side has the labels {}: many-to-many matching is not allowed");
  EXPECT_EQ(answer("sum(running[1m:1ms])", store), "q:1:5: sum takes an instant vector, found range vector");
  EXPECT_EQ(answer("count_over_time(running[1y:1ms])", store), "q:1:17: the expression would read too many points");
  const Result<ExpressionPtr> parsed = parse("sum(running) + atan(holt_winters(running[5m], 0.5, 0.5))", "q");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(check_evaluable(**parsed, "q")->text(), "q:1:16: Capstan does not evaluate atan");
}

TEST(PromqlEvaluation, ReportsFaultsOfFixedPartsEvenWithoutASubqueryStep) {
  const SeriesStore store = engines();
  const std::int64_t between_steps_ms = 615'000;
  EXPECT_EQ(answer("sum_over_time((running + on () running)[10s:30s])", store, between_steps_ms), "");
  for (const char* query : {"sum_over_time((running @ 500 + on () running @ 500)[10s:30s])",
                            "sum_over_time((running * on () sum(running @ 500 + on () running @ 500))[10s:30s])"}) {
    EXPECT_NE(answer(query, store, between_steps_ms).find("many-to-many"), std::string::npos) << query;
  }
}

TEST(PromqlEvaluation, ComputesHistogramQuantiles) {
  Vector buckets;
  for (const auto& [le, count] : {std::pair("0.1", 10.0), std::pair("1", 30.0), std::pair("+Inf", 40.0)}) {
    buckets.push_back({labels("ttft_bucket", {{"le", le}, {"pod", "a"}}), count});
  }
  EXPECT_DOUBLE_EQ(histogram_quantile(0.5, buckets).at(0).value, 0.1 + 0.9 * (10.0 / 20.0));
  EXPECT_EQ(histogram_quantile(0.99, buckets).at(0).value, 1) << "the last bound caps the result";
  EXPECT_EQ(text(histogram_quantile(0.5, buckets).at(0).labels), "{pod=\"a\"}");
  buckets.pop_back();
  EXPECT_TRUE(std::isnan(histogram_quantile(0.5, buckets).at(0).value)) << "without +Inf";
}

TEST(PromqlEvaluation, GroupsLabelsAndCombinesNumbers) {
  EXPECT_EQ(group_labels(labels("m", {{"a", "1"}, {"b", "2"}}), true, {"a"}), (Labels{{"b", "2"}}));
  EXPECT_EQ(combine(Binary::Op::modulo, -7, 3), -1);
  EXPECT_EQ(combine(Binary::Op::greater, 2, 1), 1);
}

}  // namespace
}  // namespace capstan::promql
