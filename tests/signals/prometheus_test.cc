// Tests with a real Prometheus server on loopback, which scrapes a page of this test. scripts/setup unpacks Debian's
// Prometheus into build/prometheus. Without one, every test is skipped.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "net/http_client.h"
#include "net/http_server.h"
#include "net/monotonic.h"
#include "real_prometheus.h"
#include "signals/prometheus_client.h"
#include "signals/prometheus_signals.h"

namespace capstan::signals {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using test::find_prometheus;
using test::Prometheus;
using test::read_text;

constexpr Duration kTimeout = 60s;

std::int64_t unix_ms() { return std::chrono::system_clock::now().time_since_epoch() / std::chrono::milliseconds(1); }

/// An engine whose counters rise with every page.
class Engine : public net::HttpHandler {
 public:
  explicit Engine(const net::Clock& clock)
      : server(clock, {}, *this), listener(server.listen({"127.0.0.1", 0}).value()) {}

  void on_request(net::ExchangeId exchange, net::ListenerId, const net::HttpRequest&) override {
    ++page_count;
    const std::string m = "{model_name=\"m\"";
    const std::string count = std::to_string(100 * page_count);
    const std::string page = "vllm:num_requests_running" + m + "} 3\nvllm:prompt_tokens_total" + m + "} " + count +
                             "\nvllm:time_to_first_token_seconds_bucket" + m + ",le=\"0.1\"} " + count +
                             "\nvllm:time_to_first_token_seconds_bucket" + m + ",le=\"+Inf\"} " + count + "\n";
    server.reply(exchange, {.status = 200, .content_type = "text/plain; version=0.0.4", .body = page, .headers = {}});
  }
  void on_gone(net::ExchangeId) override {}

  int page_count = 0;
  net::HttpServer server;
  net::ListenerId listener;
};

struct PrometheusTest : testing::Test {
  net::Clock clock = net::machine_clock();
  net::HttpClient client{clock};
  Engine engine{clock};
  fs::path folder = fs::path(testing::TempDir()) / ("prometheus_test_" + std::to_string(getpid()));

