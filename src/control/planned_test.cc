#include "control/planned.h"

#include <gtest/gtest.h>

namespace capstan::control {
namespace {

using GangPhase = model::Gang::Phase;

struct PlannedRow {
  const char* teaches;
  ReplicaCount desired;
  std::vector<std::pair<std::uint32_t, GangPhase>> gangs;  // ordinal, phase
  std::vector<std::uint32_t> planned;
};

const PlannedRow kPlannedRows[] = {
    {"enough replicas exist", 2, {{0, GangPhase::ready}, {1, GangPhase::starting}}, {}},
    {"a replica whose pods do not exist yet is planned", 3, {{0, GangPhase::ready}}, {1, 2}},
    {"ordinals fill the gaps", 3, {{0, GangPhase::ready}, {2, GangPhase::ready}}, {1}},
    {"a draining replica does not count but keeps its number",
     2,
     {{0, GangPhase::draining}, {1, GangPhase::ready}},
     {2}},
    {"fewer wanted than exist plans nothing", 1, {{0, GangPhase::ready}, {1, GangPhase::ready}}, {}},
};

std::shared_ptr<const model::Catalog> one_service(bool placed_elsewhere = false) {
  auto catalog = std::make_shared<model::Catalog>();
  model::Service service;
  service.workload.placed_elsewhere = placed_elsewhere;
  catalog->services = {service};
  return catalog;
}

TEST(Planned, FollowsReplicaCountsAndGangs) {
  for (const PlannedRow& row : kPlannedRows) {
    SCOPED_TRACE(row.teaches);
    model::Snapshot snapshot;
    snapshot.catalog = one_service();
    snapshot.services.set({0}, {.desired_replicas = row.desired, .gateway_waiting = {}});
    std::uint32_t id = 0;
    for (const auto& [ordinal, phase] : row.gangs) {
      model::Gang gang;
      gang.service = {0};
      gang.ordinal = ordinal;
      gang.phase = phase;
      snapshot.gangs.set({id++}, gang);
    }
    std::vector<model::PlannedGang> planned;
    update_planned(planned, snapshot, fleet::build(snapshot), {});
    std::vector<std::uint32_t> ordinals;
    for (const model::PlannedGang& gang : planned) ordinals.push_back(gang.ordinal);
    EXPECT_EQ(ordinals, row.planned);
  }
}

TEST(Planned, AServicePlacedByAnotherSchedulerHasNoPlannedReplicas) {
  model::Snapshot snapshot;
  snapshot.catalog = one_service(true);
  snapshot.services.set({0}, {.desired_replicas = 1, .gateway_waiting = {}});
  std::vector<model::PlannedGang> planned;
  update_planned(planned, snapshot, fleet::build(snapshot), {});
  EXPECT_TRUE(planned.empty());
}

TEST(Planned, AReplicaThatDrainsBeforeTheScaleDownIsNotReplaced) {
  model::Snapshot snapshot;
  snapshot.catalog = one_service();
  snapshot.services.set({0}, {.desired_replicas = 2, .leaving = 1, .gateway_waiting = {}});
  for (const std::uint32_t ordinal : {0u, 1u}) {
    model::Gang gang;
    gang.service = {0};
    gang.ordinal = ordinal;
    gang.phase = ordinal == 0 ? GangPhase::ready : GangPhase::draining;
    snapshot.gangs.set({ordinal}, gang);
  }
  std::vector<model::PlannedGang> planned;
  update_planned(planned, snapshot, fleet::build(snapshot), {});
  EXPECT_TRUE(planned.empty());
}

TEST(Planned, KeepsTheTimeOfTheDecision) {
  model::Snapshot snapshot;
  snapshot.catalog = one_service();
  snapshot.services.set({0}, {.desired_replicas = 1, .gateway_waiting = {}});
  std::vector<model::PlannedGang> planned;
  update_planned(planned, snapshot, fleet::build(snapshot), {std::chrono::seconds(5)});
  update_planned(planned, snapshot, fleet::build(snapshot), {std::chrono::seconds(9)});
  ASSERT_EQ(planned.size(), 1u);
  EXPECT_EQ(planned[0].decided_at, Instant{std::chrono::seconds(5)});
}

}  // namespace
}  // namespace capstan::control
