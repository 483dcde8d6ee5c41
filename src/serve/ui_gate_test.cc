#include "serve/ui_gate.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <optional>

#include <nlohmann/json.hpp>

#include "kube/base64.h"
#include "net/http_client.h"

namespace capstan::serve {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using Headers = std::vector<net::Header>;

net::Header bearer(const std::string& token) { return {"Authorization", "Bearer " + token}; }

/// An API server that lets the owners of some tokens read /ui. It also knows the token "guest", whose owner may
/// not read it.
class AccessServer final : public net::Transport {
 public:
  net::RequestId start(net::Request request, net::Handler handler) override {
    pending_.emplace(++last_id_, std::pair(std::move(request), std::move(handler)));
    return last_id_;
  }
  void cancel(net::RequestId id) override { pending_.erase(id); }
  void answer() {
    if (is_silent) return;
    for (auto& [id, pending] : std::exchange(pending_, {})) {
      ++asked;
      json body = json::parse(pending.first.body);
      const bool is_owner = body["kind"] == "TokenReview";
      const std::string name = is_owner ? body["spec"]["token"] : body["spec"]["user"];
      body["status"] = {{"authenticated", name == "guest" || readers.contains(name)},
                        {"user", {{"username", name}}},
                        {"allowed", readers.contains(name)}};
      net::Exchange exchange;
      if (is_down) exchange.failure = net::Failure::connect;
      if (!is_down) exchange.response = {201, {}, body.dump()};
      pending.second.on_done(std::move(exchange));
    }
  }

  std::set<std::string> readers = {"reader"};
  bool is_down = false;
  bool is_silent = false;
  int asked = 0;

 private:
  net::RequestId last_id_ = 0;
  std::map<net::RequestId, std::pair<net::Request, net::Handler>> pending_;
};

kube::Config controller_config() {
  kube::Config config;
  config.server = "https://fake";
  config.token = "controller";
  return config;
}

class UiGateTest : public testing::Test {
 protected:
  UiGateTest() {
    gate.answer_on(server);
    dashboard.show(
        {.source = "live", .result = R"({"recording":"live"})", .receives_states = true, .is_controller = true});
    const Result<net::ListenerId> listener = server.listen({"127.0.0.1", 0});
    EXPECT_TRUE(listener);
    if (listener) host = server.address(*listener).text();
  }
  void run_once() {
    std::array<pollfd, 2> sockets{{{server.poll_fd(), POLLIN, 0}, {browser.poll_fd(), POLLIN, 0}}};
    poll(sockets.data(), sockets.size(), 5);
    server.run_once({});
    gate.run_once();
    client.run_once();
    api.answer();
    server.run_once({});
    browser.run_once({});
  }
  void wait_until(const std::function<bool()>& done) {
    const Instant end = machine() + 60s;
    while (!done() && machine() < end) run_once();
    EXPECT_TRUE(done());
  }
  net::Response send(const std::string& path, Headers headers, const char* method = "GET") {
    net::Request request;
    request.method = method;
    request.url = "http://" + host + path;
    request.headers = std::move(headers);
    std::optional<net::Exchange> answer;
    browser.start(std::move(request),
                  {.on_headers = {}, .on_body = {}, .on_done = [&](net::Exchange got) { answer = std::move(got); }});
    wait_until([&] { return answer.has_value(); });
    return answer ? answer->response : net::Response();
  }
  int status(const std::string& path, Headers headers, const char* method = "GET") {
    return send(path, std::move(headers), method).status;
  }
  /// Opens a stream of events. It appends what it receives to a text, and "(end)" at its end.
  net::RequestId open(std::string& into, const std::string& token) {
    net::Request request;
    request.url = "http://" + host + "/ui/api/events";
    request.headers = {bearer(token)};
    return browser.start(std::move(request), {.on_headers = {},
                                              .on_body = [&into](std::string_view piece) { into += piece; },
                                              .on_done = [&into](const net::Exchange&) { into += "(end)"; }});
  }

