#include <gtest/gtest.h>

#include "bench.h"

namespace capstan::kube::fake {
namespace {

using namespace std::chrono_literals;
using Kind = Outcome::Kind;

constexpr const char* kDeployments = "/apis/apps/v1/deployments";
const ObjectRef kVllm{resources::kDeployments, "ml", "vllm"};

struct ClientTest : testing::Test {
  Bench bench{7};
  std::optional<Outcome> outcome;

  void SetUp() override { bench.server.put(kDeployments, "ml", "vllm", {{"spec", {{"replicas", 1}}}}); }
  void run(Duration duration) {
    for (Duration passed{}; passed < duration; passed += 100ms)
      bench.server.advance(100ms, [this] { bench.client.run_once(); });
  }
  /// Makes a call and returns its outcome after `wait`.
  const Outcome& call(ApiRequest request, Duration wait) {
    outcome.reset();
    bench.client.call(std::move(request), [this](Outcome o) { outcome = std::move(o); });
    run(wait);
    EXPECT_TRUE(outcome.has_value());
    if (!outcome) outcome.emplace();
    return *outcome;
  }
  std::string version() { return bench.server.objects(kDeployments).at("ml/vllm")["metadata"]["resourceVersion"]; }
  std::int64_t replicas() { return bench.server.objects(kDeployments).at("ml/vllm")["spec"]["replicas"]; }
};

TEST_F(ClientTest, ReportsAConflictWithoutARetry) {
  const std::string old = version();
  EXPECT_EQ(call(scale(kVllm, 3, old), 1s).kind, Kind::ok);
  EXPECT_EQ(replicas(), 3);
  const Outcome& conflict = call(scale(kVllm, 5, old), 1s);
  EXPECT_EQ(conflict.kind, Kind::refused);
  EXPECT_TRUE(conflict.error.conflict());
  EXPECT_EQ(replicas(), 3);
  EXPECT_EQ(bench.server.seen.size(), 2u) << "a conflict is not retried";
}

TEST_F(ClientTest, ALostAnswerToAWriteIsAnUnknownOutcome) {
  bench.server.faults.answer_lost = 1'000'000;
  EXPECT_EQ(call(scale(kVllm, 3, version()), 1s).kind, Kind::unknown);
  EXPECT_EQ(replicas(), 3) << "the write took effect";
  EXPECT_EQ(call(get(kVllm), 1s).kind, Kind::unreachable) << "a read changes nothing";

  bench.server.faults = {};
  bench.server.faults.gateway_timeout = 1'000'000;
  EXPECT_EQ(call(scale(kVllm, 4, version()), 1s).kind, Kind::unknown);
  EXPECT_EQ(replicas(), 4);

  bench.server.faults = {};
  bench.server.faults.half_open = 1'000'000;
  EXPECT_EQ(call(scale(kVllm, 5, version()), 20s).kind, Kind::unknown);
  EXPECT_EQ(replicas(), 4) << "the write had no effect";

  bench.server.faults = {};
  bench.server.faults.unreachable = 1'000'000;
  EXPECT_EQ(call(scale(kVllm, 5, version()), 1s).kind, Kind::unreachable);
}

TEST_F(ClientTest, GivesUpRequestsOnADeadConnection) {
  const auto ask = [&] {
    ApiRequest urgent = get(kVllm);
    urgent.urgent = true;
    urgent.timeout = 2s;
    bench.client.call(std::move(urgent), [](const Outcome&) {});
  };
  for (const bool handshakes : {true, false}) {
    outcome.reset();
    bench.server.faults.half_open = 1'000'000;
    bench.client.call(scale(kVllm, 5, version()), [this](Outcome o) { outcome = std::move(o); });
    run(200ms);
    if (!handshakes) bench.server.faults = {.unreachable = 1'000'000};
    ask();
    run(3s);
    bench.server.faults = {};
    EXPECT_FALSE(outcome) << "the timeout of a write is 15 s";
    bool read = false;
    bench.client.call(get(kVllm), [&](const Outcome& o) { read = o.ok(); });
    ask();
    run(1s);
    ASSERT_TRUE(outcome) << "the answer to another request shows that the connection is dead";
    EXPECT_EQ(outcome->kind, Kind::unknown);
    EXPECT_TRUE(read) << "later requests are not given up";
  }
}

TEST_F(ClientTest, RetriesABusyServerAfterTheRequestedWait) {
  bench.server.faults.busy = 1'000'000;
  outcome.reset();
  bench.client.call(scale(kVllm, 3, version()), [this](Outcome o) { outcome = std::move(o); });
  run(900ms);
  EXPECT_EQ(bench.server.seen.size(), 1u) << "the wait is at least one second";
  bench.server.faults = {};
  run(3s);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->kind, Kind::ok);
  EXPECT_EQ(bench.client.counters().retries, 1u);

