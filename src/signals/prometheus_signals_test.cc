#include "signals/prometheus_signals.h"

#include <gtest/gtest.h>

namespace capstan::signals {
namespace {

using namespace std::chrono_literals;

ApiSeries series(std::string name, std::string pod, std::vector<ApiPoint> points, std::string le = "") {
  ApiSeries one{{{"__name__", std::move(name)}, {"model_name", "m"}, {"pod", std::move(pod)}}, std::move(points)};
  if (!le.empty()) one.labels.emplace_back("le", std::move(le));
  return one;
}

ApiAnswer matrix(std::vector<ApiSeries> all) {
  ApiAnswer answer;
  answer.kind = ApiAnswer::Kind::matrix;
  answer.series = std::move(all);
  return answer;
}

PrometheusQuery query() {
  PrometheusQuery query;
  query.matchers = {{"namespace", Matcher::Op::equal, "chat"}};
  query.reader.engine = MetricCatalog::bundled().engine("tgi").value();
  return query;
}

TEST(PrometheusSignals, AsksForSamplesOfTheEngine) {
  EXPECT_EQ(PrometheusSignals(query()).expression(),
            "{__name__=~\"(kserve_)?(process_start_time_seconds|tgi_batch_current_size|tgi_queue_size|"
            "tgi_request_duration_bucket|tgi_request_duration_sum|"
            "tgi_request_mean_time_per_token_duration_bucket|"
            "tgi_request_queue_duration_bucket|tgi_request_queue_duration_sum|tgi_request_success)\",namespace="
            "\"chat\"}[90000ms]");
  PrometheusQuery any;
  EXPECT_NE(PrometheusSignals(any).expression().find("vllm[:_]num_requests_running"), std::string::npos);
}

TEST(PrometheusSignals, SeparatesTargetsAndAgesSignalsFromTheirScrapes) {
  PrometheusSignals signals{PrometheusQuery{}};
  const Instant now{1000s};
  signals.take(matrix({series("vllm:num_requests_running", "a", {{95'000, 1}, {98'000, 2}}),
                       series("vllm:num_requests_running", "b", {{60'000, 7}})}),
               now, 100'000);
  EXPECT_EQ(signals.targets(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(signals.readings("a", now).single()[SignalName::running].signal, model::Signal::measured(2, 2s));
  EXPECT_EQ(signals.readings("b", now).single()[SignalName::running].signal,
            (model::Signal{model::Signal::State::missing, 0, 40s}))
      << "the scrapes of b have stopped";
  EXPECT_EQ(signals.readings("c", now).page, MissingReason::never_scraped);
}

TEST(PrometheusSignals, ReadsCountersAndHistogramsFromTheSamples) {
  PrometheusSignals signals{PrometheusQuery{}};
  const Instant now{1000s};
  const auto answer = [](std::vector<ApiPoint> tokens, std::vector<ApiPoint> low, std::vector<ApiPoint> all) {
    return matrix({series("vllm:prompt_tokens_total", "a", std::move(tokens)),
                   series("vllm:time_to_first_token_seconds_bucket", "a", std::move(low), "0.1"),
                   series("vllm:time_to_first_token_seconds_bucket", "a", std::move(all), "+Inf")});
  };
  signals.take(answer({{90'000, 100}, {95'000, 150}}, {{90'000, 0}, {95'000, 100}}, {{90'000, 0}, {95'000, 100}}), now,
               95'000);
  const auto reading = [&](SignalName name) { return signals.readings("a", now).single()[name].signal.value; };
  EXPECT_EQ(reading(SignalName::prompt_tokens_total), 150);
  EXPECT_EQ(reading(SignalName::ttft_p99_us), 99'000) << "the first answer has two samples";
  signals.take(answer({{95'000, 150}, {100'000, 20}}, {{95'000, 100}}, {{95'000, 100}}), now + 5s, 100'000);
  EXPECT_EQ(reading(SignalName::prompt_tokens_total), 170)
      << "the counter was reset, and the sample of 95 s counts once";
}

TEST(PrometheusSignals, ReportsWarningsAndForgetsTargetsThatAreGone) {
  PrometheusSignals signals{PrometheusQuery{}};
  const Instant now{1000s};
  signals.take(matrix({series("vllm:num_requests_running", "a", {{100'000, 1}})}), now, 100'000);
  ApiAnswer partial = matrix({});
  partial.warnings = {"a store is unreachable"};
  signals.take(partial, now + 1s, 101'000);
  EXPECT_EQ(signals.warnings(), std::vector<std::string>{"a store is unreachable"});
  EXPECT_EQ(signals.readings("a", now + 1s).page, MissingReason::no_metric);
  EXPECT_EQ(signals.readings("a", now + 1s).single()[SignalName::running].signal, model::Signal::measured(1, 1s));
  signals.failed({.file = "p", .message = "unreachable"});
  EXPECT_EQ(signals.readings("a", now + 2s).error->text(), "p: unreachable");
  signals.take(matrix({}), now + 2000s, 2'100'000);
  EXPECT_TRUE(signals.targets().empty()) << "the target was gone for more than ten times the lookback";
}

TEST(PrometheusSignals, BoundsTheNumberOfTargets) {
  PrometheusQuery two;
  two.targets_max = 2;
  PrometheusSignals signals(two);
  signals.take(matrix({series("tgi_queue_size", "a", {{1000, 1}}), series("tgi_queue_size", "b", {{1000, 1}}),
                       series("tgi_queue_size", "c", {{1000, 1}})}),
               {1000s}, 1000);
  EXPECT_EQ(signals.targets().size(), 2u);
}

}  // namespace
}  // namespace capstan::signals