  net::Clock machine = net::machine_clock();
  Duration skipped{};
  net::Clock clock = [this] { return machine() + skipped; };
  AccessServer api;
  kube::Credentials credentials{controller_config(),
                                [](const std::string& path) { return std::unexpected(Error::about(path, "no file")); },
                                nullptr, [] { return kube::WallTime{1}; }};
  kube::Client client{api, credentials, clock, RandomStream(1, "client"), kube::Client::Options()};
  kube::AccessReviewer reviewer{client, clock, {.path = "/ui"}};
  Access access = Access::for_server({"127.0.0.1", 0}, {"dash.example"});
  Dashboard dashboard{access};
  UiGate gate{dashboard, access, reviewer, clock};
  net::HttpServer server{clock, dashboard_limits(), gate};
  net::HttpClient browser{machine};
  std::string host;
};

TEST_F(UiGateTest, ShowsThePageToAnAllowedToken) {
  for (const char* path : {"/ui", "/ui/", "/"}) EXPECT_EQ(status(path, {bearer("reader")}), 200) << path;
  EXPECT_EQ(send("/ui", {bearer("reader")}).body.find("<!doctype html>"), 0u);
  EXPECT_EQ(send("/ui/api/result", {bearer("reader")}).body, R"({"recording":"live"})");
  EXPECT_EQ(status("/api/result", {{"authorization", "bearer  reader"}}), 200);
  EXPECT_EQ(status("/api/result", {{"Authorization", "Basic " + kube::base64_encode("any:reader")}}), 200);
  EXPECT_EQ(status("/ui/nothing", {bearer("reader")}), 404);
}

TEST_F(UiGateTest, RefusesEveryOtherToken) {
  const net::Response none = send("/ui", {});
  EXPECT_EQ(none.status, 401);
  ASSERT_NE(net::find_header(none.headers, "WWW-Authenticate"), nullptr);
  EXPECT_TRUE(net::find_header(none.headers, "WWW-Authenticate")->starts_with("Basic realm="));
  EXPECT_EQ(api.asked, 0);
  EXPECT_EQ(status("/ui/api/result", {bearer("stranger")}), 401);
  EXPECT_EQ(status("/ui/api/result", {{"Authorization", "reader"}}), 401);
  EXPECT_EQ(status("/ui/api/result", {{"Authorization", "Basic cmVhZGVy"}}), 401) << "a name without a password";
  EXPECT_EQ(status("/ui/api/result", {bearer("reader"), bearer("reader")}), 401);
  const net::Response guest = send("/ui/api/events", {bearer("guest")});
  EXPECT_EQ(guest.status, 403);
  EXPECT_NE(guest.body.find("the user guest has no permission to get the path /ui"), std::string::npos) << guest.body;
  EXPECT_EQ(status("/ui/nothing", {}), 401) << "what exists is not told";
}

TEST_F(UiGateTest, WithoutTheApiServerItShowsNothing) {
  api.is_down = true;
  const net::Response refused = send("/ui", {bearer("reader")});
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.body.find("<!doctype"), std::string::npos);
  api.is_down = false;
  EXPECT_EQ(status("/ui", {bearer("reader")}), 200);
}

TEST_F(UiGateTest, RefusesForeignHostsOriginsAndChangesBeforeItAsks) {
  EXPECT_EQ(status("/ui", {bearer("reader"), {"Host", "evil.example"}}), 403);
  EXPECT_EQ(status("/ui/api/result", {bearer("reader"), {"Origin", "http://evil.example"}}), 403);
  EXPECT_EQ(status("/ui/api/result", {bearer("reader"), {"Sec-Fetch-Site", "cross-site"}}), 403);
  EXPECT_EQ(status("/ui/api/what-if", {bearer("reader"), {"Content-Type", "application/json"}}, "POST"), 405);
  EXPECT_EQ(status("/ui", {bearer("reader")}, "DELETE"), 405);
  EXPECT_EQ(api.asked, 0);
  EXPECT_EQ(status("/ui", {bearer("reader"), {"Host", "dash.example"}}), 200);
  EXPECT_EQ(status("/ui/api/result", {bearer("reader"), {"Origin", "http://" + host}}), 200);
  const Headers link = {bearer("reader"),
                        {"Sec-Fetch-Site", "cross-site"},
                        {"Sec-Fetch-Mode", "navigate"},
                        {"Sec-Fetch-Dest", "document"}};
  EXPECT_EQ(status("/ui", link), 200) << "a link to the page may be followed";
}

TEST_F(UiGateTest, AStreamEndsWhenItsTokenIsNoLongerAllowed) {
  std::string stream, other;
  api.readers = {"reader", "second"};
  open(stream, "reader");
  open(other, "second");
  wait_until([&] { return stream.find("retry:") == 0 && other.find("retry:") == 0; });
  skipped += UiGate::kReviewAgainAfter;
  const int asked = api.asked;
  wait_until([&] { return api.asked == asked + 4; });
  dashboard.add_event("state", "{\"a\":1}");
  wait_until([&] { return stream.find("{\"a\":1}") != stream.npos && other.find("{\"a\":1}") != other.npos; });
  api.readers = {"second"};
  skipped += UiGate::kReviewAgainAfter;
  wait_until([&] { return stream.ends_with("(end)"); });
  dashboard.add_event("state", "{\"a\":2}");
  wait_until([&] { return other.find("{\"a\":2}") != other.npos; });
  EXPECT_EQ(stream.find("{\"a\":2}"), stream.npos);
  api.is_down = true;
  skipped += UiGate::kReviewAgainAfter;
  wait_until([&] { return other.ends_with("(end)"); });
}

TEST_F(UiGateTest, AClientThatLeavesBeforeTheAnswerGetsNoStream) {
  std::string stream;
  api.is_silent = true;
  const net::RequestId request = open(stream, "reader");
  wait_until([&] { return reviewer.size() == 1; });
  browser.cancel(request);
  wait_until([&] { return server.connections() == 0; });
  api.is_silent = false;
  wait_until([&] { return api.asked == 2; });
  run_once();
  EXPECT_EQ(gate.next_deadline(), Instant::never());
}

}  // namespace
}  // namespace capstan::serve
