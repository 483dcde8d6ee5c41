#include "plan/measure/measured_load.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/search/load_facts.h"
#include "plan/testing/measured_load.h"

namespace capstan::plan {
namespace {

using namespace std::chrono_literals;
using testing::answer_of;
using testing::inventory_of;
using testing::kMeasuredModel;
using testing::kVllmSeries;
using testing::measured_spec;

constexpr std::int64_t kMeasuredNow = 1'763'985'630'000;  // 2025-11-24 12:00:30 UTC

/// Returns a recorded answer with one point a minute for 30 min, from the span of `measured_span`.
std::string recorded_rate(double first_half, double second_half) {
  std::string points;
  for (int i = 0; i < 30; ++i) {
    points += (i == 0 ? "[" : ",[") + std::to_string(1'763'983'860 + 60 * i) + ",\"" +
              std::to_string(i < 15 ? first_half : second_half) + "\"]";
  }
  return "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[{\"metric\":{},\"values\":[" +
         points + "]}]}}";
}
const std::string kRecordedBuckets =
    R"({"status":"success","data":{"resultType":"vector","result":[
{"metric":{"le":"100.0"},"value":[1763985600,"300"]},{"metric":{"le":"1000.0"},"value":[1763985600,"900"]},
{"metric":{"le":"+Inf"},"value":[1763985600,"900"]}]}})";
std::string recorded_value(double value) {
  return "{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[{\"metric\":{},\"value\":[1763985600,"
         "\"" +
         std::to_string(value) + "\"]}]}}";
}
const std::string kRecordedNothing = R"({"status":"success","data":{"resultType":"vector","result":[]}})";

std::string recorded(MeasuredPart part) {
  switch (part) {
    case MeasuredPart::rate:
      return recorded_rate(0.25, 0.75);
    case MeasuredPart::in_flight:
      return recorded_rate(2, 4);
    case MeasuredPart::prompt_lengths:
    case MeasuredPart::answer_lengths:
      return kRecordedBuckets;
    case MeasuredPart::prompt_sum:
    case MeasuredPart::answer_sum:
      return recorded_value(900 * 400.0);
    case MeasuredPart::prompt_tokens:
      return recorded_value(900 * 500.0);
    case MeasuredPart::answer_tokens:
      return recorded_value(900 * 100.0);
  }
  return kRecordedNothing;
}

/// Measures the load of a spec with recorded answers, of which one may be replaced.
Result<LoadSpec> measure_recorded(const PlanSpec& spec, const std::vector<std::string>& series,
                                  std::optional<std::pair<MeasuredPart, std::string>> other = {}) {
  const ServiceSpec& service = spec.services[0];
  const auto queries = measure_queries(service, *spec.engines, inventory_of(series, {kMeasuredModel}));
  if (!queries) return std::unexpected(queries.error());
  std::vector<signals::ApiAnswer> answers;
  for (const MeasureQuery& query : queries->queries) {
    answers.push_back(answer_of(other && other->first == query.part ? other->second : recorded(query.part)));
  }
  return measured_load(service, *queries, answers, measured_span(service.load.measure, kMeasuredNow));
}

const MeasuredFigure* measured_figure(const LoadSpec& load, const std::string& name) {
  const auto found = std::ranges::find(load.measured, name, &MeasuredFigure::name);
  return found == load.measured.end() ? nullptr : &*found;
}

TEST(MeasuredLoad, HasTheRequestsAndLengthsOfTheHistory) {
  PlanSpec spec = measured_spec();
  const auto load = measure_recorded(spec, kVllmSeries);
  ASSERT_TRUE(load) << load.error().text();
  EXPECT_EQ(load->source, LoadSpec::Source::profile);
  EXPECT_EQ(load->from, "load-chat.csv");
  EXPECT_EQ(load->answer.longest, 0);  // a measured load states no longest answer
  ASSERT_NE(measured_figure(*load, "requests"), nullptr);
  EXPECT_EQ(measured_figure(*load, "requests")->value,
            "900 in 30 min: 0.5 requests/s on the mean, 0.75 requests/s in the busiest 1 min");
  EXPECT_NE(measured_figure(*load, "requests")->explanation.find("from 2025-11-24 11:30 UTC to 2025-11-24 12:00 UTC"),
            std::string::npos)
      << measured_figure(*load, "requests")->explanation;
  EXPECT_EQ(measured_figure(*load, "requests in flight")->value, "3 on the mean, 4 at most");
  EXPECT_EQ(measured_figure(*load, "mean time of a request")->value, "6.00 s");
  EXPECT_EQ(measured_figure(*load, "mean time of a request")->explanation, "3 requests in flight / 0.5 requests/s");
  EXPECT_EQ(measured_figure(*load, "prompt length")->value, "median 326, P90 865, P99 987, mean 400 tokens");
  EXPECT_EQ(measured_figure(*load, "pairs of lengths")->source, MeasuredFigure::Source::assumed);
  EXPECT_EQ(measured_figure(*load, "history"), nullptr);

  spec.services[0].load = *load;
  const auto facts = count_load(spec.services[0]);
  ASSERT_TRUE(facts) << facts.error().text();
  EXPECT_EQ(facts->requests, 900);
  EXPECT_NEAR(facts->prompt_tokens, 400, 30);  // 900 draws
  EXPECT_NEAR(facts->peak_per_s, 0.75, 1e-9);
}

