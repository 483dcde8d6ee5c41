#include "serve/recorded.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "archive/measured_result.h"
#include "archive/sqlite.h"
#include "experiment/run/prepare.h"
#include "experiment/run/simulation.h"
#include "scenario/scenario.h"
#include "serve/testing.h"

namespace capstan::serve {
namespace {

/// Simulates the last policy of the small scenario and records its decisions. The load needs more replicas than there
/// are at the start. Returns the number of states.
std::int64_t record(const std::string& path, std::vector<std::string> sets = {}) {
  sets.insert(sets.begin(), {"load.scale=20", "load.duration=6m"});
  const scenario::ScenarioResult scenario = scenario::parse_scenario(
      kSmallScenario, "s.yaml", {.sets = std::move(sets), .trace = {}, .seed = {}, .policies = {}});
  EXPECT_TRUE(scenario);
  const scenario::PolicySpec& policy = scenario->policies.back();
  experiment::PreparedRun prepared = experiment::prepare(*scenario, policy, scenario->seed);
  Result<archive::Recorder> recorder = archive::Recorder::create(path);
  EXPECT_TRUE(recorder);
  std::int64_t states = 0;
  prepared.setup.input_observer = [&](const model::Snapshot& snapshot, const control::Memory& memory,
                                      const control::DueDecisions& due) {
    EXPECT_TRUE(recorder->add({snapshot, {}, policy.policies, memory, due}));
    ++states;
  };
  prepared.setup.outcome_observer = [&](const control::ActionOutcome& outcome) {
    EXPECT_TRUE(recorder->add_outcome(outcome));
  };
  EXPECT_TRUE(experiment::simulate(prepared.setup));
  EXPECT_TRUE(recorder->finish());
  return states;
}

RecordedPage read_small(const std::string& path, const RecordedLimits& limits = {},
                        RecordedHistory* history = nullptr) {
  Result<archive::Recording> recording = archive::Recording::open(path);
  EXPECT_TRUE(recording);
  std::int64_t last = 0;
  Result<RecordedPage> recorded = read_recorded(
      *recording, path,
      [&](std::int64_t done, std::int64_t all) {
        EXPECT_EQ(done, ++last);
        EXPECT_LE(done, all);
      },
      history, limits);
  EXPECT_TRUE(recorded) << (recorded ? "" : recorded.error().text());
  return recorded ? *std::move(recorded) : RecordedPage{};
}

nlohmann::json policy_of(const RecordedPage& page) { return nlohmann::json::parse(page.json)["policies"][0]; }

TEST(RecordedPage, HasEveryMomentAndEveryAction) {
  const std::string path = testing::TempDir() + "recorded_test.rec";
  const auto states = static_cast<std::size_t>(record(path));
  const RecordedPage recorded = read_small(path);
  const auto json = nlohmann::json::parse(recorded.json);
  const auto& policy = json["policies"][0];
  EXPECT_EQ(policy["policy"], "queue");
  EXPECT_EQ(json["states"], states);
  EXPECT_EQ(policy["by_state"]["at_ns"].size(), states);
  ASSERT_EQ(policy["by_state"]["services"].size(), 1u);
  const auto& service = policy["by_state"]["services"][0];
  EXPECT_EQ(service["name"], "service");
  for (const char* key : {"desired", "ready", "starting", "waiting", "silent", "age_ms", "tpot_p99_us", "tpot_slo_us"})
    EXPECT_EQ(service[key].size(), states) << key;
  EXPECT_TRUE(std::ranges::any_of(service["tpot_p99_us"], [](const auto& us) { return us.is_number() && us > 0; }));
  EXPECT_EQ(service["ready"][0], 2);
  ASSERT_FALSE(json["policies"][0]["actions"].empty());
  EXPECT_EQ(json["policies"][0]["actions_left_out"], 0);
  for (const auto& action : json["policies"][0]["actions"]) {
    const auto found = recorded.decisions.find(action["state"].get<std::int64_t>());
    ASSERT_NE(found, recorded.decisions.end());
    const auto decision = nlohmann::json::parse(found->second);
    EXPECT_EQ(decision["at_ns"], action["at_ns"]);
    const auto& one = decision["decisions"].at(action["position"].get<std::size_t>());
    EXPECT_EQ(one["command"].get<std::string>().find("capstan replay "), 0u);
    EXPECT_GT(one["arithmetic"].get<std::string>().size(), 20u);
  }
}

TEST(RecordedPage, HasWhatASimulationMeasuredAndTheNodes) {
  const std::string path = testing::TempDir() + "recorded_measured_test.rec";
  record(path);
  RecordedHistory seen(5);
  const auto observed = policy_of(read_small(path, {}, &seen));
  EXPECT_FALSE(observed.contains("by_minute")) << "a controller measures no requests";
  EXPECT_FALSE(observed["fleet"]["nodes"]["node"].empty()) << "but it sees the nodes";
  ASSERT_TRUE(archive::write_measured(path, R"({"format_version": 1, "scenario": "small", "policies": [
      {"policy": "queue", "by_minute": {"arrived": [7]}, "services": [{"name": "a", "team": "red"}]}]})"));
  RecordedHistory history(5);
  const auto json = nlohmann::json::parse(read_small(path, {}, &history).json);
  const auto& policy = json["policies"][0];
  EXPECT_EQ(json["format_version"], 1);
  EXPECT_EQ(json["recording"], path);
  EXPECT_EQ(json["scenario"], "small");
  EXPECT_EQ(policy["by_minute"]["arrived"][0], 7);
  EXPECT_EQ(policy["services"][0]["team"], "red") << "the figures of services and their states have keys of their own";
  EXPECT_EQ(policy["by_state"]["services"][0]["name"], "service");
  EXPECT_EQ(json["services"][0]["name"], "service");
  EXPECT_FALSE(policy["fleet"]["nodes"]["node"].empty());
  EXPECT_EQ(json["history_place"], nlohmann::json::parse(history.json(""))["place"]) << "changes continue from here";

