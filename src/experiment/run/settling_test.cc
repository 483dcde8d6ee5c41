#include "experiment/run/settling.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

namespace capstan::experiment {
namespace {

using namespace std::chrono_literals;

/// Makes a service with two GPUs for each replica, a pool of eight GPUs, a load that ends, and no faults.
SimulationSetup calm() {
  auto catalog = std::make_shared<model::Catalog>();
  catalog->gpu_kinds = {"h100_sxm"};
  catalog->offerings = {{"p5.48xlarge", {0}, 8, {0}, model::CapacityType::on_demand, {55'040'000}}};
  catalog->pools = {{.name = "h100", .offerings = {{0}}, .limits = {.gpus = 8}}};
  model::Workload workload;
  workload.gpu = {0};
  workload.gpus_per_replica = 2;
  catalog->services = {{"chat", {}, {workload}, 1, 12}};
  SimulationSetup setup;
  setup.cluster.catalog = catalog;
  setup.cluster.starts.resize(1);
  decide::scale::Fixed fixed;
  setup.policies.scale = {fixed};
  setup.policies.provision = decide::provision::whole_groups();
  setup.policies.provision->consolidation.after = 10min;
  setup.endpoints.emplace_back().workload.from = workload::GeneratorSpec();
  return setup;
}

struct Disturbance {
  const char* what;
  std::function<void(SimulationSetup&)> add;
};

TEST(Settling, CanStandStillOnlyWithoutDisturbances) {
  EXPECT_TRUE(can_stand_still(calm()));
  const std::vector<Disturbance> rows = {
      {"actions are refused", [](SimulationSetup& s) { s.cluster.refused_ppm = 1; }},
      {"outcomes stay unknown", [](SimulationSetup& s) { s.cluster.unknown_ppm = 1; }},
      {"scrapes are lost", [](SimulationSetup& s) { s.cluster.scrape.loss_ppm = 1; }},
      {"scrapes go dark", [](SimulationSetup& s) { s.cluster.scrape.blackout = 1s; }},
      {"spot nodes are taken", [](SimulationSetup& s) { s.cluster.provider.spot_interruptions_per_million_hours = 1; }},
      {"a zone is lost", [](SimulationSetup& s) { s.cluster.provider.outages.resize(1); }},
      {"bounds change with the hour",
       [](SimulationSetup& s) {
         auto catalog = std::make_shared<model::Catalog>(*s.cluster.catalog);
         catalog->services[0].windows.resize(1);
         s.cluster.catalog = catalog;
       }},
  };
  for (const Disturbance& row : rows) {
    SimulationSetup setup = calm();
    row.add(setup);
    EXPECT_FALSE(can_stand_still(setup)) << row.what;
  }
}

TEST(Settling, TimeCoversTheWaitsOfThePolicies) {
  SimulationSetup setup = calm();
  EXPECT_EQ(settling_time(setup), 2h + 10min);
  decide::scale::QueueHpa queue;
  queue.hpa.downscale_stabilization = 20min;
  setup.policies.scale = {queue};
  EXPECT_EQ(settling_time(setup), 2h + 10min + 20min);
  setup.cluster.starts[0].sleep = {.max_replicas = 1, .max_duration = 30min};
  EXPECT_EQ(settling_time(setup), 2h + 10min + 20min + 30min);
}

TEST(Settling, TimeIsEightTimesTheLongestStart) {
  EXPECT_EQ(settling_time(calm(), 15min), 2h + 10min);
  EXPECT_EQ(settling_time(calm(), 30min), 4h + 10min);
}

TEST(Settling, AllowsMovesForEightStartsAndNoLonger) {
  const SimulationSetup setup = calm();
  Settling settling(setup);
  for (int i = 1; i <= 260; ++i) settling.minute(Instant{i * Duration(1min)}, {.actions = i, .longest_start = 30min});
  EXPECT_EQ(settling.broken(), 10);  // the settling time is 250 minutes
}

/// An interval of equal minutes. The settling time is 130 minutes.
struct Stretch {
  int minutes;
  bool has_work;
  std::int64_t actions_a_minute;
  ReplicaCount missing;
  bool is_out_of_room = false;
};
struct Row {
  const char* teaches;
  std::vector<Stretch> stretches;
  std::int64_t broken;
};

TEST(Settling, CountsActionsAndMissedGoalsAfterTheSettlingTime) {
  const std::vector<Row> rows = {
      {"a fleet may move while requests come", {{300, true, 1, 2}}, 0},
      {"a fleet may move for the settling time", {{30, true, 1, 0}, {130, false, 1, 1}, {200, false, 0, 0}}, 0},
      {"each action after that is counted", {{30, true, 1, 0}, {130, false, 0, 0}, {5, false, 2, 0}}, 10},
      {"a goal that is not reached is counted once", {{30, true, 0, 0}, {300, false, 0, 1}}, 1},
      {"a goal that no pool has room for cannot be reached", {{30, true, 0, 0}, {300, false, 0, 1, true}}, 0},
      {"a request begins the settling time anew", {{150, false, 0, 0}, {1, true, 1, 0}, {120, false, 1, 1}}, 0},
      {"each stretch has a goal of its own", {{150, false, 0, 1}, {1, true, 0, 0}, {150, false, 0, 1}}, 2},
  };
  for (const Row& row : rows) {
    const SimulationSetup setup = calm();
    Settling settling(setup);
    Instant now{};
    std::int64_t actions = 0;
    for (const Stretch& stretch : row.stretches) {
      for (int i = 0; i < stretch.minutes; ++i) {
        now = now + Duration(1min);
        actions += stretch.actions_a_minute;
        settling.minute(now, {.has_work = stretch.has_work,
                              .actions = actions,
                              .missing = stretch.missing,
                              .is_out_of_room = stretch.is_out_of_room});
      }
    }
    EXPECT_EQ(settling.broken(), row.broken) << row.teaches;
  }
}

TEST(Settling, ACapacityErrorBeginsTheSettlingTimeAnew) {
  const SimulationSetup setup = calm();
  Settling settling(setup);
  for (int i = 1; i <= 600; ++i) {
    settling.minute(Instant{i * Duration(1min)}, {.refused = i / 20, .actions = i, .missing = 1});
  }
  EXPECT_EQ(settling.broken(), 0);
}

/// A pool with one node of eight GPUs, and replicas of two GPUs.
TEST(Settling, OnlyWholeNodesCountAsRoom) {
  SimulationSetup setup = calm();
  model::Snapshot truth;
  const auto ask = [&](ReplicaCount replicas) {
    model::ServiceState state;
    state.desired_replicas = replicas;
    truth.services.set({0}, state);
  };
  ask(4);
  EXPECT_FALSE(is_out_of_room(setup, truth));
  ask(5);
  EXPECT_TRUE(is_out_of_room(setup, truth));
  auto catalog = std::make_shared<model::Catalog>(*setup.cluster.catalog);
  catalog->pools[0].limits.gpus = 15;
  setup.cluster.catalog = catalog;
  EXPECT_TRUE(is_out_of_room(setup, truth)) << "a part of a node cannot be bought";
  catalog->pools[0].limits.gpus = 16;
  EXPECT_FALSE(is_out_of_room(setup, truth));
}

/// A queue and its parent, and replicas of two GPUs.
TEST(Settling, TheLimitsOfQueuesCount) {
  SimulationSetup setup = calm();
  auto catalog = std::make_shared<model::Catalog>(*setup.cluster.catalog);
  catalog->queues = {{.name = "all"}, {.name = "chat", .parent = {0}}};
  catalog->services[0].workload.queue = {1};
  setup.cluster.catalog = catalog;
  model::Snapshot truth;
  model::ServiceState state;
  state.desired_replicas = 3;
  truth.services.set({0}, state);
  EXPECT_FALSE(is_out_of_room(setup, truth)) << "a queue without a limit";
  catalog->queues[0].gpus.limit = whole_gpus(6);
  EXPECT_FALSE(is_out_of_room(setup, truth));
  catalog->queues[0].gpus.limit = whole_gpus(5);
  EXPECT_TRUE(is_out_of_room(setup, truth)) << "the parent's limit";
}

}  // namespace
}  // namespace capstan::experiment