  bench.server.faults.busy = 1'000'000;
  const Outcome& given_up = call(scale(kVllm, 4, version()), 30s);
  EXPECT_EQ(given_up.kind, Kind::refused);
  EXPECT_EQ(given_up.error.code, 429);
  EXPECT_EQ(bench.server.seen.size(), 7u);

  const Outcome& held = call(evict_pod({resources::kPods, "ml", "p"}, {}), 5s);
  EXPECT_EQ(held.error.code, 429) << "a refusal by a disruption budget is not retried";
  EXPECT_EQ(bench.server.seen.size(), 8u);
}

TEST_F(ClientTest, LimitsTheRateExceptForUrgentRequests) {
  for (int i = 0; i < 400; ++i) bench.client.call(get(kVllm), [](const Outcome&) {});
  ApiRequest urgent = get(kVllm);
  urgent.urgent = true;
  bool done = false;
  bench.client.call(std::move(urgent), [&](const Outcome& o) { done = o.ok(); });
  run(1s);
  EXPECT_TRUE(done);
  // The first run_once() sends the urgent request and 100 others. Each of the nine later ones sends 5, and the last 5
  // have not arrived.
  EXPECT_EQ(bench.server.seen.size(), 141u);
}

TEST_F(ClientTest, AsksMaySendBeforeEachSending) {
  bool allowed = true;
  ApiRequest request = scale(kVllm, 3, version());
  request.may_send = [&] { return allowed; };
  bench.server.faults.busy = 1'000'000;
  outcome.reset();
  bench.client.call(std::move(request), [this](Outcome o) { outcome = std::move(o); });
  run(500ms);
  EXPECT_EQ(bench.server.seen.size(), 1u);
  allowed = false;  // the request waits for its retry
  bench.server.faults = {};
  run(4s);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->kind, Kind::unreachable);
  EXPECT_EQ(bench.server.seen.size(), 1u);
  EXPECT_EQ(replicas(), 1);
}

TEST_F(ClientTest, BoundsTheQueue) {
  int unreachable = 0;
  for (int i = 0; i < 5'000; ++i) {
    bench.client.call(get(kVllm), [&](const Outcome& o) { unreachable += o.kind == Kind::unreachable ? 1 : 0; });
  }
  run(100ms);
  EXPECT_EQ(unreachable, 904);
  EXPECT_EQ(bench.client.counters().refused_by_queue, 904u);
}

TEST(ClientTokens, ARotatedTokenIsReadAgain) {
  std::string token = "first\n";
  Config config = config_with_token("");
  config.token_file = "token";
  Bench bench(3, config, [&](const std::string&) { return Result<std::string>(token); });
  bench.server.token = "first";
  std::vector<int> codes;
  const auto ask = [&](Duration wait) {
    bench.client.call(get({resources::kPods, "ns", "p"}), [&](const Outcome& o) { codes.push_back(o.error.code); });
    for (Duration passed{}; passed < wait; passed += 100ms)
      bench.server.advance(100ms, [&] { bench.client.run_once(); });
  };
  ask(1s);
  token = "second";
  ask(61s);  // the file is read again within the minute, without a refusal
  bench.server.token = "second";
  ask(1s);
  bench.server.token = token = "third";
  ask(1s);  // the request is refused, the file is read at once, and the request is retried
  bench.server.token = "another";
  ask(1s);
  EXPECT_EQ(codes, (std::vector<int>{404, 404, 404, 404, 401}));
}

TEST(ClientTokens, ACallWithoutCredentialsFailsWithTheReason) {
  Config config = config_with_token("");
  config.token_file = "/run/token";
  Bench bench(3, config, no_file);
  std::optional<Outcome> outcome;
  bench.client.call(get({resources::kPods, "ns", "p"}), [&](Outcome o) { outcome = std::move(o); });
  for (int i = 0; i < 450; ++i) bench.server.advance(100ms, [&] { bench.client.run_once(); });
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->kind, Kind::unreachable);
  EXPECT_EQ(outcome->error.text(), "/run/token: cannot be read");
  EXPECT_TRUE(bench.server.seen.empty());
}

TEST_F(ClientTest, CancelledCallsHaveNoOutcome) {
  int ends = 0;
  const Client::CallId id = bench.client.call(get(kVllm), [&](const Outcome&) { ++ends; });
  bench.client.cancel(id);
  const Client::CallId sent = bench.client.call(get(kVllm), [&](const Outcome&) { ++ends; });
  bench.client.run_once();
  bench.client.cancel(sent);
  run(1s);
  EXPECT_EQ(ends, 0);
}

}  // namespace
}  // namespace capstan::kube::fake
