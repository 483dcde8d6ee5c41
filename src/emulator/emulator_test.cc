#include "emulator/emulator.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "base/random.h"
#include "emulator/load_driver.h"
#include "emulator/testing.h"
#include "net/http_client.h"
#include "sim/fleet/fleet.h"
#include "workload/list_source.h"

namespace capstan::emulator {
namespace {

using workload::ListSource;

using namespace std::chrono_literals;

EmulatorSettings small_settings() {
  EmulatorSettings settings;
  settings.engine.model = &small_model();
  settings.engine.replica = {.max_batched_tokens = 2048, .max_seqs = 16, .max_waiting = 64, .kv_blocks = 4000};
  settings.model_name = "tiny";
  settings.unix_s = 1'700'000'000;
  settings.version = "test";
  settings.http = emulator_limits();
  return settings;
}

/// An emulator, a client and a clock that the test sets. Bytes cross the loopback within a round, so after a
/// few rounds without bytes both sides have sent everything that is due.
class EmulatorTest : public testing::Test {
 protected:
  void start(const EmulatorSettings& settings) {
    emulator.emplace(settings, clock, clock);
    const Result<net::SocketAddress> bound = emulator->add({"127.0.0.1", 0});
    ASSERT_TRUE(bound.has_value()) << bound.error().text();
    address = *bound;
  }
  void settle() {
    for (int quiet = 0; quiet < 4; ++quiet) {
      client.run_once({});
      if (emulator->run_once({})) quiet = -1;
    }
  }
  void pass(Duration time) {
    const Instant end = now + time;
    settle();
    while (emulator->next_event() <= end) {
      now = std::max(now, emulator->next_event());
      settle();
    }
    now = end;
    settle();
  }
  /// Sends a request; its reply is in `replies` once it has arrived.
  net::RequestId send(const std::string& method, const std::string& path, std::string body = {}) {
    const std::size_t index = replies.size();
    replies.emplace_back();
    return client.start(
        {.method = method,
         .url = "http://" + address.text() + path,
         .headers = {},
         .body = std::move(body),
         .tls = nullptr,
         .proxy = {},
         .limits = {}},
        {.on_headers = {}, .on_body = {}, .on_done = [this, index](net::Exchange e) { replies[index] = e; }});
  }
  const net::Exchange& ask(const std::string& method, const std::string& path, std::string body = {}) {
    send(method, path, std::move(body));
    pass(1s);
    return replies.back();
  }

