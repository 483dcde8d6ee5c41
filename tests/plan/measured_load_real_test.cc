// Measures a load on a real Prometheus server, which holds an hour of vLLM's metrics: two pods, of which one starts
// again after half of the time. scripts/setup unpacks Prometheus into build/prometheus. Without it, every test is
// skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "kube/wall_clock.h"
#include "net/http_client.h"
#include "net/monotonic.h"
#include "plan/measure/measure_loads.h"
#include "plan/read/read_spec.h"
#include "plan/search/load_facts.h"
#include "real_prometheus.h"

namespace capstan::test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr std::int64_t kScrapeS = 15;
constexpr std::int64_t kHistoryS = 3600;

/// Returns the metrics of one pod that finishes a request a second. Three of ten prompts have at most 100 tokens, and
/// the others at most 1,000; the mean is 400.
std::string pod_metrics(const std::string& pod, std::int64_t end_s, bool starts_again) {
  const std::string labels = fmt::format("namespace=\"llm\",pod=\"{}\",model_name=\"meta-llama/Llama-3.1-8B\"", pod);
  const struct {
    const char* metric;
    const char* more;
    double per_s;
    double constant;
  } rows[] = {
      {"vllm:request_success_total", ",finished_reason=\"stop\"", 0.75, 0},
      {"vllm:request_success_total", ",finished_reason=\"length\"", 0.25, 0},
      {"vllm:num_requests_running", "", 0, 5},
      {"vllm:num_requests_waiting", "", 0, 1},
      {"vllm:request_prompt_tokens_bucket", ",le=\"100.0\"", 0.3, 0},
      {"vllm:request_prompt_tokens_bucket", ",le=\"1000.0\"", 1, 0},
      {"vllm:request_prompt_tokens_bucket", ",le=\"+Inf\"", 1, 0},
      {"vllm:request_prompt_tokens_sum", "", 400, 0},
      {"vllm:generation_tokens_total", "", 200, 0},
  };
  std::string text;
  for (const auto& row : rows) {
    for (std::int64_t at = 0; at <= kHistoryS; at += kScrapeS) {
      const std::int64_t age = starts_again && at >= kHistoryS / 2 ? at - kHistoryS / 2 : at;
      text += fmt::format("{}{{{}{}}} {} {}\n", row.metric, labels, row.more,
                          row.constant + row.per_s * static_cast<double>(age), end_s - kHistoryS + at);
    }
  }
  return text;
}

struct MeasuredLoadTest : testing::Test {
  fs::path folder = fs::path(testing::TempDir()) / ("measured_load_test_" + std::to_string(getpid()));
  std::optional<Prometheus> server;

  void SetUp() override {
    if (find_prometheus().empty()) GTEST_SKIP() << "Prometheus is not installed; scripts/setup unpacks it";
    fs::create_directories(folder);
    const std::int64_t now_s = std::chrono::system_clock::now().time_since_epoch() / 1s;
    std::ofstream(folder / "series.txt") << pod_metrics("chat-0", now_s, false) << pod_metrics("chat-1", now_s, true)
                                         << "# EOF\n";
    const std::string promtool = fs::path(find_prometheus()).parent_path() / "promtool";
    const std::string fill =
        fmt::format("'{}' tsdb create-blocks-from openmetrics '{}' '{}' >'{}' 2>&1", promtool,
                    (folder / "series.txt").string(), (folder / "data").string(), (folder / "promtool.log").string());
    ASSERT_EQ(std::system(fill.c_str()), 0) << read_text(folder / "promtool.log");
    server.emplace(folder, "global: {evaluation_interval: 1m}\n", "");
    const net::Clock clock = net::machine_clock();
    net::HttpClient idle(clock);
    for (const Instant end = clock() + 60s; !server->address() && clock() < end;) idle.run_once(5ms);
    ASSERT_TRUE(server->address()) << server->log();
  }
  void TearDown() override {
    server.reset();
    fs::remove_all(folder);
  }

  /// Returns the spec of a service whose load is measured on the server.
  plan::PlanSpec spec_of(const std::string& more) const {
    const auto spec = plan::parse_plan_spec(
        fmt::format("services:\n- {{name: chat, model: Llama-3.1-8B, slo: {{ttft_p99: 1s}}, load: {{prometheus: {{url: "
                    "'http://{}', over: 55m, {}}}}}}}\n",
                    *server->address(), more),
        "s.yaml");
    EXPECT_TRUE(spec) << spec.error().text();
    return spec.value_or(plan::PlanSpec{});
  }
};

TEST_F(MeasuredLoadTest, HasTheRequestsAndLengthsThatTheServerHolds) {
  plan::PlanSpec spec = spec_of("labels: {namespace: llm}");
  const Result<void> measured = plan::measure_loads(spec, kube::machine_wall_clock()().unix_us / 1000);
  ASSERT_TRUE(measured) << measured.error().text();
  const auto facts = plan::count_load(spec.services[0]);
  ASSERT_TRUE(facts) << facts.error().text();
  EXPECT_NEAR(static_cast<double>(facts->requests), 2 * 55 * 60, 0.03 * 2 * 55 * 60);
  EXPECT_NEAR(facts->prompt_tokens, 400, 20);
  EXPECT_NEAR(facts->answer_tokens, 200, 20);
  const auto in_flight =
      std::ranges::find(spec.services[0].load.measured, "requests in flight", &plan::MeasuredFigure::name);
  ASSERT_NE(in_flight, spec.services[0].load.measured.end());
  EXPECT_EQ(in_flight->value, "12 on the mean, 12 at most");
}

TEST_F(MeasuredLoadTest, NamesServerAndQueryOfAFailure) {
  for (const auto& [more, message] :
       {std::pair("labels: {namespace: other}", "no series of vllm:request_success_total"),
        std::pair("labels: {}, step: 1s", "services.chat.load.prometheus.step")}) {
    const auto text = [&]() -> std::string {
      const auto spec = plan::parse_plan_spec(
          fmt::format(
              "services:\n- {{name: chat, model: Llama-3.1-8B, slo: {{ttft_p99: 1s}}, load: {{prometheus: {{url: "
              "'http://{}', {}}}}}}}\n",
              *server->address(), more),
          "s.yaml");
      if (!spec) return spec.error().text();
      plan::PlanSpec copy = *spec;
      const Result<void> measured = plan::measure_loads(copy, kube::machine_wall_clock()().unix_us / 1000);
      return measured ? "" : measured.error().text();
    }();
    EXPECT_NE(text.find(message), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace capstan::test
