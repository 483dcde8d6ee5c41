// Goal: the history of a recording equals the history of the run. Method: a small run is recorded, and the history of
// the recording is compared with the history that the simulation keeps.
#include "serve/recorded_history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "experiment/report/history_json.h"
#include "experiment/run/prepare.h"
#include "experiment/run/simulation.h"
#include "explain/explain.h"
#include "scenario/scenario.h"
#include "serve/testing.h"

namespace capstan::serve {
namespace {

using Json = nlohmann::ordered_json;

struct RecordedRun {
  std::vector<archive::SavedState> states;
  experiment::RunHistory history;  ///< history that the simulation keeps
};

/// Simulates a load that needs more nodes than there are at the start, and keeps the inputs of the decisions.
RecordedRun run() {
  const std::vector<std::string> sets = {"load.scale=20", "load.duration=12m",
                                         "service.replicas={min: 1, max: 16, initial: 10}"};
  const scenario::ScenarioResult scenario =
      scenario::parse_scenario(kSmallScenario, "s.yaml", {.sets = sets, .trace = {}, .seed = {}, .policies = {}});
  EXPECT_TRUE(scenario);
  const scenario::PolicySpec& policy = scenario->policies.back();
  experiment::PreparedRun prepared = experiment::prepare(*scenario, policy, scenario->seed);
  prepared.setup.keep_history = true;
  RecordedRun all;
  prepared.setup.input_observer = [&](const model::Snapshot& snapshot, const control::Memory& memory,
                                      const control::DueDecisions& due) {
    all.states.push_back({snapshot, {}, policy.policies, memory, due});
  };
  all.history = experiment::simulate(prepared.setup)->history.value();
  return all;
}

/// Returns a text for every node (number, pool, GPUs, zone) and for every replica (service, number, GPUs, nodes).
std::multiset<std::string> identities(const Json& fleet) {
  std::multiset<std::string> all;
  const Json& nodes = fleet["nodes"];
  for (std::size_t i = 0; i < nodes["node"].size(); ++i) {
    const Json& machine = fleet["machines"][nodes["machine"][i].get<std::size_t>()];
    all.insert(nodes["node"][i].dump() + machine["pool"].dump() + machine["gpus"].dump() +
               fleet["domains"][nodes["zone"][i].get<std::size_t>()].dump());
  }
  const Json& gangs = fleet["gangs"];
  for (std::size_t i = 0; i < gangs["service"].size(); ++i) {
    std::string one = gangs["service"][i].dump() + " " + gangs["replica"][i].dump() + gangs["gpus_milli"][i].dump();
    for (std::size_t h = 0; h < gangs["held"][i].size(); h += 4) one += " on " + gangs["held"][i][h].dump();
    all.insert(one);
  }
  return all;
}

TEST(RecordedHistory, HasTheNodesAndReplicasOfTheRun) {
  const RecordedRun all = run();
  RecordedHistory history(5);
  for (const archive::SavedState& state : all.states) history.note(state, archive::redecide(state));
  const Json json = Json::parse(history.json(""));
  const Json whole = experiment::fleet_json(all.history);
  EXPECT_EQ(json["place"], "5." + std::to_string(all.states.size()));
  EXPECT_EQ(json["is_whole"], true);
  EXPECT_GT(whole["nodes"]["node"].size(), 1u);
  EXPECT_EQ(identities(json["fleet"]), identities(whole));
  EXPECT_EQ(json["services"][0]["name"], "service");
  EXPECT_EQ(json["fleet"]["machines"][0]["usd_per_hour"], 10.0);
  EXPECT_EQ(json["fleet"]["machines"][0]["capacity_type"], "on-demand");
  // The simulation notes its state every second. A recording has a state at least every 15 s.
  const Json& shown = json["fleet"]["nodes"]["launched_ms"];
  const Json& simulated = whole["nodes"]["launched_ms"];
  for (std::size_t i = 0; i < shown.size(); ++i) {
    ASSERT_EQ(shown[i].is_null(), simulated[i].is_null()) << i;
    if (shown[i].is_null()) continue;
    EXPECT_NEAR(shown[i].get<double>(), simulated[i].get<double>(), 15'000) << i;
  }
}

TEST(RecordedHistory, HasEveryDecisionAboutPodsAndNodes) {
  const RecordedRun all = run();
  std::vector<std::string> shown, made;
  for (const archive::SavedState& state : all.states) {
    const archive::RepeatedDecisions decided = archive::redecide(state);
    for (const model::Plan* plan : {&decided.place.plan, &decided.provision.plan}) {
      for (const model::Action& action : plan->actions) {
        shown.push_back(explain::line(*state.snapshot.catalog, action));
      }
    }
  }
  for (const experiment::HistoryDecision& one : all.history.decisions) {
    if (one.decided.action.find(" waits: ") == std::string::npos) made.push_back(one.decided.action);
  }
  EXPECT_GT(made.size(), 3u);
  EXPECT_EQ(shown, made);
}

TEST(RecordedHistory, ShowsANodeFromItsLaunchOn) {
  const RecordedRun all = run();
  RecordedHistory history(5);
  std::size_t booting = 0;
  for (const archive::SavedState& state : all.states) {
    history.note(state, archive::redecide(state));
    auto launched = static_cast<std::size_t>(state.snapshot.nodes.size());
    state.snapshot.claims.for_each([&](model::ClaimId, const model::Claim& claim) {
      if (claim.phase != model::Claim::Phase::launched) return;
      ++launched;
      ++booting;
    });
    const Json nodes = Json::parse(history.json(""))["fleet"]["nodes"];
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(nodes["ended_ms"], Json())), launched);
  }
  EXPECT_GT(booting, 0U);
}

TEST(RecordedHistory, HasTokensAndIdleTimeByMinute) {
  RecordedHistory history(5);
  for (const archive::SavedState& state : run().states) history.note(state, archive::redecide(state));
  const Json use = Json::parse(history.json(""))["fleet"]["use"];
  ASSERT_GT(use["at_ms"].size(), 5U);
  std::int64_t tokens = 0;
  for (const Json& one : use["tokens"]) tokens += one.get<std::int64_t>();
  EXPECT_GT(tokens, 1000);
  std::int64_t requests = 0;
  for (const Json& one : use["requests"]) requests += one.get<std::int64_t>();
  EXPECT_GT(requests, 10);
  const auto sum_of = [&](const char* key) {
    std::int64_t sum = 0;
    for (const Json& one : use[key]) sum += one.get<std::int64_t>();
    return sum;
  };
  EXPECT_EQ(sum_of("timed_requests"), requests);
  EXPECT_GT(sum_of("prefill_us"), requests * 1000);
  EXPECT_GT(sum_of("decode_us"), sum_of("prefill_us"));
  EXPECT_EQ(sum_of("transfers") + sum_of("transfer_us"), 0) << "the replicas do both prefill and decode";
}

TEST(RecordedHistory, KnowsHowLongAnEngineLoadedItsWeights) {
  RecordedHistory history(5);
  const RecordedRun all = run();
  for (const archive::SavedState& state : all.states) history.note(state, archive::redecide(state));
  const Json gangs = Json::parse(history.json(""))["fleet"]["gangs"];
  std::multiset<std::int64_t> shown, simulated;
  for (const Json& ms : gangs["weights_ms"]) {
    if (!ms.is_null()) shown.insert(ms.get<std::int64_t>());
  }
  for (const sim::ColdStart& start : all.history.starts) {
    simulated.insert((start.weights_at - start.image_at) / std::chrono::milliseconds(1));
  }
  EXPECT_FALSE(shown.empty());
  EXPECT_TRUE(std::ranges::includes(simulated, shown));
}

TEST(RecordedHistory, KnowsWhenTheContainersOfAColdStartRan) {
  RecordedHistory history(5);
  const RecordedRun all = run();
  for (const archive::SavedState& state : all.states) history.note(state, archive::redecide(state));
  const Json gangs = Json::parse(history.json(""))["fleet"]["gangs"];
  std::multiset<std::int64_t> shown, simulated;
  for (const Json& at : gangs["containers_ms"]) {
    if (!at.is_null()) shown.insert(at.get<std::int64_t>());
  }
  for (const sim::ColdStart& start : all.history.starts) {
    simulated.insert(start.image_at.since_start / std::chrono::milliseconds(1));
  }
  EXPECT_FALSE(shown.empty());
  EXPECT_TRUE(std::ranges::includes(simulated, shown));
}

TEST(RecordedHistory, NamesTheWorkloadsOfNoService) {
  archive::SavedState state = run().states.front();
  model::Gang job = state.snapshot.gangs.at({0});
  job.service = {};
  state.snapshot.gangs.set({77}, job);
  state.names.gangs.set({0}, "the pod of a replica");
  state.names.gangs.set({77}, "nightly 5");
  RecordedHistory history(5);
  history.note(state, archive::redecide(state));
  const Json gangs = Json::parse(history.json(""))["fleet"]["gangs"];
  for (std::size_t i = 0; i < gangs["service"].size(); ++i) {
    EXPECT_EQ(gangs["name"][i], gangs["service"][i] == -1 ? "nightly 5" : "");
  }
  EXPECT_EQ(gangs["service"].back(), -1);
}

TEST(RecordedHistory, AnswersWithTheRowsThatChanged) {
  const RecordedRun all = run();
  RecordedHistory history(5);
  std::string place;
  Json merged = {{"nodes", Json::object()}, {"gangs", Json::object()}};
  const auto merge = [&](const Json& fleet) {
    for (const auto& [table, key] : {std::pair("nodes", "ended_ms"), {"gangs", "steps"}}) {
      for (std::size_t i = 0; i < fleet[table]["row"].size(); ++i) {
        merged[table][fleet[table]["row"][i].dump()] = fleet[table][key][i];
      }
    }
  };
  std::size_t rows = 0;
  for (std::size_t i = 0; i < all.states.size(); ++i) {
    history.note(all.states[i], archive::redecide(all.states[i]));
    if (i % 7 != 0 && i + 1 != all.states.size()) continue;
    const Json changes = Json::parse(history.json(place));
    EXPECT_EQ(changes["is_whole"], place.empty());
    merge(changes["fleet"]);
    if (!place.empty()) rows = std::max(rows, changes["fleet"]["gangs"]["row"].size());
    place = changes["place"];
  }
  const Json whole = Json::parse(history.json(""))["fleet"];
  EXPECT_LT(rows, whole["gangs"]["row"].size());
  for (const auto& [table, key] : {std::pair("nodes", "ended_ms"), {"gangs", "steps"}}) {
    ASSERT_EQ(merged[table].size(), whole[table]["row"].size());
    for (std::size_t i = 0; i < whole[table]["row"].size(); ++i) {
      EXPECT_EQ(merged[table][std::to_string(i)], whole[table][key][i]) << table << " " << i;
    }
  }
  const Json none = Json::parse(history.json(place));
  EXPECT_EQ(none["fleet"]["nodes"]["row"].size() + none["fleet"]["gangs"]["row"].size(), 0u);
}

TEST(RecordedHistory, IsWholeForAPlaceInAnotherHistory) {
  RecordedHistory history(5);
  const RecordedRun all = run();
  history.note(all.states[0], archive::redecide(all.states[0]));
  for (const char* place : {"4.1", "5.2", "5.", "5.1x", "5", "x", ".", "5.-1", "99999999999999999999.1"}) {
    EXPECT_EQ(Json::parse(history.json(place))["is_whole"], true) << place;
  }
  EXPECT_EQ(Json::parse(history.json("5.1"))["is_whole"], false);
  history.clear();
  EXPECT_EQ(Json::parse(history.json("5.1"))["place"], "6.0");
  EXPECT_EQ(Json::parse(history.json("5.1"))["fleet"]["nodes"]["row"].size(), 0u);
}

}  // namespace
}  // namespace capstan::serve