TEST(MeasuredLoad, SaysThatRequestsCannotBeSoShort) {
  PlanSpec spec = measured_spec();
  const auto load = measure_recorded(spec, kVllmSeries, {{MeasuredPart::rate, recorded_rate(250, 750)}});
  ASSERT_TRUE(load) << load.error().text();
  const MeasuredFigure* time = measured_figure(*load, "mean time of a request");
  ASSERT_NE(time, nullptr);
  EXPECT_EQ(time->value, "0.01 s, too short");
  EXPECT_TRUE(time->is_doubtful);
  EXPECT_NE(time->explanation.find("no engine generates 400 tokens in this time"), std::string::npos)
      << time->explanation;
}

TEST(MeasuredLoad, IsTheBusiestPartOfTheStatedLength) {
  PlanSpec spec = measured_spec();
  spec.services[0].load.duration = 10min;
  const auto load = measure_recorded(spec, kVllmSeries);
  ASSERT_TRUE(load) << load.error().text();
  EXPECT_EQ(measured_figure(*load, "simulated part")->value,
            "10 min from 2025-11-24 11:45 UTC: 0.75 requests/s on the mean");
  EXPECT_NE(load->profile_text.find("\nduration_ms,600000\nminute,0,45\n"), std::string::npos);
}

TEST(MeasuredLoad, AssumesTheShapeWhereOnlyTheMeanIsKnown) {
  const auto load = measure_recorded(
      measured_spec("tensorrt-llm"),
      {"trtllm_request_success_total", "trtllm_prompt_tokens_total", "trtllm_generation_tokens_total"});
  ASSERT_TRUE(load) << load.error().text();
  EXPECT_NE(measured_figure(*load, "prompt length")->explanation.find("mean of 500 tokens"), std::string::npos);
  EXPECT_NE(measured_figure(*load, "prompt length")->explanation.find("log-normal shape with sigma 0.8 is assumed"),
            std::string::npos);
  EXPECT_EQ(measured_figure(*load, "requests in flight"), nullptr);
}

TEST(MeasuredLoad, TakesTheLengthsOfTheSpecWhereTheEngineHasNone) {
  const std::vector<std::string> series = {"trtllm_request_success_total", "trtllm_prompt_tokens_total"};
  const auto missing = measure_recorded(measured_spec("tensorrt-llm"), series);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().text().find("state load.answer_tokens"), std::string::npos) << missing.error().text();
  const auto load = measure_recorded(measured_spec("tensorrt-llm", "}, answer_tokens: {median: 50, sigma: 0"), series);
  ASSERT_TRUE(load) << load.error().text();
  EXPECT_EQ(measured_figure(*load, "answer length")->source, MeasuredFigure::Source::stated);
  EXPECT_EQ(measured_figure(*load, "answer length")->value, "median 50, P90 50, P99 50, mean 50 tokens");
}

TEST(MeasuredLoad, NamesServerAndQueryOfABadAnswer) {
  const struct {
    MeasuredPart part;
    std::string answer;
    const char* message;
    const char* query;
  } rows[] = {
      {MeasuredPart::rate, kRecordedNothing, "the answer has no points",
       "query: sum (rate(vllm:request_success_total{"},
      {MeasuredPart::rate, recorded_rate(0, 0), "no request finished in 30m", "query: sum (rate("},
      {MeasuredPart::prompt_lengths, kRecordedNothing, "no bucket le=\"+Inf\"", "query: sum by (le) ("},
  };
  for (const auto& row : rows) {
    const auto load = measure_recorded(measured_spec(), kVllmSeries, std::pair(row.part, row.answer));
    ASSERT_FALSE(load) << row.message;
    const std::string text = load.error().text();
    EXPECT_TRUE(text.starts_with("http://prom:9090: services.chat.load.prometheus: ")) << text;
    EXPECT_NE(text.find(row.message), std::string::npos) << text;
    EXPECT_NE(text.find(row.query), std::string::npos) << text;
  }
}

TEST(MeasuredLoad, ShowsTheWarningsOfTheServer) {
  std::string warned = recorded_rate(1, 1);
  warned.insert(1, "\"warnings\":[\"store unreachable\"],");
  const auto load = measure_recorded(measured_spec(), kVllmSeries, std::pair(MeasuredPart::rate, warned));
  ASSERT_TRUE(load) << load.error().text();
  ASSERT_NE(measured_figure(*load, "warning of the server"), nullptr);
  EXPECT_EQ(measured_figure(*load, "warning of the server")->value, "store unreachable");
}

TEST(MeasuredLoad, WritesUtcTimes) {
  EXPECT_EQ(utc_text(0), "1970-01-01 00:00 UTC");
  EXPECT_EQ(utc_text(1'709'164'740'000), "2024-02-28 23:59 UTC");
}

}  // namespace
}  // namespace capstan::plan
