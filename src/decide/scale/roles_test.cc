#include "decide/scale/roles.h"

#include <gtest/gtest.h>

namespace capstan::decide::scale {
namespace {

using model::ReasonCode;

const model::ServiceId kPrefill{0}, kDecode{1};

/// One role in a row of a table test.
struct PartRow {
  ReplicaCount current = 0;
  ReplicaCount desired = 0;
  ReplicaCount now = 0;  ///< replicas that must serve now; 0: as many as desired
  ReplicaCount min = 1;
  ReplicaCount max = 20;
  ReplicaCount proposed = 0;  ///< replicas that the load alone needs; 0: as many as desired
};

/// Makes a role whose current replicas all serve; replicas with higher ids hold fewer requests.
RolePart part_of(const PartRow& part, model::Role role, model::ServiceId service, std::uint32_t first_gang) {
  RolePart made;
  made.role.service = made.decision.service = service;
  made.role.role = role;
  made.role.current = part.current;
  made.role.min = part.min;
  made.role.max = part.max;
  for (std::uint32_t i = 0; i < part.current; ++i) {
    WorkloadView::Replica replica;
    replica.id = {first_gang + i};
    replica.phase = model::Gang::Phase::ready;
    replica.signals.running = model::Signal::measured(100 - i);
    replica.signals.waiting = model::Signal::measured(0);
    made.role.replicas.push_back(replica);
  }
  made.decision.current = part.current;
  made.decision.desired = made.decision.stabilized = part.desired;
  made.decision.proposed = part.proposed > 0 ? part.proposed : part.desired;
  made.decision.needed_now = part.now > 0 ? part.now : part.desired;
  made.decision.why = {ReasonCode::demand_met, {}};
  made.decision.lead = std::chrono::minutes(2);
  return made;
}

struct PairRow {
  const char* name;
  model::RoleLimits limits;
  PartRow prefill, decode;
  ReplicaCount prefill_desired, decode_desired;
  std::int64_t conversions;
};

constexpr Duration kChange = std::chrono::seconds(5);

TEST(Roles, AreReconciled) {
  const PairRow rows[] = {
      {"no limit", {}, {4, 4}, {4, 9}, 4, 9, 0},
      {"prefill is raised: one feeds at most four", {0, 4000, {}}, {2, 2}, {9, 9}, 3, 9, 0},
      {"decode is raised: at least two per prefill replica", {2000, 0, {}}, {4, 4}, {4, 5}, 4, 8, 0},
      {"a ratio of 2.5 rounds up to three", {2500, 0, {}}, {1, 1}, {1, 1}, 1, 3, 0},
      {"raised only up to the maximum", {0, 1000, {}}, {2, 2, 0, 1, 5}, {9, 9}, 5, 9, 0},
      {"a ratio lowers nothing", {0, 1000, {}}, {9, 9}, {2, 2}, 9, 2, 0},
      {"both roles at zero", {1000, 2000, {}}, {0, 0, 0, 0}, {0, 0, 0, 0}, 0, 0, 0},
      {"a surplus replica converts", {0, 0, kChange}, {4, 3}, {4, 5}, 3, 5, 1},
      {"a converted replica is replaced in its old role", {0, 0, kChange}, {4, 4, 3}, {4, 5}, 4, 5, 1},
      {"no more convert than are lacking", {0, 0, kChange}, {9, 7, 4}, {4, 6}, 7, 6, 2},
      {"a lack of both roles is started", {0, 0, kChange}, {4, 4, 3}, {4, 7}, 4, 7, 1},
      {"a surplus converts first, the rest stops", {0, 0, kChange}, {6, 3}, {4, 6}, 3, 6, 2},
      {"decode replicas convert to prefill", {0, 0, kChange}, {4, 6}, {4, 2}, 6, 2, 2},
      {"no role has a surplus: both start replicas", {0, 0, kChange}, {4, 5}, {4, 6}, 5, 6, 0},
      {"a later need is covered by the surplus of the other role", {0, 0, kChange}, {9, 4, 4}, {4, 6, 4}, 6, 4, 0},
      {"a replica held by a window converts", {0, 0, kChange}, {9, 9, 2, 1, 20, 7}, {4, 4, 6}, 7, 6, 2},
      {"the minimum of the giving role stays", {0, 0, kChange}, {4, 4, 1, 3}, {4, 6}, 4, 6, 1},
      {"the maximum of the receiving role holds", {0, 0, kChange}, {6, 6, 1}, {4, 4, 9, 1, 5}, 6, 5, 1},
      {"the ratio still holds after a conversion", {0, 2000, kChange}, {4, 4, 1}, {4, 6}, 4, 6, 1},
      {"as many convert as the ratio allows", {1000, 0, kChange}, {4, 6}, {6, 6, 3}, 6, 6, 1},
      {"a role at its need lends none: the other starts", {0, 0, kChange}, {1, 3}, {10, 10, 10, 1, 20, 5}, 3, 10, 0},
      {"a conversion fills the minimum", {0, 0, kChange}, {1, 3, 1, 3}, {10, 10, 4, 1, 20, 5}, 3, 8, 2},
      {"the ratio raises decode", {500, 0, kChange}, {8, 8}, {1, 1}, 8, 4, 0},
      {"no conversion if replicas cannot convert", {0, 0, {}}, {4, 4, 2}, {4, 6}, 4, 6, 0},
  };
  for (const PairRow& row : rows) {
    model::Catalog catalog;
    catalog.services.resize(2);
    catalog.services[1].prefill_service = kPrefill;
    for (model::Service& service : catalog.services) service.role_limits = row.limits;
    std::map<model::ServiceId, RolePart> parts;
    parts.emplace(kPrefill, part_of(row.prefill, model::Role::prefill, kPrefill, 0));
    parts.emplace(kDecode, part_of(row.decode, model::Role::decode, kDecode, 50));
    reconcile_roles(catalog, parts);
    std::int64_t conversions = 0;
    for (const auto& [service, part] : parts) {
      for (const model::Action& action : part.decision.plan.actions) {
        conversions += std::holds_alternative<model::ConvertReplica>(action.effect) ? 1 : 0;
      }
    }
    EXPECT_EQ(parts.at(kPrefill).decision.desired, row.prefill_desired) << row.name;
    EXPECT_EQ(parts.at(kDecode).decision.desired, row.decode_desired) << row.name;
    EXPECT_EQ(conversions, row.conversions) << row.name;
  }
}

/// Prefill has six replicas and needs three; decode lacks two.
TEST(Roles, TheLeastLoadedReplicaConvertsAndIsNotDrainedToo) {
  model::Catalog catalog;
  catalog.services.resize(2);
  catalog.services[1].prefill_service = kPrefill;
  for (model::Service& service : catalog.services) service.role_limits.conversion = kChange;
  std::map<model::ServiceId, RolePart> parts;
  parts.emplace(kPrefill, part_of({6, 3}, model::Role::prefill, kPrefill, 0));
  parts.emplace(kDecode, part_of({4, 6}, model::Role::decode, kDecode, 50));
  reconcile_roles(catalog, parts);

  const Decision& decode = parts.at(kDecode).decision;
  ASSERT_EQ(decode.plan.actions.size(), 2u) << "nothing has to be started";
  const auto& first = std::get<model::ConvertReplica>(decode.plan.actions[0].effect);
  EXPECT_EQ(first.gang, model::GangId{5});
  EXPECT_EQ(first.from, kPrefill);
  EXPECT_EQ(first.to, kDecode);
  EXPECT_EQ(decode.why.code, ReasonCode::role_joined);
  EXPECT_EQ(decode.current, 4) << "the count before the conversions";

  const Decision& prefill = parts.at(kPrefill).decision;
  ASSERT_EQ(prefill.plan.actions.size(), 1u);
  const auto& set = std::get<model::SetReplicas>(prefill.plan.actions[0].effect);
  EXPECT_EQ(set.replicas, 3);
  EXPECT_EQ(set.drain, (std::vector<model::GangId>{{3}}));
}

/// The load of a silent replica is unknown, so its role lends none. Found by scripts/swarm in world 1:6343.
TEST(Roles, ARoleWithASilentReplicaLendsNone) {
  for (const bool silent : {false, true}) {
    model::Catalog catalog;
    catalog.services.resize(2);
    catalog.services[1].prefill_service = kPrefill;
    for (model::Service& service : catalog.services) service.role_limits.conversion = kChange;
    std::map<model::ServiceId, RolePart> parts;
    parts.emplace(kPrefill, part_of({6, 6, 3, 1, 20, 3}, model::Role::prefill, kPrefill, 0));
    parts.emplace(kDecode, part_of({4, 6}, model::Role::decode, kDecode, 50));
    if (silent) parts.at(kPrefill).role.replicas[0].signals.waiting = {};
    reconcile_roles(catalog, parts);
    const std::vector<model::Action>& actions = parts.at(kDecode).decision.plan.actions;
    const auto converts = std::ranges::count_if(actions, [](const model::Action& action) {
      return std::holds_alternative<model::ConvertReplica>(action.effect);
    });
    EXPECT_EQ(converts, silent ? 0 : 2);
  }
}

/// Two of seven decode replicas serve, which is the minimum of decode. One prefill replica serves, one fewer than the
/// minimum of prefill. A loan would leave decode below its minimum, and the same plan would convert the replica back.
/// Found by scripts/swarm in world 101:1389.
TEST(Roles, ARoleLendsNoReplicaOfItsServingMinimum) {
  model::Catalog catalog;
  catalog.services.resize(2);
  catalog.services[1].prefill_service = kPrefill;
  for (model::Service& service : catalog.services) service.role_limits.conversion = kChange;
  std::map<model::ServiceId, RolePart> parts;
  parts.emplace(kPrefill, part_of({2, 2, 1, 2, 7}, model::Role::prefill, kPrefill, 0));
  parts.emplace(kDecode, part_of({7, 7, 1, 2, 7}, model::Role::decode, kDecode, 50));
  const auto stop_serving = [&](model::ServiceId service, std::size_t from) {
    std::vector<WorkloadView::Replica>& replicas = parts.at(service).role.replicas;
    for (std::size_t i = from; i < replicas.size(); ++i) replicas[i].phase = model::Gang::Phase::pending;
  };
  stop_serving(kPrefill, 1);
  stop_serving(kDecode, 2);
  reconcile_roles(catalog, parts);
  for (const auto& [service, part] : parts) {
    EXPECT_TRUE(part.conversions.empty()) << (service == kPrefill ? "prefill" : "decode");
  }
}

TEST(Roles, NoReplicaConvertsIfThatIsSlowerThanAStartOrARoleMustSpread) {
  for (const bool slow : {true, false}) {
    model::Catalog catalog;
    catalog.services.resize(2);
    catalog.services[1].prefill_service = kPrefill;
    const Duration change = slow ? Duration(std::chrono::minutes(2)) : kChange;
    for (model::Service& service : catalog.services) service.role_limits.conversion = change;
    std::map<model::ServiceId, RolePart> parts;
    parts.emplace(kPrefill, part_of({6, 6, 1, 1, 20, 2}, model::Role::prefill, kPrefill, 0));
    parts.emplace(kDecode, part_of({4, 6}, model::Role::decode, kDecode, 50));
    if (!slow) parts.at(kDecode).role.spread = Spread{.domains = 3, .held = {2, 2}};
    reconcile_roles(catalog, parts);
    EXPECT_EQ(parts.at(kPrefill).decision.desired, 6) << slow;
    EXPECT_EQ(parts.at(kDecode).decision.desired, 6) << slow << ": decode starts the replicas it lacks";
    EXPECT_TRUE(parts.at(kDecode).conversions.empty()) << slow;
  }
}

TEST(Roles, ARoleWithoutItsCounterpartIsUnchanged) {
  model::Catalog catalog;
  catalog.services.resize(2);
  catalog.services[1].prefill_service = kPrefill;
  for (model::Service& service : catalog.services) service.role_limits = {0, 1000, kChange};
  std::map<model::ServiceId, RolePart> parts;
  parts.emplace(kDecode, part_of({4, 6}, model::Role::decode, kDecode, 50));
  reconcile_roles(catalog, parts);
  EXPECT_EQ(parts.at(kDecode).decision.desired, 6);
}

}  // namespace
}  // namespace capstan::decide::scale
