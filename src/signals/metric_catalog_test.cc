#include "signals/metric_catalog.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "signals/bundled_metrics.h"

namespace capstan::signals {
namespace {

std::string names(const MetricCatalog& catalog, std::string_view series) {
  std::string text;
  for (const std::uint16_t row : catalog.find(series)) {
    const MetricRow& found = catalog.rows()[row];
    text += (text.empty() ? "" : " ") + catalog.engines()[found.engine] + "/" + std::string(info(found.signal).name);
  }
  return text;
}

TEST(MetricCatalog, FindsSeriesByTheirNames) {
  const struct {
    const char* series;
    const char* found;
  } rows[] = {
      {"vllm:num_requests_running", "vllm/running"},
      {"vllm_num_requests_running", "vllm/running"},
      {"kserve_vllm:num_requests_running", "vllm/running"},
      {"vllm:kv_cache_usage_perc", "vllm/kv_usage_ppm"},
      {"vllm:gpu_cache_usage_perc", "vllm/kv_usage_ppm"},
      {"gpu_cache_usage_perc", "nim/kv_usage_ppm"},
      {"vllm:time_to_first_token_seconds_bucket", "vllm/ttft_p99_us"},
      {"vllm:time_to_first_token_seconds_sum", ""},
      {"vllm:time_to_first_token_seconds", ""},
      {"sglang_num_queue_reqs", "sglang/waiting"},
      {"nv_trt_llm_request_metrics", "triton/waiting triton/running"},
      {"DCGM_FI_DEV_FB_USED", "dcgm-exporter/memory_used_percent"},
      {"go_goroutines", ""},
      {"", ""},
  };
  for (const auto& row : rows) EXPECT_EQ(names(MetricCatalog::bundled(), row.series), row.found) << row.series;
}

TEST(MetricCatalog, EveryEngineReportsWaitingAndRunningRequests) {
  const MetricCatalog& catalog = MetricCatalog::bundled();
  const std::set<std::string> engines(catalog.engines().begin(), catalog.engines().end());
  EXPECT_EQ(engines, (std::set<std::string>{"vllm", "sglang", "tensorrt-llm", "triton", "tgi", "nim", "dcgm-exporter",
                                            "inference-gateway"}));
  for (const std::string engine : {"vllm", "sglang", "tensorrt-llm", "triton", "tgi", "nim"}) {
    std::set<SignalName> signals;
    for (const MetricRow& row : catalog.rows()) {
      if (catalog.engines()[row.engine] == engine) signals.insert(row.signal);
    }
    EXPECT_TRUE(signals.contains(SignalName::waiting) && signals.contains(SignalName::running)) << engine;
  }
}

TEST(MetricCatalog, BundledTableEqualsTheFileInTheSourceTree) {
  std::ifstream file(std::string(CAPSTAN_SOURCE_DIR) + "/schema/metrics.csv");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(bundled_metrics_csv(), text.str());
}

TEST(MetricCatalog, NamesTheErrorInATable) {
  const std::string header = "engine,signal,metric,kind,unit,where,combine,subject,versions\n";
  const struct {
    std::string csv;
    const char* error;
  } rows[] = {
      {"a,b\n", "t.csv:1: expected the header engine,signal,metric,kind,unit,where,combine,subject,versions"},
      {header + "x,running,m\n", "t.csv:2: 3 fields, expected 9"},
      {header + "x,running,m,gauge,requests,,sum,,\nx,running,m,gauge,requests,,sum,,\n",
       "t.csv:3: metric: m is already mapped to running, expected every metric once"},
  };
  for (const auto& row : rows) {
    const Result<MetricCatalog> parsed = MetricCatalog::parse(row.csv, "t.csv");
    ASSERT_FALSE(parsed.has_value()) << row.csv;
    EXPECT_EQ(parsed.error().text(), row.error);
  }
}

MetricText custom(std::string signal, std::string metric, std::string kind, std::string unit) {
  MetricText row;
  row.signal = std::move(signal);
  row.metric = std::move(metric);
  row.kind = std::move(kind);
  row.unit = std::move(unit);
  return row;
}

TEST(CustomEngine, MapsOnlyTheMetricsOfTheUser) {
  std::vector<MetricText> rows = {custom("waiting", "my_queue", "gauge", ""),
                                  custom("kv_usage_ppm", "my_kv", "gauge", "percent"),
                                  custom("ttft_p99_us", "my_ttft_ms", "histogram", "milliseconds"),
                                  custom("generated_tokens_total", "my_tokens", "counter", "tokens")};
  rows[0].where = "state=queued;lane=fast";
  rows[0].subject = "model";
  const Result<MetricCatalog> catalog = MetricCatalog::custom(rows, "scaler.yaml");
  ASSERT_TRUE(catalog.has_value()) << catalog.error().text();
  EXPECT_EQ(names(*catalog, "my_queue"), "custom/waiting");
  EXPECT_EQ(names(*catalog, "my_ttft_ms_bucket"), "custom/ttft_p99_us");
  EXPECT_EQ(names(*catalog, "vllm:num_requests_running"), "");
  EXPECT_EQ(catalog->rows()[0].unit, "requests");
  EXPECT_EQ(catalog->rows()[0].where.size(), 2u);
  EXPECT_EQ(catalog->rows()[1].combine, Combine::max) << "shares of ranks cannot be added";
  EXPECT_EQ(catalog->rows()[1].scale, 1e4);
  EXPECT_EQ(catalog->rows()[2].scale, 1e3);
}

TEST(CustomEngine, SaysWhichFieldIsWrong) {
  const auto with = [](MetricText row, auto change) {
    change(row);
    return row;
  };
  const MetricText good = custom("running", "m", "gauge", "requests");
  const struct {
    MetricText row;
    const char* error;
  } rows[] = {
      {custom("run", "m", "gauge", ""),
       "signal: 'run' is not a signal, expected one of waiting, running, kv_usage_ppm, "},
      {custom("running", "my metric", "gauge", ""),
       "metric: 'my metric' is not a metric name, expected letters, digits"},
      {custom("running", "", "gauge", ""), "metric: '' is not a metric name"},
      {custom("running", "m", "guage", ""),
       "kind: 'guage' is not a metric kind, expected one of gauge, counter, histogram, "},
      {custom("running", "m", "counter", ""),
       "kind: a counter cannot give running, expected another kind than counter"},
      {custom("finished_total", "m", "gauge", ""), "kind: a gauge cannot give finished_total, expected counter"},
      {custom("running", "m", "histogram", ""), "kind: a histogram cannot give running, expected gauge"},
      {custom("running", "m", "share_used", "bytes"), "kind: a share_used cannot give running, expected gauge"},
      {custom("running", "m", "gauge", "seconds"),
       "unit: 'seconds' is not a unit of running, expected one of requests"},
      {custom("ttft_p99_us", "m", "histogram", "ratio"),
       "unit: 'ratio' is not a unit of ttft_p99_us, expected one of microseconds, seconds, milliseconds, nanoseconds"},
      {custom("kv_usage_ppm", "m", "share_used", ""),
       "unit: '' is not a unit of kv_usage_ppm, expected one of bytes, "},
      {with(good, [](MetricText& r) { r.combine = "mean"; }), "combine: 'mean', expected sum or max"},
      {with(custom("kv_usage_ppm", "m", "gauge", "ratio"), [](MetricText& r) { r.combine = "sum"; }),
       "combine: values of kv_usage_ppm from several ranks cannot be added, expected max"},
      {with(custom("finished_total", "m", "counter", ""), [](MetricText& r) { r.combine = "max"; }),
       "combine: max cannot combine a counter, expected sum"},
      {with(good, [](MetricText& r) { r.where = "a=b;c"; }), "where: 'c', expected label=value, separated by ';'"},
      {with(good, [](MetricText& r) { r.subject = "a||b"; }), "subject: 'a||b', expected label names separated by"},
  };
  for (const auto& row : rows) {
    const MetricText all[] = {custom("waiting", "queue", "gauge", ""), row.row};
    const Result<MetricCatalog> parsed = MetricCatalog::custom(all, "scaler.yaml");
    ASSERT_FALSE(parsed.has_value()) << row.error;
    EXPECT_TRUE(parsed.error().text().starts_with(std::string("scaler.yaml: metrics[1].") + row.error))
        << parsed.error().text() << "\n"
        << row.error;
  }
  EXPECT_EQ(MetricCatalog::custom({}, "s").error().text(), "s: metrics: empty, expected at least one metric");
}

TEST(MetricCatalog, FindsEnginesByName) {
  EXPECT_EQ(MetricCatalog::bundled().engine("vllm"), 0);
  EXPECT_EQ(MetricCatalog::bundled().engine("vlm").error().text(),
            "'vlm' is not a known engine, expected one of vllm, sglang, tensorrt-llm, triton, tgi, nim, dcgm-exporter, "
            "inference-gateway");
}

}  // namespace
}  // namespace capstan::signals
