#include "serve/live.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <nlohmann/json.hpp>

#include "serve/testing.h"

namespace capstan::serve {
namespace {

scenario::Scenario small() {
  scenario::ScenarioResult scenario = scenario::parse_scenario(
      kSmallScenario, "s.yaml",
      {.sets = {"load.scale=20", "load.duration=6m"}, .trace = {}, .seed = {}, .policies = {"queue"}});
  EXPECT_TRUE(scenario);
  return *std::move(scenario);
}

std::string command(const CommandSubject& subject) {
  return "capstan explain " + subject.object + " --at " + subject.at;
}

/// Returns the events up to the end of the run. Stops earlier once there are `most` events, or after a minute without
/// an event.
std::vector<LiveRun::Event> wait_for(LiveRun& run, std::size_t most) {
  std::vector<LiveRun::Event> all;
  while (all.size() < most && (all.empty() || all.back().kind == LiveRun::Event::Kind::state)) {
    pollfd descriptor{run.poll_fd(), POLLIN, 0};
    if (poll(&descriptor, 1, 60'000) != 1) return all;  // the test then fails
    for (LiveRun::Event& event : run.take_events()) all.push_back(std::move(event));
  }
  return all;
}

TEST(LiveRun, ReportsEveryDecisionAndThenTheResult) {
  LiveRun run(small(), 1e9, command, "capstan sim s.yaml", std::make_shared<RecordedHistory>(1), net::machine_clock());
  const std::vector<LiveRun::Event> events = wait_for(run, 1000);
  ASSERT_GT(events.size(), 20u);
  EXPECT_EQ(events.back().kind, LiveRun::Event::Kind::ended);
  EXPECT_EQ(nlohmann::json::parse(events.back().result)["command"], "capstan sim s.yaml");
  std::int64_t position = 0;
  std::size_t acted = 0;
  for (const LiveRun::Event& event : events) {
    if (event.kind != LiveRun::Event::Kind::state) continue;
    EXPECT_EQ(event.position, position);
    const auto numbers = nlohmann::json::parse(event.state.numbers);
    EXPECT_EQ(numbers["state"], position++);
    EXPECT_TRUE(numbers["services"]["service"]["desired"].is_number());
    EXPECT_EQ(numbers["actions"].empty(), event.state.decisions.empty());
    acted += event.state.decisions.empty() ? 0 : 1;
    if (event.state.decisions.empty()) continue;
    const auto decisions = nlohmann::json::parse(event.state.decisions);
    const std::string first = decisions["decisions"][0]["command"];
    const bool scales = numbers["actions"][0]["layer"] == "scale";
    EXPECT_TRUE(first.starts_with(scales ? "capstan explain service --at " : "capstan explain ")) << first;
  }
  EXPECT_GT(acted, 0u);
}

TEST(LiveRun, KeepsThePaceOfItsClock) {
  // The clock stands still, so that only the decisions of the first moment are due.
  LiveRun run(small(), 60, command, "", std::make_shared<RecordedHistory>(1), [] { return Instant{}; });
  const std::vector<LiveRun::Event> events = wait_for(run, 1);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(nlohmann::json::parse(events[0].state.numbers)["at_ns"], 0);
  pollfd descriptor{run.poll_fd(), POLLIN, 0};
  EXPECT_EQ(poll(&descriptor, 1, 50), 0);
}  // the destructor stops the run

TEST(LiveRun, ReportsAnError) {
  scenario::Scenario scenario = small();
  scenario.endpoints.front().load.from = workload::TraceSpec{.path = "/nowhere/trace.csv"};
  LiveRun run(std::move(scenario), 60, command, "", std::make_shared<RecordedHistory>(1), net::machine_clock());
  const std::vector<LiveRun::Event> events = wait_for(run, 1);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, LiveRun::Event::Kind::failed);
  EXPECT_NE(events[0].error.find("/nowhere/trace.csv"), std::string::npos);
}

}  // namespace
}  // namespace capstan::serve
