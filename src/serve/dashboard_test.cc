#include "serve/dashboard.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <memory>

#include "net/http_client.h"
#include "serve/page.h"

namespace capstan::serve {
namespace {

using namespace std::chrono_literals;

constexpr const char* kResult = R"({"format_version": 1, "policies": [{"policy": "a"}]})";
constexpr WhatIfLimits kLimits{.has_spot = true, .has_minimum = true, .min_replicas = 1, .max_replicas = 8};

/// A server with a dashboard, and a client of it.
class DashboardTest : public testing::Test {
 protected:
  void start(std::optional<WhatIfLimits> what_if = {}, Dashboard::Simulate simulate = {}) {
    dashboard.answer_on(server);
    dashboard.show({.source = "r.json", .result = kResult, .what_if = what_if}, std::move(simulate));
    listen();
  }
  void listen() {
    const Result<net::ListenerId> listener = server.listen({"127.0.0.1", 0});
    ASSERT_TRUE(listener) << listener.error().text();
    url = "http://" + server.address(*listener).text();
  }
  /// Opens a stream of events. It appends what it receives to a text, and "(end)" at its end.
  void open(std::string& into, std::vector<net::Header> headers, const std::string& query = "") {
    net::Request request;
    request.url = url + "/api/events" + query;
    request.headers = std::move(headers);
    client.start(std::move(request), {.on_headers = {},
                                      .on_body = [&into](std::string_view piece) { into += piece; },
                                      .on_done = [&into](const net::Exchange&) { into += "(end)"; }});
  }
  void wait_until(const std::string& text, std::string_view part) {
    const Instant end = clock() + 60s;
    while (text.find(part) == text.npos && clock() < end) run_once();
  }
  void run_once() {
    std::array<pollfd, 3> descriptors{
        {{server.poll_fd(), POLLIN, 0}, {dashboard.poll_fd(), POLLIN, 0}, {client.poll_fd(), POLLIN, 0}}};
    poll(descriptors.data(), descriptors.size(), 10);
    dashboard.run_once();
    server.run_once({});
    client.run_once({});
  }
  /// Starts a request. The answer appears in `answers` at the returned position.
  std::size_t send(net::Request request) {
    const std::size_t position = answers.size();
    answers.emplace_back();
    last = client.start(std::move(request),
                        {.on_headers = {}, .on_body = {}, .on_done = [this, position](net::Exchange exchange) {
                           answers[position] = std::move(exchange);
                         }});
    return position;
  }
  const net::Exchange& wait(std::size_t position) {
    const Instant end = clock() + 60s;
    while (!answers[position] && clock() < end) run_once();
    EXPECT_TRUE(answers[position]);
    return answers[position] ? *answers[position] : answers[position].emplace();
  }
  net::Response get(const std::string& path, std::vector<net::Header> headers = {}, const char* method = "GET") {
    net::Request request;
    request.method = method;
    request.url = url + path;
    request.headers = std::move(headers);
    return wait(send(std::move(request))).response;
  }
  std::size_t post(const std::string& body) {
    net::Request request;
    request.method = "POST";
    request.url = url + "/api/what-if";
    request.headers = {{"Content-Type", "application/json"}, {"Origin", url}};
    request.body = body;
    return send(std::move(request));
  }

