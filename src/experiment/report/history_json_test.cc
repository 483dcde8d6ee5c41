#include "experiment/report/history_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace capstan::experiment {
namespace {

using Json = nlohmann::ordered_json;

Instant moment_at_s(double s) { return Instant{std::chrono::milliseconds(static_cast<std::int64_t>(s * 1000))}; }

TEST(HistoryJson, ThePhasesOfAStartAddUpToTheStart) {
  sim::ColdStart with_node{.gang = {},
                           .service = {0},
                           .ordinal = 2,
                           .decided_at = moment_at_s(10),
                           .created_at = moment_at_s(11),
                           .node_requested_at = moment_at_s(12),
                           .node_launched_at = moment_at_s(15),
                           .node_booted_at = moment_at_s(60),
                           .node_ready_at = moment_at_s(90),
                           .bound_at = moment_at_s(91),
                           .image_at = moment_at_s(131),
                           .weights_at = moment_at_s(171),
                           .init_at = moment_at_s(200),
                           .ready_at = moment_at_s(204.5)};
  sim::ColdStart on_old_node = with_node;
  on_old_node.node_requested_at = on_old_node.node_launched_at = on_old_node.node_booted_at =
      on_old_node.node_ready_at = Instant{};
  const Json json = cold_start_phases_json({.nodes = {}, .gangs = {}, .starts = {with_node, on_old_node}});
  const std::vector<std::pair<const char*, std::pair<int, int>>> expected = {
      {"decision_ms", {2'000, 0}},      {"capacity_ms", {3'000, 0}},       {"boot_ms", {45'000, 0}},
      {"node_setup_ms", {30'000, 0}},   {"placement_ms", {1'000, 81'000}}, {"image_ms", {40'000, 40'000}},
      {"weights_ms", {40'000, 40'000}}, {"engine_ms", {29'000, 29'000}},   {"warm_up_ms", {4'500, 4'500}}};
  std::int64_t sums[2] = {};
  for (const auto& [phase, values] : expected) {
    EXPECT_EQ(json[phase], Json({values.first, values.second})) << phase;
    for (int i = 0; i < 2; ++i) sums[i] += json[phase][i].get<std::int64_t>();
  }
  EXPECT_EQ(sums[0], 194'500);
  EXPECT_EQ(sums[1], 194'500);
  EXPECT_EQ(json["replica"], Json({2, 2}));
  EXPECT_EQ(json["decided_ms"], Json({10'000, 10'000}));
}

TEST(HistoryJson, EqualMachinesDomainsAndReasonsAreWrittenOnce) {
  RunHistory history;
  for (std::uint32_t i = 0; i < 3; ++i) {
    history.nodes.push_back({.number = i,
                             .pool = "h100",
                             .instance_type = "p5",
                             .gpu = "H100",
                             .zone = "a",
                             .rack = "a-0",
                             .nvlink = i == 2 ? "a-0-1" : "a-0-0",
                             .gpus = 8});
  }
  using Kind = decide::place::PlacementResult::Kind;
  const GangHistory::Wait wait{moment_at_s(5), Kind::held_by_queue, "queue_limit", "the queue is full", ""};
  history.gangs.push_back(
      {.user = 0,
       .ordinal = 4,
       .gpus = whole_gpus(2),
       .created_at = moment_at_s(1),
       .steps = {{moment_at_s(1), model::Gang::Phase::pending}, {moment_at_s(9), model::Gang::Phase::starting}},
       .held = {{.node = 2, .gpus = whole_gpus(2), .from = moment_at_s(9)}},
       .waits = {wait, wait}});
  const Json json = fleet_json(history);
  EXPECT_EQ(json["machines"].size(), 1u);
  EXPECT_EQ(json["domains"], Json({"a", "a-0", "a-0-0", "a-0-1"}));
  EXPECT_EQ(json["nodes"]["nvlink"], Json({2, 2, 3}));
  EXPECT_EQ(json["nodes"]["ended_ms"], Json({nullptr, nullptr, nullptr}));
  EXPECT_EQ(json["gangs"]["steps"][0], Json({1'000, 0, 9'000, 1}));
  EXPECT_EQ(json["gangs"]["held"][0], Json({2, 2'000, 9'000, nullptr}));
  EXPECT_EQ(json["gangs"]["waits"][0], Json({5'000, 0, 5'000, 0}));
  EXPECT_EQ(json["reasons"].size(), 1u);
  EXPECT_EQ(json["reasons"][0]["verdict"], "held_by_queue");
  EXPECT_EQ(json["phases"][1], "starting");
}

TEST(HistoryJson, ChangesHaveOnlyTheRowsAfterARevision) {
  RunHistory history;
  history.nodes.resize(2);
  for (NodeHistory& node : history.nodes) node.instance_type = "p5", node.gpu = "H100", node.gpus = 8;
  history.nodes[0].number = 3, history.nodes[0].name = "node-a", history.nodes[0].revision = 1;
  history.nodes[1].number = 9, history.nodes[1].name = "node-b", history.nodes[1].revision = 2;
  history.nodes[1].capacity = model::CapacityType::spot;
  history.nodes[1].per_hour = MicroUsd{2'500'000};
  GangHistory gang;
  gang.user = GangHistory::kNoUser, gang.queue = {4}, gang.revision = 2;
  history.gangs = {gang};
  const Json all = fleet_changes_json(history, 0);
  EXPECT_EQ(all["nodes"]["row"], Json({0, 1}));
  EXPECT_EQ(all["machines"].size(), 2u) << "the prices differ";
  EXPECT_EQ(all["machines"][0]["usd_per_hour"], nullptr);
  const Json last = fleet_changes_json(history, 1);
  EXPECT_EQ(last["nodes"]["row"], Json({1}));
  EXPECT_EQ(last["nodes"]["name"], Json({"node-b"}));
  EXPECT_EQ(last["nodes"]["node"], Json({9}));
  EXPECT_EQ(last["machines"][0]["capacity_type"], "spot");
  EXPECT_EQ(last["machines"][0]["usd_per_hour"], 2.5);
  EXPECT_EQ(last["gangs"]["service"], Json({-1}));
  EXPECT_EQ(last["gangs"]["queue"], Json({4}));
  EXPECT_TRUE(fleet_changes_json(history, 2)["gangs"]["row"].empty());
}

TEST(HistoryJson, AGangThatWaitsForANodeOnTheWayIsNominated) {
  GangHistory gang;
  gang.waits = {
      {moment_at_s(1), decide::place::PlacementResult::Kind::nominated, "nominated_to_claim", "it waits", ""}};
  EXPECT_EQ(fleet_json({.nodes = {}, .gangs = {gang}, .starts = {}})["reasons"][0]["verdict"], "nominated");
}

TEST(HistoryJson, LatencyPhasesAreMeansByMinute) {
  Minute minute;
  minute.phases = {.first_tokens = 4,
                   .gateway = std::chrono::milliseconds(40),
                   .queue = std::chrono::milliseconds(8),
                   .prefill = std::chrono::milliseconds(400),
                   .completed = 2,
                   .transfer = std::chrono::milliseconds(2),
                   .decode = std::chrono::seconds(20)};
  const std::vector<Minute> minutes = {minute, {}};
  const Json json = latency_phases_json(minutes);
  EXPECT_EQ(json["gateway_us"], Json({10'000, 0}));
  EXPECT_EQ(json["prefill_us"], Json({100'000, 0}));
  EXPECT_EQ(json["transfer_us"], Json({1'000, 0}));
  EXPECT_EQ(json["decode_us"], Json({10'000'000, 0}));
}

TEST(HistoryJson, QueuesNameTheirParentsAndRights) {
  model::Catalog catalog;
  catalog.queues = {
      {.name = "all", .parent = {}, .gpus = {.limit = whole_gpus(8)}},
      {.name = "chat", .parent = {0}, .gpus = {.limit = {}, .quota = whole_gpus(2), .weight_milli = 1'500}}};
  catalog.services.push_back({.name = "chat", .slo = {}});
  catalog.services[0].workload.queue = {1};
  catalog.services[0].workload.gpus_per_replica = 4;
  catalog.services[0].workload.pods = 2;
  const Json queues = queues_json(catalog);
  EXPECT_EQ(queues[0], Json({{"name", "all"},
                             {"parent", nullptr},
                             {"limit_gpus_milli", 8'000},
                             {"quota_gpus_milli", 0},
                             {"weight_milli", 0}}));
  EXPECT_EQ(queues[1], Json({{"name", "chat"},
                             {"parent", 0},
                             {"limit_gpus_milli", nullptr},
                             {"quota_gpus_milli", 2'000},
                             {"weight_milli", 1'500}}));
  const Json services = services_json(catalog, {});
  EXPECT_EQ(services[0]["gpus_per_pod_milli"], 2'000);
  EXPECT_EQ(services[0]["queue"], 1);
}

}  // namespace
}  // namespace capstan::experiment