  Instant now{};
  net::Clock clock = [this] { return now; };
  std::optional<Emulator> emulator;
  net::HttpClient client{clock};
  net::SocketAddress address;
  std::vector<net::Exchange> replies;
};

TEST_F(EmulatorTest, AnswersLikeAnInferenceServer) {
  start(small_settings());
  EXPECT_EQ(ask("GET", "/health").response.status, 200);
  EXPECT_EQ(ask("GET", "/ping").response.status, 200);
  EXPECT_EQ(ask("GET", "/version").response.body, R"({"version":"test"})");
  EXPECT_EQ(ask("GET", "/v1/models").response.body,
            R"({"object":"list","data":[{"id":"tiny","object":"model","created":1700000000,"owned_by":"capstan",)"
            R"("root":"tiny","parent":null,"max_model_len":131072}]})");
  const std::string text =
      ask("POST", "/v1/completions", R"({"prompt":"a b","max_tokens":3,"ignore_eos":true})").response.body;
  EXPECT_NE(text.find(R"("choices":[{"index":0,"text":" the one two","logprobs":null,"finish_reason":"length",)"
                      R"("stop_reason":null}],)"
                      R"("usage":{"prompt_tokens":2,"total_tokens":5,"completion_tokens":3}})"),
            text.npos)
      << text;
  const std::string chat =
      ask("POST", "/v1/chat/completions",
          R"({"model":"tiny","messages":[{"role":"user","content":"a"}],"max_tokens":1,"ignore_eos":true})")
          .response.body;
  EXPECT_NE(chat.find(R"("message":{"role":"assistant","content":" the"})"), chat.npos) << chat;
  const std::string page = ask("GET", "/metrics").response.body;
  EXPECT_NE(page.find("vllm:request_success_total{engine=\"0\",finished_reason=\"length\",model_name=\"tiny\"} 2.0"),
            page.npos);
}

TEST_F(EmulatorTest, StreamsTokensWhenTheyAreGenerated) {
  start(small_settings());
  std::string received;
  client.start({.method = "POST",
                .url = "http://" + address.text() + "/v1/chat/completions",
                .headers = {},
                .body = R"({"messages":[{"role":"user","content":"a"}],"max_tokens":3,"ignore_eos":true,"stream":true,)"
                        R"("stream_options":{"include_usage":true}})",
                .tls = nullptr,
                .proxy = {},
                .limits = {}},
               {.on_headers = {},
                .on_body = [&](std::string_view bytes) { received += bytes; },
                .on_done = [](const net::Exchange&) {}});
  settle();
  EXPECT_EQ(received, "");
  std::vector<std::string> pieces;
  while (!emulator->next_event().is_never()) {
    now = emulator->next_event();
    settle();
    if (!received.empty()) pieces.push_back(std::exchange(received, {}));
  }
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_NE(pieces[0].find(R"("delta":{"role":"assistant","content":" the"},"logprobs":null,"finish_reason":null)"),
            std::string::npos);
  EXPECT_NE(pieces[1].find(R"("delta":{"content":" one"})"), std::string::npos);
  EXPECT_NE(pieces[2].find(R"("delta":{"content":" two"},"logprobs":null,"finish_reason":"length")"),
            std::string::npos);
  EXPECT_NE(pieces[2].find(R"("choices":[],"usage":{"prompt_tokens":6,"total_tokens":9,"completion_tokens":3})"),
            std::string::npos);
  EXPECT_TRUE(pieces[2].ends_with("data: [DONE]\n\n"));
}

TEST_F(EmulatorTest, RepliesWithTheErrorsOfVllm) {
  EmulatorSettings settings = small_settings();
  settings.max_model_tokens = 100;
  start(settings);
  struct Row {
    const char* method;
    const char* path;
    const char* body;
    int status;
    const char* text;
  };
  const Row rows[] = {
      {"GET", "/nothing", "", 404, R"({"error":{"message":"Not Found","type":"Not Found","param":null,"code":404}})"},
      {"GET", "/v1/completions", "", 405,
       R"({"error":{"message":"Method Not Allowed","type":"Method Not Allowed","param":null,"code":405}})"},
      {"POST", "/metrics", "x", 405,
       R"({"error":{"message":"Method Not Allowed","type":"Method Not Allowed","param":null,"code":405}})"},
      {"POST", "/v1/completions", "{", 400, R"("type":"Bad Request","param":null,"code":400}})"},
      {"POST", "/v1/completions", R"({"prompt":true})", 400, R"("type":"Bad Request","param":"prompt","code":400}})"},
      {"POST", "/v1/completions", R"({"prompt":"a","top_p":0})", 400,
       R"j({"error":{"message":"top_p must be in (0, 1], got 0.0. (parameter=top_p, value=0.0)",)j"
       R"("type":"BadRequestError","param":"top_p","code":400}})"},
      {"POST", "/v1/completions", R"({"prompt":"a","suffix":"b"})", 400,
       R"({"error":{"message":"suffix is not currently supported by this emulated engine",)"
       R"("type":"BadRequestError","param":"suffix","code":400}})"},
      {"POST", "/v1/completions", R"({"model":"other","prompt":"a"})", 404,
       R"({"error":{"message":"The model `other` does not exist.","type":"NotFoundError",)"
       R"("param":"model","code":404}})"},
      {"POST", "/v1/completions", R"({"prompt":"a","max_tokens":100})", 400,
       R"({"error":{"message":"This model's maximum context length is 100 tokens. However, you requested 100 output )"
       R"(tokens and your prompt contains at least 1 input tokens, for a total of at least 101 tokens. Please reduce )"
       R"(the length of the input prompt or the number of requested output tokens. )"
       R"j((parameter=input_tokens, value=1)",)j"
       R"("type":"BadRequestError","param":"input_tokens","code":400}})"},
      {"POST", "/v1/completions", R"({"prompt":"a","max_tokens":9223372036854775807})", 400,
       "max_tokens=9223372036854775807 cannot be greater than max_model_len=100. Please request fewer output tokens."},
      {"POST", "/v1/completions", R"({"prompt":"a","max_tokens":4,"min_tokens":5})", 400,
       "min_tokens must be less than or equal to max_tokens=4, got 5."},
  };
  for (const Row& row : rows) {
    const net::Exchange& reply = ask(row.method, row.path, row.body);
    EXPECT_EQ(reply.response.status, row.status) << row.path << row.body;
    EXPECT_NE(reply.response.body.find(row.text), std::string::npos) << reply.response.body;
  }
  const std::string whole = R"({"messages":[{"role":"user","content":")" + std::string(4 * 95, 'a') + "\"}]}";
  EXPECT_NE(ask("POST", "/v1/chat/completions", whole).response.body.find("max_tokens must be at least 1, got 0."),
            std::string::npos)
      << "the prompt alone fills the context: " << replies.back().response.body;
}