  net::Clock clock = net::machine_clock();
  Dashboard dashboard{Access::for_server({"127.0.0.1", 0}, {})};
  net::HttpServer server{clock, dashboard_limits(), dashboard};
  net::HttpClient client{clock};
  net::RequestId last = 0;
  std::string url;
  std::vector<std::optional<net::Exchange>> answers;
};

std::string header(const net::Response& response, std::string_view name) {
  const std::string* value = net::find_header(response.headers, name);
  return value == nullptr ? "" : *value;
}

TEST_F(DashboardTest, ServesThePageAndItsResult) {
  start();
  const net::Response page = get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(header(page, "Content-Type"), "text/html; charset=utf-8");
  EXPECT_NE(page.body.find(kResult), page.body.npos);
  EXPECT_NE(page.body.find(R"("source":"r.json","what_if":null,"live_speed":null)"), page.body.npos);
  EXPECT_EQ(header(page, "Content-Security-Policy"),
            std::string(content_policy(page.body)) + "; frame-ancestors 'none'");
  const net::Response result = get("/api/result");
  EXPECT_EQ(result.body, kResult);
  EXPECT_EQ(header(result, "Content-Security-Policy"), "default-src 'none'; frame-ancestors 'none'");
  for (const net::Response* response : {&page, &result}) {
    EXPECT_EQ(header(*response, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(header(*response, "Cross-Origin-Resource-Policy"), "same-origin");
    EXPECT_EQ(header(*response, "Cache-Control"), "no-store");
  }
}

TEST_F(DashboardTest, RefusesEverythingElse) {
  start();
  const std::vector<net::Header> json = {{"Content-Type", "application/json"}};
  EXPECT_EQ(get("/etc/passwd").status, 404);
  EXPECT_EQ(get("/api/result/").status, 404);
  EXPECT_EQ(get("/api/what-if").status, 405);
  EXPECT_EQ(header(get("/api/what-if"), "Allow"), "POST");
  EXPECT_EQ(get("/api/result", json, "POST").status, 405);
  EXPECT_EQ(get("/", json, "DELETE").status, 405);
  EXPECT_EQ(get("/", {{"Host", "evil.example"}}).status, 403);
  EXPECT_EQ(get("/api/result", {{"Origin", "http://evil.example"}}).status, 403);
  EXPECT_EQ(get("/", {}, "HEAD").status, 200);
  const net::Exchange& alone = wait(post("{}"));
  EXPECT_EQ(alone.response.status, 404);
  EXPECT_NE(alone.response.body.find("only a served scenario"), std::string::npos) << alone.response.body;
  EXPECT_EQ(wait(post(std::string(5000, ' '))).response.status, 413);
  EXPECT_EQ(get("/", {{"X-Long", std::string(20'000, 'x')}}).status, 431);
}

TEST_F(DashboardTest, SimulatesAChange) {
  start(kLimits, [](const WhatIf& change, const std::stop_token&) -> Result<std::string> {
    if (change.min_replicas == 8) return std::unexpected(Error::about({}, "there are no nodes for that"));
    return "twice " + std::to_string(*change.load_factor);
  });
  const net::Response good = wait(post(R"({"load_factor": 2})")).response;
  EXPECT_EQ(good.status, 200);
  EXPECT_EQ(good.body, "twice 2.000000");
  const net::Response bad = wait(post(R"({"load_factor": 200})")).response;
  EXPECT_EQ(bad.status, 400);
  EXPECT_NE(bad.body.find("load_factor is 200, expected a number from 0.1 to 10"), bad.body.npos) << bad.body;
  const net::Response impossible = wait(post(R"({"min_replicas": 8})")).response;
  EXPECT_EQ(impossible.status, 422);
  EXPECT_NE(impossible.body.find("there are no nodes for that"), impossible.body.npos);
}

TEST_F(DashboardTest, ANewerChangeReplacesAnOlderOneAndAGoneClientStopsIts) {
  std::mutex mutex;
  int stopped = 0;
  start(kLimits, [&](const WhatIf& change, const std::stop_token& stop) -> Result<std::string> {
    if (change == WhatIf{}) return "as it is";
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    wake.wait(lock, stop, [] { return false; });
    ++stopped;
    return "stopped";
  });
  const std::size_t older = post(R"({"load_factor": 2})");
  const std::size_t newer = post("{}");
  EXPECT_EQ(wait(older).response.status, 409);
  EXPECT_EQ(wait(newer).response.body, "as it is");

  post(R"({"load_factor": 3})");
  for (int i = 0; i < 5; ++i) run_once();
  client.cancel(last);
  const Instant end = clock() + 60s;
  const auto count = [&] {
    const std::lock_guard lock(mutex);
    return stopped;
  };
  const int before = count();
  while (count() == before && clock() < end) run_once();
  EXPECT_EQ(count(), before + 1);
  EXPECT_EQ(wait(post("{}")).response.body, "as it is");

  const std::size_t last_one = post(R"({"load_factor": 4})");
  for (int i = 0; i < 5; ++i) run_once();
  dashboard.finish();
  EXPECT_EQ(wait(last_one).response.status, 503);
}

TEST_F(DashboardTest, StreamsEventsToPagesThatAreOpenOrComeBack) {
  dashboard.answer_on(server);
  dashboard.show({.source = "s.yaml", .result = "{}", .live_speed = 60, .epoch = 7});
  listen();
  dashboard.add_event("state", "{\"a\":0}\n", "decisions of 0");
  std::string early, late;
  open(early, {});
  wait_until(early, "data: {\"a\":0}");
  dashboard.add_event("state", "{\"a\":1}");
  wait_until(early, "data: {\"a\":1}");
  EXPECT_EQ(early,
            "retry: 2000\nid: 7/-1\n\nid: 7/0\nevent: state\ndata: {\"a\":0}\n\n"
            "id: 7/1\nevent: state\ndata: {\"a\":1}\n\n");
  open(late, {{"Last-Event-ID", "7/0"}});
  wait_until(late, "data: {\"a\":1}");
  EXPECT_EQ(late, "retry: 2000\nid: 7/0\n\nid: 7/1\nevent: state\ndata: {\"a\":1}\n\n");
  std::string awake;
  open(awake, {}, "?last=7/0");
  wait_until(awake, "data: {\"a\":1}");
  EXPECT_EQ(awake, late) << "a page that was asleep says in the address what it has seen";
  EXPECT_EQ(get("/api/decision", {}).status, 404);
  EXPECT_EQ(get("/api/decision?state=0", {}).body, "decisions of 0");
  EXPECT_EQ(get("/api/decision?state=1", {}).status, 404);
  EXPECT_EQ(get("/api/events", {}, "HEAD").status, 200);
  dashboard.finish();
  wait_until(early, "(end)");
  wait_until(late, "(end)");
  EXPECT_TRUE(early.ends_with("(end)") && late.ends_with("(end)"));
}

TEST_F(DashboardTest, AnswersWithTheHistoryOfARecording) {
  dashboard.answer_on(server);
  dashboard.show({.source = "s.rec",
                  .result = "{}",
                  .history = [](std::string_view after) { return "after [" + std::string(after) + "]"; },
                  .receives_states = true});
  listen();
  EXPECT_EQ(get("/api/history").body, "after []");
  EXPECT_EQ(get("/api/history?after=4.17").body, "after [4.17]");
  EXPECT_EQ(get("/api/history?before=1").body, "after []");
}

TEST_F(DashboardTest, AResultHasNoHistoryToAskFor) {
  start();
  EXPECT_EQ(get("/api/history").status, 404);
}

TEST_F(DashboardTest, APageOfAnotherContentLoadsAgain) {
  dashboard.answer_on(server);
  dashboard.show({.source = "s.rec", .result = "{}", .receives_states = true, .first_event = 5, .epoch = 7});
  listen();
  EXPECT_NE(get("/").body.find(R"("live_speed":0.0,"is_controller":false)"), std::string::npos);
  dashboard.add_event("state", "{\"a\":5}");
  for (const char* seen : {"6/5", "7/3", "7/6", "7", "5", "7/x", "/"}) {
    std::string stream;
    open(stream, {{"Last-Event-ID", seen}});
    wait_until(stream, "(end)");
    EXPECT_EQ(stream, "event: reload\ndata: {\"format_version\":1}\n\n(end)") << seen;
  }
  std::string fresh, seen_all;
  open(fresh, {});
  open(seen_all, {{"Last-Event-ID", "7/5"}});
  wait_until(fresh, "{\"a\":5}");
  wait_until(seen_all, "id: 7/5");
  EXPECT_EQ(seen_all, "retry: 2000\nid: 7/5\n\n");
  dashboard.replace({.source = "s.rec", .result = "{\"new\":1}", .receives_states = true, .epoch = 8});
  wait_until(fresh, "(end)");
  EXPECT_TRUE(fresh.ends_with("event: reload\ndata: {\"format_version\":1}\n\n(end)"));
  EXPECT_EQ(get("/api/result").body, "{\"new\":1}");
  std::string next;
  open(next, {});
  wait_until(next, "id: 8/-1");
  EXPECT_EQ(next.find("\"a\""), next.npos);
}

TEST_F(DashboardTest, ANoticeIsShownUntilItEnds) {
  dashboard.answer_on(server);
  dashboard.show({.source = "s.rec", .result = "{}", .receives_states = true});
  listen();
  std::string early, late, last;
  open(early, {});
  wait_until(early, "id: 0/-1");
  dashboard.set_notice("s.rec: it is not a recording");
  open(late, {});
  for (const std::string* stream : {&early, &late}) {
    wait_until(*stream, "not a recording");
    EXPECT_TRUE(stream->ends_with(
        "event: notice\ndata: {\"format_version\":1,\"error\":\"s.rec: it is not a recording\"}\n\n"));
  }
  dashboard.set_notice("");
  wait_until(early, "\"error\":\"\"");
  open(last, {});
  wait_until(last, "id: 0/-1");
  EXPECT_EQ(last.find("notice"), last.npos);
}

TEST_F(DashboardTest, DropsTheOldestEventsAndTheirDecisions) {
  struct Row {
    EventLimits limits;
    const char* first;  ///< id line of the first event that is kept, of six events
  };
  // An event of this test has 36 bytes, and its decisions have 100.
  for (const Row& row : {Row{{.count = 2, .bytes = 10'000}, "id: 0/4"}, Row{{.count = 100, .bytes = 410}, "id: 0/3"}}) {
    Dashboard bounded{Access::for_server({"127.0.0.1", 0}, {}), row.limits};
    net::HttpServer other{clock, dashboard_limits(), bounded};
    bounded.answer_on(other);
    bounded.show({.source = "live", .result = "{}", .receives_states = true, .is_controller = true});
    const Result<net::ListenerId> listener = other.listen({"127.0.0.1", 0});
    ASSERT_TRUE(listener);
    url = "http://" + other.address(*listener).text();
    for (int i = 0; i < 6; ++i) bounded.add_event("state", "{\"a\":" + std::to_string(i) + "}", std::string(100, 'd'));
    std::string stream;
    open(stream, {});
    const Instant end = clock() + 60s;
    while (stream.find("{\"a\":5}") == stream.npos && clock() < end) {
      other.run_once(1ms);
      client.run_once({});
    }
    const std::size_t first = stream.find("event: ");
    EXPECT_TRUE(stream.substr(0, first).ends_with(std::string(row.first) + "\n")) << stream;
    bounded.finish();
  }
}

TEST_F(DashboardTest, AResultHasNoEventsAndNoDecisions) {
  start();
  EXPECT_EQ(get("/api/events").status, 404);
  EXPECT_EQ(get("/api/decision?state=0").status, 404);
}

}  // namespace
}  // namespace capstan::serve