  void SetUp() override {
    if (find_prometheus().empty()) GTEST_SKIP() << "Prometheus is not installed; scripts/setup unpacks it";
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string config() {
    return "global: {scrape_interval: 500ms, scrape_timeout: 400ms}\n"
           "scrape_configs:\n- job_name: engines\n  static_configs:\n  - targets: ['" +
           engine.server.address(engine.listener).text() + "']\n    labels: {pod: chat-0, namespace: chat}\n";
  }

  template <typename Until>
  bool wait(Until until) {
    const Instant end = clock() + kTimeout;
    while (!until() && clock() < end) {
      client.run_once(5ms);
      engine.server.run_once(0ms);
    }
    return until();
  }

  std::string wait_for_address(Prometheus& server) {
    EXPECT_TRUE(wait([&] { return server.address().has_value(); })) << server.log();
    return server.address().value_or("");
  }

  /// Sends a query and waits for the answer.
  Result<ApiAnswer> ask(PrometheusClient& prometheus, const std::string& query, std::optional<std::int64_t> at = {}) {
    std::optional<Result<ApiAnswer>> answer;
    const Result<void> asked = prometheus.instant(query, at, [&](Result<ApiAnswer> got) { answer = std::move(got); });
    EXPECT_TRUE(asked.has_value()) << asked.error().text();
    EXPECT_TRUE(wait([&] { return answer.has_value(); }));
    return answer ? *answer : Result<ApiAnswer>(std::unexpected(Error{.file = {}, .message = "no answer"}));
  }
};

TEST_F(PrometheusTest, SamplesBecomeSignals) {
  Prometheus server(folder, config(), "");
  PrometheusServer options;
  options.url = "http://" + wait_for_address(server);
  PrometheusClient prometheus(client, clock, options);
  PrometheusQuery query;
  query.matchers = {{"namespace", Matcher::Op::equal, "chat"}};
  PrometheusSignals signals(query);
  const auto single = [&] { return signals.readings("chat-0", clock()).single(); };
  const Instant end = clock() + kTimeout;
  while (single()[SignalName::ttft_p99_us].why != MissingReason::none && clock() < end) {
    const std::int64_t now_ms = unix_ms();
    const Result<ApiAnswer> answer = ask(prometheus, signals.expression(), now_ms);
    ASSERT_TRUE(answer.has_value()) << answer.error().text();
    signals.take(*answer, clock(), now_ms);
  }
  EXPECT_EQ(signals.readings("chat-0", clock()).engine, "vllm");
  EXPECT_EQ(single()[SignalName::running].signal.value, 3);
  EXPECT_EQ(single()[SignalName::ttft_p99_us].signal.value, 99'000);
  EXPECT_GE(single()[SignalName::prompt_tokens_total].signal.value, 200);
  EXPECT_EQ(signals.targets(), std::vector<std::string>{"chat-0"});

  std::optional<Result<ApiAnswer>> range;
  const std::int64_t now_ms = unix_ms();
  ASSERT_TRUE(prometheus
                  .range("vllm:num_requests_running", now_ms - 10'000, now_ms, 500ms,
                         [&](Result<ApiAnswer> got) { range = std::move(got); })
                  .has_value());
  ASSERT_TRUE(wait([&] { return range.has_value(); }));
  ASSERT_TRUE(range->has_value()) << range->error().text();
  ASSERT_EQ((*range)->series.size(), 1u);
  EXPECT_EQ((*range)->series[0].label("namespace"), "chat");
  EXPECT_EQ((*range)->series[0].points.back().value, 3);
}

TEST_F(PrometheusTest, ReadsAnswersAndErrorsOfEveryKind) {
  Prometheus server(folder, config(), "");
  PrometheusServer options;
  options.url = "http://" + wait_for_address(server);
  PrometheusClient prometheus(client, clock, options);
  EXPECT_EQ(ask(prometheus, "1.5 * 2").value().series.at(0).points.at(0).value, 3);
  EXPECT_EQ(ask(prometheus, "\"a\\\"b\"").value().text, "a\"b");
  EXPECT_EQ(ask(prometheus, "nothing_of_this_name").value().series.size(), 0u);
  const ApiAnswer unusual =
      ask(prometheus, "label_replace(vector(0/0), \"a\", \"x \\\" \\\\ \\n\", \"\", \"\")").value();
  EXPECT_NE(unusual.series.at(0).points.at(0).value, unusual.series.at(0).points.at(0).value) << "NaN";
  EXPECT_EQ(unusual.series.at(0).label("a"), "x \" \\ \n");
  const Result<ApiAnswer> bad = ask(prometheus, "sum(");
  ASSERT_FALSE(bad.has_value());
  EXPECT_NE(bad.error().text().find("HTTP status 400"), std::string::npos) << bad.error().text();
  EXPECT_NE(bad.error().text().find("bad_data: invalid parameter \"query\""), std::string::npos) << bad.error().text();
}

TEST_F(PrometheusTest, ClientCertificateIsSent) {
  const std::string folder_text = folder.string();
  const std::string make =
      "cd '" + folder_text +
      "' && exec >openssl.log 2>&1 && new='openssl req -newkey ec -pkeyopt "
      "ec_paramgen_curve:prime256v1 -nodes' && $new -x509 -keyout ca.key -out ca.crt -days 2 -subj /CN=ca && "
      "echo subjectAltName=IP:127.0.0.1 >names && for who in server client; do $new -keyout $who.key -out $who.csr "
      "-subj "
      "/CN=$who && openssl x509 -req -in $who.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out $who.crt -days 2 "
      "-extfile names || exit 1; done";
  ASSERT_EQ(std::system(make.c_str()), 0) << read_text(folder / "openssl.log");
  Prometheus server(folder, config(),
                    "tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n"
                    "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.crt\n");
  PrometheusServer options;
  options.url = "https://" + wait_for_address(server);
  options.ca_file = (folder / "ca.crt").string();
  {
    PrometheusClient anonymous(client, clock, options);
    EXPECT_FALSE(ask(anonymous, "1").has_value()) << "without a certificate";
  }
  options.certificate_file = (folder / "client.crt").string();
  options.key_file = (folder / "client.key").string();
  PrometheusClient prometheus(client, clock, options);
  const Result<ApiAnswer> answer = ask(prometheus, "1");
  ASSERT_TRUE(answer.has_value()) << answer.error().text();
  EXPECT_EQ(answer->series.at(0).points.at(0).value, 1);
}

}  // namespace
}  // namespace capstan::signals