  ASSERT_TRUE(archive::write_measured(path, R"({"policies": []})"));
  Result<archive::Recording> recording = archive::Recording::open(path);
  const Result<RecordedPage> damaged = read_recorded(*recording, path);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().text(), path + ": the measured result is damaged, expected one policy");
}

TEST(RecordedPage, AnActionHasOnlyItsOwnArithmetic) {
  const std::string path = testing::TempDir() + "recorded_arithmetic_test.rec";
  // The service starts with more replicas than the first node holds.
  record(path, {"service.replicas={min: 1, max: 16, initial: 10}"});
  const RecordedPage recorded = read_small(path);
  std::set<std::string> layers;
  const auto json = nlohmann::json::parse(recorded.json);
  for (const auto& action : json["policies"][0]["actions"]) {
    const auto decision = nlohmann::json::parse(recorded.decisions.at(action["state"].get<std::int64_t>()));
    const std::string text = decision["decisions"].at(action["position"].get<std::size_t>())["arithmetic"];
    const std::string layer = action["layer"];
    layers.insert(layer);
    const auto has = [&](const char* words) { return text.find(words) != text.npos; };
    EXPECT_EQ(has("replicas requested") || has("replica requested"), layer == "scale") << text;
    EXPECT_EQ(has("inside one node"), layer == "place") << text;
    if (action["action"].get<std::string>().starts_with("launch")) {
      EXPECT_TRUE(has("Nodes for")) << text;
      EXPECT_TRUE(has(": chosen")) << text;
      EXPECT_TRUE(has("rejected")) << "the other pool is dearer: " << text;
    }
  }
  EXPECT_EQ(layers, (std::set<std::string>{"place", "provision", "scale"}));
}

TEST(RecordedPage, ShowsTheOutcomesOfActions) {
  const std::string path = testing::TempDir() + "recorded_outcomes_test.rec";
  record(path);
  const auto json = nlohmann::json::parse(read_small(path).json);
  std::size_t applied = 0;
  for (const auto& action : json["policies"][0]["actions"]) applied += action.value("result", "") == "applied" ? 1 : 0;
  EXPECT_GT(applied, 0U);
  EXPECT_LE(json["policies"][0]["actions"].size(), applied + 3) << "the last actions may have no outcome yet";
}

TEST(RecordedPage, ShowsRequestsAndLateness) {
  const std::string path = testing::TempDir() + "recorded_late_test.rec";
  record(path);
  const auto service = nlohmann::json::parse(read_small(path).json)["policies"][0]["by_state"]["services"][0];
  for (const char* key : {"running", "late_ppm", "late_allowed_ppm", "ttft_p99_us", "ttft_slo_us"}) {
    EXPECT_GT(std::ranges::count_if(service[key], [](const auto& value) { return !value.is_null(); }), 3) << key;
  }
}

TEST(NowCommand, NamesTheServiceOrTheLayer) {
  const DecisionCommand command = now_command("prod");
  EXPECT_EQ(command({"9s", "scale", "ns/chat"}),
            "capstan snapshot --namespace prod > now.json && capstan explain ns/chat --snapshot now.json --verbose");
  EXPECT_EQ(command({"9s", "place", "gang 7"}),
            "capstan snapshot --namespace prod > now.json && capstan decide place now.json")
      << "another process numbers gangs anew";
  EXPECT_EQ(now_command("")({"9s", "provision", ""}),
            "capstan snapshot > now.json && capstan decide provision now.json");
}

