#include "emulator/load_driver.h"

#include <gtest/gtest.h>

#include "emulator/completion_request.h"
#include "workload/list_source.h"

namespace capstan::emulator {
namespace {

using workload::ListSource;

using namespace std::chrono_literals;

/// A transport that stores the requests, so that a test can answer them.
class FakeTransport : public net::Transport {
 public:
  struct Call {
    net::Request request;
    net::Handler handler;
  };
  net::RequestId start(net::Request request, net::Handler handler) override {
    calls.push_back({std::move(request), std::move(handler)});
    return calls.size();
  }
  void cancel(net::RequestId id) override { cancelled.push_back(id); }

  void deliver(std::size_t i, std::string_view bytes) { calls[i].handler.on_body(bytes); }
  void end(std::size_t i, int status, net::Failure failure = net::Failure::none, std::string message = {}) {
    net::Exchange exchange;
    exchange.failure = failure;
    exchange.message = std::move(message);
    exchange.response.status = status;
    calls[i].handler.on_done(exchange);
  }

  std::vector<Call> calls;
  std::vector<net::RequestId> cancelled;
};

std::vector<workload::Request> every_second(int count) {
  std::vector<workload::Request> requests;
  for (int i = 0; i < count; ++i) {
    requests.push_back({.arrival = Instant{1s * i}, .input_tokens = 3, .output_tokens = 2});
  }
  return requests;
}

constexpr std::string_view kPiece = "data: {\"choices\":[{\"text\":\" the\"}]}\n\n";
constexpr std::string_view kUsage = "data: {\"choices\":[],\"usage\":{\"completion_tokens\":5}}\n\ndata: [DONE]\n\n";

TEST(LoadDriver, SendsDueRequestsIndependentlyOfReplies) {
  Instant now{};
  FakeTransport transport;
  ListSource source(every_second(5));
  LoadDriver driver({.endpoints = {"http://a", "http://b"}, .model = "m", .limit = 4}, source, transport,
                    [&] { return now; });
  driver.run();
  EXPECT_EQ(transport.calls.size(), 1u);
  EXPECT_EQ(driver.next_event(), Instant{1s});
  now = Instant{2500ms};
  driver.run();
  ASSERT_EQ(transport.calls.size(), 3u);
  EXPECT_EQ(transport.calls[0].request.url, "http://a/v1/completions");
  EXPECT_EQ(transport.calls[1].request.url, "http://b/v1/completions");
  EXPECT_TRUE(transport.calls[0].request.body.starts_with(R"({"model":"m","prompt":[)"));
  CompletionReader reader;
  const auto request = reader.read(transport.calls[0].request.body, CompletionKind::text);
  ASSERT_TRUE(request.has_value()) << request.error().message;
  EXPECT_EQ(request->prompt.tokens, 3);
  EXPECT_EQ(request->max_tokens, 2);
  EXPECT_TRUE(request->ignore_eos && request->stream && request->include_usage);

  now = Instant{3s};
  driver.run();
  EXPECT_EQ(transport.calls.size(), 4u);
  EXPECT_TRUE(driver.next_event().is_never());
  EXPECT_FALSE(driver.is_over());
  EXPECT_EQ(driver.report().send_delay.percentile_us(1'000'000) / 10'000, 150);
  driver.stop();
  EXPECT_TRUE(driver.is_over());
  EXPECT_EQ(transport.cancelled.size(), 4u);
}

TEST(LoadDriver, MeasuresLatenciesFromTheDueTime) {
  Instant now{};
  FakeTransport transport;
  ListSource source(every_second(2));
  LoadDriver driver({.endpoints = {"http://a"}, .model = {}}, source, transport, [&] { return now; });
  now = Instant{1100ms};
  driver.run();
  now = Instant{1200ms};
  transport.deliver(1, kPiece.substr(0, 10));
  now = Instant{1300ms};
  transport.deliver(1, kPiece.substr(10));
  now = Instant{1700ms};
  transport.deliver(1, std::string(kPiece) + std::string(kUsage));
  transport.end(1, 200);
  const LoadReport& report = driver.report();
  EXPECT_EQ(report.completed, 1);
  EXPECT_EQ(report.output_tokens, 5);
  EXPECT_EQ(report.ttft.mean_us(), 300'000);
  EXPECT_EQ(report.tpot.mean_us(), 100'000);
  EXPECT_EQ(report.e2e.mean_us(), 700'000);
  EXPECT_EQ(report.in_flight, 1);
}

TEST(LoadDriver, CountsErrorsByKind) {
  Instant now{10s};
  FakeTransport transport;
  ListSource source(every_second(6));
  LoadDriver driver({.endpoints = {"http://a"}, .model = {}, .in_flight_max = 5}, source, transport,
                    [&] { return now; });
  now = Instant{100s};
  driver.run();
  ASSERT_EQ(transport.calls.size(), 5u);
  transport.end(0, 503);
  transport.end(1, 0, net::Failure::connect);
  transport.deliver(2, kPiece);
  transport.end(2, 200);
  transport.deliver(3, std::string("data: {\"error\":{\"message\":\"no\"}}\n\n"));
  transport.end(3, 200);
  transport.deliver(4, std::string(kPiece) + std::string(kUsage));
  transport.end(4, 200);
  const std::map<std::string, RequestCount> expected = {
      {"connect", 1}, {"cut_short", 1}, {"driver_full", 1}, {"http_503", 1}, {"stream_error", 1}};
  EXPECT_EQ(driver.report().errors, expected);
  EXPECT_EQ(driver.report().failed(), 5);
  EXPECT_EQ(driver.report().completed, 1);
  EXPECT_TRUE(driver.is_over());
}

TEST(LoadDriver, SendsHeadersAndTlsSettingsWithEachRequest) {
  Instant now{1s};
  FakeTransport transport;
  ListSource source(every_second(2));
  LoadSettings settings{.endpoints = {"https://a/v1"}, .model = {}};
  settings.headers = {{"Authorization", "Bearer secret"}, {"X-Team", "search"}};
  settings.tls =
      std::make_shared<const net::Tls>(net::Tls{.ca = "pem", .certificate = {}, .key = {}, .server_name = {}});
  LoadDriver driver(settings, source, transport, [&] { return now; });
  now = Instant{2s};
  driver.run();
  ASSERT_EQ(transport.calls.size(), 2u);
  for (const FakeTransport::Call& call : transport.calls) {
    EXPECT_EQ(call.request.url, "https://a/v1/completions");
    EXPECT_EQ(call.request.headers,
              (std::vector<net::Header>{
                  {"Content-Type", "application/json"}, {"Authorization", "Bearer secret"}, {"X-Team", "search"}}));
    EXPECT_EQ(call.request.tls, settings.tls);
  }
}

TEST(LoadDriver, FindsTheApiUnderTheBaseUrl) {
  const struct {
    const char* base;
    const char* url;
  } rows[] = {
      {"http://a:8000", "http://a:8000/v1/completions"},
      {"http://a:8000/", "http://a:8000/v1/completions"},
      {"https://a/v1", "https://a/v1/completions"},
      {"https://a/v1/", "https://a/v1/completions"},
      {"https://a/team/openai/v1", "https://a/team/openai/v1/completions"},
      {"https://a/prefix", "https://a/prefix/v1/completions"},
  };
  for (const auto& row : rows) EXPECT_EQ(completions_url(row.base), row.url);
}

TEST(LoadDriver, KeepsTheMessageOfTheFirstErrorOfAKind) {
  Instant now{};
  FakeTransport transport;
  ListSource source(every_second(3));
  LoadDriver driver({.endpoints = {"https://a"}, .model = {}}, source, transport, [&] { return now; });
  now = Instant{2s};
  driver.run();
  transport.end(0, 0, net::Failure::tls, "https://a: SSL certificate problem: self-signed certificate");
  transport.end(1, 0, net::Failure::tls, "https://a: something later");
  transport.end(2, 503);
  const std::map<std::string, std::string> expected = {
      {"tls", "https://a: SSL certificate problem: self-signed certificate"}};
  EXPECT_EQ(driver.report().messages, expected);
  EXPECT_NE(
      render_text(driver.report())
          .find("  tls                            2  https://a: SSL certificate problem: self-signed certificate\n"),
      std::string::npos)
      << render_text(driver.report());
  EXPECT_NE(render_json(driver.report()).find(R"("tls": "https://a: SSL certificate problem: self-signed)"),
            std::string::npos);
}

TEST(LoadDriver, LeastLoadedPicksTheEndpointWithTheFewestRequests) {
  Instant now{100s};
  FakeTransport transport;
  ListSource source(every_second(7));
  LoadSettings settings{.endpoints = {"http://a", "http://b", "http://c"}, .model = {}};
  settings.route = LoadRoute::least_loaded;
  LoadDriver driver(settings, source, transport, [&] { return now; });
  now = Instant{102s};
  driver.run();
  transport.end(1, 503);
  now = Instant{103s};
  driver.run();
  EXPECT_EQ(transport.calls[3].request.url, transport.calls[1].request.url);
  driver.set_endpoints({"http://d"});
  now = Instant{104s};
  driver.run();
  EXPECT_EQ(transport.calls[4].request.url, "http://d/v1/completions");
  driver.set_endpoints({});
  now = Instant{105s};
  driver.run();
  EXPECT_EQ(transport.calls.size(), 5u);
  EXPECT_EQ(driver.report().errors.at("no_endpoint"), 1);
}

TEST(LoadDriver, EqualPrefixesGiveEqualTokens) {
  const std::array<std::uint64_t, 2> a = {1, 2};
  const std::array<std::uint64_t, 2> b = {1, 3};
  const auto prompt = [](std::span<const std::uint64_t> hashes, std::uint64_t number) {
    CompletionReader reader;
    workload::Request request{.arrival = {}, .input_tokens = 1024, .output_tokens = 1};
    request.prefix_hashes = hashes;
    return reader.read("{\"prompt\":" + prompt_token_ids(request, number) + "}", CompletionKind::text)->prompt;
  };
  EXPECT_EQ(prompt(a, 1), prompt(a, 2));
  EXPECT_EQ(prompt(a, 1).prefix_hashes[0], prompt(b, 1).prefix_hashes[0]);
  EXPECT_NE(prompt(a, 1).prefix_hashes[1], prompt(b, 1).prefix_hashes[1]);
  EXPECT_NE(prompt({}, 1).prefix_hashes[0], prompt({}, 2).prefix_hashes[0]);
}

TEST(StreamReader, ReadsEventsThatAreSplitAnywhere) {
  const std::string whole =
      ": a comment\r\n" + std::string(kPiece) + "data:{\"choices\":[{\"text\":\"x\"}]}\r\n\r\n" + std::string(kUsage);
  for (std::size_t step = 1; step < 20; ++step) {
    StreamReader stream;
    std::int64_t pieces = 0;
    for (std::size_t i = 0; i < whole.size(); i += step) pieces += stream.feed(std::string_view(whole).substr(i, step));
    EXPECT_EQ(pieces, 2);
    EXPECT_EQ(stream.tokens(), 5);
    EXPECT_TRUE(stream.done());
    EXPECT_FALSE(stream.failed());
  }
  StreamReader endless;
  for (int i = 0; i < 20; ++i) endless.feed(std::string(100'000, 'x'));
  EXPECT_TRUE(endless.failed());
}

TEST(LoadReport, IsRenderedAsTextAndAsJson) {
  LoadReport report;
  report.sent = 10;
  report.completed = 8;
  report.errors = {{"http_503", 2}};
  report.input_tokens = 8000;
  report.output_tokens = 1600;
  report.elapsed = 4s;
  for (int i = 1; i <= 8; ++i) report.ttft.add(Duration{10ms} * i);
  EXPECT_EQ(render_text(report),
            "requests: 10 sent in 4.0 s · 8 completed · 2 failed\n"
            "2.00 requests/s, 2000 input and 400 output tokens/s\n"
            "\n"
            "  ms                mean       p50       p90       p95       p99\n"
            "  TTFT              45.0      40.1      80.1      80.1      80.1\n"
            "\n"
            "  http_503                       2\n");
  const std::string json = render_json(report);
  EXPECT_TRUE(json.starts_with("{\n  \"format_version\": 1,\n  \"requests_sent\": 10,\n"));
  EXPECT_NE(json.find("\"ttft\": {\n    \"count\": 8,\n    \"mean_us\": 45000,\n    \"p50_us\": 4"), json.npos);
  EXPECT_NE(json.find("\"errors\": {\n    \"http_503\": 2\n  }"), json.npos);
}

TEST(LoadReport, ShowsNoLatenciesWithoutCompletedRequests) {
  LoadReport report;
  report.sent = 3;
  report.errors = {{"connect", 3}};
  report.elapsed = 1s;
  for (int i = 0; i < 3; ++i) report.send_delay.add({});
  EXPECT_EQ(render_text(report),
            "requests: 3 sent in 1.0 s · 0 completed · 3 failed\n"
            "0.00 requests/s, 0 input and 0 output tokens/s\n"
            "\n"
            "no request completed, so there are no latencies\n"
            "\n"
            "  connect                        3\n");
}

}  // namespace
}  // namespace capstan::emulator