/// Returns the text of all pieces of a stream, in order.
std::string text_of_stream(const std::string& events) {
  std::string text;
  const std::string key = R"("text":")";
  for (std::size_t at = events.find(key); at != events.npos; at = events.find(key, at)) {
    at += key.size();
    text += events.substr(at, events.find('"', at) - at);
  }
  return text;
}

TEST_F(EmulatorTest, AStopStringEndsAnAnswer) {
  start(small_settings());
  struct Row {
    const char* teaches;
    const char* fields;
    const char* text;
    const char* ending;
    const char* usage;
  };
  const Row rows[] = {
      {"the answer ends before the string", R"("stop":[" all"])", " the one two",
       R"("finish_reason":"stop","stop_reason":" all")", R"("completion_tokens":4)"},
      {"the answer includes the string", R"("stop":" all","include_stop_str_in_output":true)", " the one two all",
       R"("finish_reason":"stop","stop_reason":" all")", R"("completion_tokens":4)"},
      {"the string begins inside a word", R"("stop":"wo")", " the one t",
       R"("finish_reason":"stop","stop_reason":"wo")", R"("completion_tokens":3)"},
      {"the string does not count before min_tokens", R"("stop":" the","min_tokens":2)", " the one two all and are",
       R"("finish_reason":"length","stop_reason":null)", R"("completion_tokens":6)"},
      {"the answer does not contain the string", R"("stop":["\n","xyz"])", " the one two all and are",
       R"("finish_reason":"length","stop_reason":null)", R"("completion_tokens":6)"},
  };
  for (const Row& row : rows) {
    const std::string request = std::string(R"({"prompt":"a","max_tokens":6,"ignore_eos":true,)") + row.fields;
    const std::string whole = ask("POST", "/v1/completions", request + "}").response.body;
    EXPECT_NE(whole.find(std::string(R"("text":")") + row.text + '"'), whole.npos) << row.teaches << ": " << whole;
    EXPECT_NE(whole.find(row.ending), whole.npos) << row.teaches << ": " << whole;
    EXPECT_NE(whole.find(row.usage), whole.npos) << row.teaches << ": " << whole;
    const std::string stream = ask("POST", "/v1/completions", request + R"(,"stream":true})").response.body;
    EXPECT_EQ(text_of_stream(stream), row.text) << row.teaches << ": " << stream;
    EXPECT_NE(stream.find(row.ending), stream.npos) << row.teaches << ": " << stream;
  }
}

TEST_F(EmulatorTest, RefusesThenLoadsThenServes) {
  EmulatorSettings settings = small_settings();
  settings.engine.refusing = 10s;
  settings.engine.loading = 5s;
  start(settings);
  EXPECT_EQ(ask("GET", "/health").failure, net::Failure::connect);
  pass(9s);
  EXPECT_EQ(ask("GET", "/health").response.status, 503);
  EXPECT_EQ(ask("POST", "/v1/completions", R"({"prompt":"a"})").response.status, 503);
  EXPECT_EQ(ask("GET", "/metrics").response.status, 503);
  pass(5s);
  EXPECT_EQ(ask("GET", "/health").response.status, 200);
  EXPECT_TRUE(emulator->remove(address));
  EXPECT_FALSE(emulator->remove(address));
  EXPECT_EQ(ask("GET", "/health").failure, net::Failure::connect);
}

TEST_F(EmulatorTest, ADisconnectedClientAbortsItsRequest) {
  start(small_settings());
  const net::RequestId id =
      send("POST", "/v1/completions", R"({"prompt":"a","max_tokens":9000,"ignore_eos":true,"stream":true})");
  pass(1s);
  EXPECT_NE(
      ask("GET", "/metrics").response.body.find("vllm:num_requests_running{engine=\"0\",model_name=\"tiny\"} 1.0"),
      std::string::npos);
  client.cancel(id);
  pass(1s);
  const std::string page = ask("GET", "/metrics").response.body;
  EXPECT_NE(page.find("vllm:num_requests_running{engine=\"0\",model_name=\"tiny\"} 0.0"), page.npos);
  EXPECT_NE(page.find("finished_reason=\"abort\",model_name=\"tiny\"} 1.0"), page.npos);
  EXPECT_TRUE(emulator->next_event().is_never());
}

TEST_F(EmulatorTest, RemovingAnEngineCutsItsRequests) {
  start(small_settings());
  send("POST", "/v1/completions", R"({"prompt":"a","max_tokens":9000,"ignore_eos":true,"stream":true})");
  pass(1s);
  EXPECT_TRUE(emulator->remove(address));
  settle();
  EXPECT_EQ(replies.back().failure, net::Failure::lost);
  EXPECT_EQ(emulator->engines(), 0u);
}

TEST_F(EmulatorTest, AnAnswerEndsByItselfWithoutIgnoreEos) {
  start(small_settings());
  const std::string request = R"({"prompt":"a","max_tokens":100000})";
  ask("POST", "/v1/completions", request);
  pass(1h);
  ask("POST", "/v1/completions", request);
  pass(1h);
  const auto usage = [&](std::size_t i) {
    const std::string& body = replies[i].response.body;
    return body.substr(body.find("\"finish_reason\""));
  };
  EXPECT_TRUE(usage(0).starts_with("\"finish_reason\":\"stop\"")) << usage(0);
  EXPECT_EQ(usage(0), usage(1));
}

std::vector<workload::Request> requests() {
  RandomStream random(7, "emulator.fidelity");
  std::vector<workload::Request> requests;
  Instant at{};
  for (int i = 0; i < 150; ++i) {
    at = at + Duration{static_cast<std::int64_t>(random.exponential() * 120e6)};
    requests.push_back({.arrival = at,
                        .input_tokens = 1 + static_cast<std::int32_t>(random.below(1500)),
                        .output_tokens = 1 + static_cast<std::int32_t>(random.below(80))});
  }
  return requests;
}

/// Equal requests have equal latencies through sockets and in the simulator.
TEST_F(EmulatorTest, AnEmulatedEngineHasTheLatenciesOfASimulatedOne) {
  const EmulatorSettings settings = small_settings();
  start(settings);
  ListSource source(requests());
  LoadSettings load;
  load.endpoints = {"http://" + address.text()};
  LoadDriver driver(load, source, client, clock);
  while (!driver.is_over()) {
    driver.run();
    settle();
    const Instant next = std::min(driver.next_event(), emulator->next_event());
    if (next.is_never()) break;
    now = std::max(now, next);
  }
  const LoadReport& emulated = driver.report();
  ASSERT_EQ(emulated.completed, 150);

  ListSource simulator_source(requests());
  sim::Fleet fleet({}, {{.model = &small_model(), .replica = settings.engine.replica}}, {}, simulator_source);
  fleet.add_replica(0, {});
  fleet.advance(Instant{1h});
  const sim::RequestMeter& simulated = fleet.meter();
  EXPECT_EQ(emulated.output_tokens, simulated.output_tokens);
  EXPECT_EQ(emulated.input_tokens, simulated.input_tokens);
  const std::array<std::pair<const sim::LatencyHistogram*, const sim::LatencyHistogram*>, 3> pairs = {
      {{&emulated.ttft, &simulated.ttft}, {&emulated.tpot, &simulated.tpot}, {&emulated.e2e, &simulated.e2e}}};
  for (const auto& [emulated_times, simulated_times] : pairs) {
    EXPECT_EQ(emulated_times->count(), simulated_times->count());
    for (const std::int64_t ppm : {100'000, 500'000, 900'000, 990'000}) {
      const auto expected = static_cast<double>(simulated_times->percentile_us(ppm));
      EXPECT_NEAR(static_cast<double>(emulated_times->percentile_us(ppm)), expected, 0.01 * expected);
    }
  }
}

}  // namespace
}  // namespace capstan::emulator
