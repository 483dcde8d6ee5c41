// Tests of the page of a whole `capstan run`, with an API server and pods in memory and in simulated time.
#include "cli/controller_page.h"

#include <gtest/gtest.h>

#include <optional>

#include "cluster_server.h"
#include "net/http_client.h"

namespace capstan::cli {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using op::testing::ClusterServer;

struct ControllerPageTest : testing::Test {
  ControllerPageTest() {
    op::testing::put_workload(cluster, "chat", 2, 40);
    op::testing::put_scaler(cluster, "chat", "chat");
    cluster.api.acts = [](const kube::fake::FakeServer::Write& write) -> std::optional<std::pair<int, json>> {
      if (write.collection.ends_with("/tokenreviews")) {
        return {{201, {{"status", {{"authenticated", true}, {"user", {{"username", "ann"}}}}}}}};
      }
      if (write.collection.ends_with("/subjectaccessreviews")) return {{201, {{"status", {{"allowed", true}}}}}};
      return std::nullopt;
    };
  }
  void open(const std::string& record) {
    page.emplace(
        ControllerPage::Dependencies{.transport = cluster,
                                     .credentials = client.credentials,
                                     .clock = cluster.clock(),
                                     .random = RandomStream(3, "page")},
        ControllerPage::Options{.address = {"127.0.0.1", 0}, .record = record, .name = "The controller in ns"});
    const Result<net::SocketAddress> listens = page->listen();
    ASSERT_TRUE(listens) << listens.error().text();
    url = "http://" + listens->text() + "/ui";
  }
  void run(Duration duration) {
    for (Duration passed{}; passed < duration; passed += 1s) {
      op::testing::pass(cluster, {&controller}, 1s);
      page->run_once(controller.process);
    }
  }
  /// Starts a request and appends what it receives to a text.
  void start(const std::string& path, std::string& into) {
    net::Request request;
    request.url = url + path;
    request.headers = {{"Authorization", "Bearer any"}};
    browser.start(std::move(request), {.on_headers = {},
                                       .on_body = [&into](std::string_view piece) { into += piece; },
                                       .on_done = [&into](const net::Exchange&) { into += "(end)"; }});
  }
  void wait_for(const std::string& text, std::string_view part) {
    const net::Clock machine = net::machine_clock();
    const Instant end = machine() + 60s;
    while (text.find(part) == text.npos && machine() < end) {
      browser.run_once(1ms);
      page->server().run_once({});
      page->run_once(controller.process);
      cluster.api.advance(10ms, [&] { cluster.answer(); });
    }
    EXPECT_NE(text.find(part), text.npos) << text;
  }
  std::string get(const std::string& path) {
    std::string text;
    start(path, text);
    wait_for(text, "(end)");
    return text.substr(0, text.size() - std::string_view("(end)").size());
  }

  ClusterServer cluster;
  op::testing::Running controller{cluster, "one"};
  op::testing::ClusterClient client{cluster, 7};
  net::HttpClient browser{net::machine_clock()};
  std::optional<ControllerPage> page;
  std::string url;
};

TEST_F(ControllerPageTest, ShowsEachDecisionWithItsArithmeticAndCommand) {
  open("flight.rec");
  run(30s);
  const json start_of_page = json::parse(get("/api/result"));
  EXPECT_EQ(start_of_page["recording"], "The controller in ns");
  EXPECT_EQ(start_of_page["command"], "capstan replay flight.rec");
  std::string events;
  start("/api/events", events);
  wait_for(events, "scale ns/chat to 4 replicas");
  const std::size_t at = events.find("data: {\"state\":0,");
  ASSERT_NE(at, events.npos) << events;
  const json first = json::parse(events.substr(at + 6, events.find('\n', at) - at - 6));
  EXPECT_EQ(first["services"]["ns/chat"]["desired"], 4);
  EXPECT_EQ(first["services"]["ns/chat"]["ready"], 2);
  ASSERT_EQ(first["actions"].size(), 1u) << first;
  EXPECT_EQ(first["actions"][0]["layer"], "scale");
  const json decision = json::parse(get("/api/decision?state=0"))["decisions"][0];
  EXPECT_NE(decision["arithmetic"].get<std::string>().find("ns/chat"), std::string::npos) << decision;
  EXPECT_TRUE(decision["command"].get<std::string>().starts_with("capstan replay flight.rec --at 2026-11-21T16:15:"))
      << decision;
}

TEST_F(ControllerPageTest, ShowsTheOutcomeOfAnActionWithTheNextState) {
  open("");
  run(10s);
  const control::LoggedAction first = controller.process.loop().controller().log().entries().front();
  page->note_outcome({.decided_at = first.at,
                      .action = first.action,
                      .kind = control::ActionOutcome::Kind::refused,
                      .why = model::Reason{model::ReasonCode::shadow_mode, {}}},
                     *controller.process.loop().world().snapshot().catalog);
  run(30s);
  std::string events;
  start("/api/events", events);
  wait_for(events, R"("outcomes":[{"state":0,"position":0,"result":"shadow")");
}

TEST_F(ControllerPageTest, SaysWhyThereAreNoDecisions) {
  open("");
  std::string events;
  page->run_once(controller.process);
  start("/api/events", events);
  wait_for(events, "event: notice");
  EXPECT_NE(events.find("this controller is a standby, and another one decides"), events.npos) << events;
  run(30s);
  wait_for(events, "event: state");
  EXPECT_NE(events.find("event: notice\ndata: {\"format_version\":1,\"error\":\"\"}"), events.npos) << events;
  EXPECT_EQ(json::parse(get("/api/decision?state=0"))["decisions"][0]["command"],
            "capstan snapshot > now.json && capstan explain ns/chat --snapshot now.json --verbose");
}

}  // namespace
}  // namespace capstan::cli