TEST(RecordedPage, IsBounded) {
  const std::string path = testing::TempDir() + "recorded_bounded_test.rec";
  const auto states = static_cast<std::size_t>(record(path));
  const RecordedPage whole = read_small(path);
  const RecordedPage bounded = read_small(path, {.points = 20, .actions = 1});
  const auto all = policy_of(whole), few = policy_of(bounded);
  ASSERT_GT(states, 20u);
  EXPECT_LE(few["by_state"]["at_ns"].size(), 20u);
  EXPECT_EQ(nlohmann::json::parse(bounded.json)["states"], states);
  const auto most = [](const nlohmann::json& values) {
    std::int64_t highest = 0;
    for (const auto& value : values) highest = std::max(highest, value.is_null() ? 0 : value.get<std::int64_t>());
    return highest;
  };
  EXPECT_EQ(most(few["by_state"]["services"][0]["desired"]), most(all["by_state"]["services"][0]["desired"]));
  ASSERT_GT(all["actions"].size(), 1u);
  ASSERT_EQ(few["actions"].size(), 1u);
  EXPECT_EQ(few["actions"][0], all["actions"].back());
  EXPECT_EQ(few["actions_left_out"], all["actions"].size() - 1);
  EXPECT_EQ(bounded.decisions.size(), 1u);
}

/// Returns the value of a series by moment.
std::map<std::int64_t, nlohmann::json> by_moment(const nlohmann::json& policy, const char* key) {
  std::map<std::int64_t, nlohmann::json> values;
  for (std::size_t i = 0; i < policy["by_state"]["at_ns"].size(); ++i) {
    values[policy["by_state"]["at_ns"][i].get<std::int64_t>()] = policy["by_state"]["services"][0][key][i];
  }
  return values;
}

TEST(RecordedPage, ALongRecordingShowsNoChangeBeforeItHappened) {
  const std::string path = testing::TempDir() + "recorded_thinned_test.rec";
  const auto states = static_cast<std::size_t>(record(path, {"load.duration=15m"}));
  constexpr std::size_t kPoints = 40;
  ASSERT_GT(states, kPoints);
  const auto all = policy_of(read_small(path));
  const auto few = policy_of(read_small(path, {.points = kPoints}));
  EXPECT_LE(few["by_state"]["at_ns"].size(), kPoints);
  EXPECT_EQ(few["by_state"]["at_ns"].front(), all["by_state"]["at_ns"].front());
  EXPECT_EQ(few["by_state"]["at_ns"].back(), all["by_state"]["at_ns"].back());
  for (const char* key : {"desired", "ready", "starting", "waiting", "silent", "age_ms"}) {
    const auto whole = by_moment(all, key);
    for (const auto& [at, value] : by_moment(few, key)) EXPECT_EQ(value, whole.at(at)) << key << " at " << at;
  }
  // Every change of the wanted replicas is kept, at its own moment.
  const auto kept = by_moment(few, "desired");
  nlohmann::json before;
  for (const auto& [at, value] : by_moment(all, "desired")) {
    if (value != before) {
      EXPECT_TRUE(kept.contains(at)) << at;
    }
    before = value;
  }
}

TEST(RecordedPage, CountsTheDamagedStates) {
  const std::string path = testing::TempDir() + "recorded_damaged_test.rec";
  const std::int64_t states = record(path);
  {
    Result<archive::Database> database = archive::Database::open(path, SQLITE_OPEN_READWRITE);
    ASSERT_TRUE(database && database->run("UPDATE states SET state = X'0011' WHERE number = 5"));
  }
  const auto json = nlohmann::json::parse(read_small(path).json);
  EXPECT_EQ(json["states"], 5);
  EXPECT_EQ(json["states_damaged"], states - 5);
}

TEST(RecordedPage, AnEmptyRecordingIsAnError) {
  const std::string path = testing::TempDir() + "recorded_empty_test.rec";
  Result<archive::Recorder> recorder = archive::Recorder::create(path);
  ASSERT_TRUE(recorder && recorder->finish());
  Result<archive::Recording> recording = archive::Recording::open(path);
  ASSERT_TRUE(recording);
  const Result<RecordedPage> recorded = read_recorded(*recording, "empty.rec");
  ASSERT_FALSE(recorded);
  EXPECT_EQ(recorded.error().text(), "empty.rec: the recording is empty, expected at least one decision");
}

}  // namespace
}  // namespace capstan::serve
