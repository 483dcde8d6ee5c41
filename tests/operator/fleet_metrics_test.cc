// Tests that `capstan run` exports what happens to nodes, gangs and costs.
#include <gtest/gtest.h>

#include <string>

#include "cluster_server.h"
#include "operator/loop/endpoints.h"

namespace capstan::op {
namespace {

using namespace std::chrono_literals;
using testing::ClusterServer;
using testing::Object;
using testing::pass;
using testing::Running;

/// Returns the value of a sample of a metrics page, or -1 if the page has no such line.
double sample(const std::string& page, const std::string& series) {
  const std::size_t found = page.find("\n" + series + " ");
  return found == page.npos ? -1 : std::stod(page.substr(found + series.size() + 2));
}

TEST(FleetMetrics, ExportsCostsDeferralsAndGangsThatWait) {
  ClusterServer server;
  testing::put_workload(server, "chat", 2, 4);
  testing::put_scaler(server, "chat", "chat",
                      [](Object& scaler) { scaler["spec"]["roles"][0]["variants"][0]["costPerHour"] = "10"; });
  server.api.put(testing::kFleetPath, "", "default", {{"spec", {{"layers", {{"placement", "Shadow"}}}}}});
  server.api.put("/api/v1/nodes", "", "n1", testing::node("n1"));
  Object waiting = testing::pod("work-1", "work", "", false, 7);  // six GPUs of the node are free
  waiting["spec"]["schedulerName"] = "capstan";
  server.api.put(testing::kPodsPath, "ns", "work-1", waiting);
  Running one(server, "one");
  const Endpoints endpoints(one.process);
  const std::string cost = R"(capstan_cost_usd_total{team="ns",service="chat"})";
  const std::string waits = R"(capstan_gangs_waiting{verdict="cannot_fit_now"})";
  const std::string deferrals = R"(capstan_gang_deferrals_total{verdict="cannot_fit_now"})";
  pass(server, {&one}, 60s);
  const std::string early = endpoints.answer("GET", "/metrics").body;
  EXPECT_EQ(sample(early, waits), 1);
  EXPECT_EQ(sample(early, deferrals), 1);
  pass(server, {&one}, 360s);
  const std::string late = endpoints.answer("GET", "/metrics").body;
  EXPECT_NEAR(sample(late, cost) - sample(early, cost), 2.0, 0.12) << "two replicas at 10 USD/h for six minutes";
  EXPECT_EQ(sample(late, deferrals), 1) << "it still waits for the same reason";
  server.api.remove(testing::kPodsPath, "ns/work-1");
  pass(server, {&one}, 30s);
  const std::string after = endpoints.answer("GET", "/metrics").body;
  EXPECT_EQ(sample(after, waits), 0);
  EXPECT_EQ(sample(after, deferrals), 1);
}

TEST(FleetMetrics, SayWhetherTheRecordingIsWritten) {
  ClusterServer server;
  Running one(server, "one");
  EXPECT_EQ(Endpoints(one.process).answer("GET", "/metrics").body.find("capstan_recording"), std::string::npos);
  const Endpoints endpoints(one.process, [] { return RecordingFigures{.is_recording = false, .lost = 7}; });
  const std::string metrics = endpoints.answer("GET", "/metrics").body;
  EXPECT_EQ(sample(metrics, "capstan_recording"), 0);
  EXPECT_EQ(sample(metrics, "capstan_recording_states_lost_total"), 7);
}

}  // namespace
}  // namespace capstan::op
