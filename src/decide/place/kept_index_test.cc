// An index that is kept from cycle to cycle gives the same decisions as a new one, and does not search again for a gang
// that it refused.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "decide/place/fit.h"
#include "decide/place/place.h"
#include "fleet/testing/world.h"

namespace capstan::decide::place {
namespace {

using fleet::testing::at;
using fleet::testing::World;

void check_equal(const Decision& kept, const Decision& fresh) {
  RC_ASSERT(kept.verdicts.size() == fresh.verdicts.size());
  for (std::size_t i = 0; i < kept.verdicts.size(); ++i) {
    RC_ASSERT(kept.verdicts[i].gang == fresh.verdicts[i].gang);
    RC_ASSERT(kept.verdicts[i].kind == fresh.verdicts[i].kind);
    RC_ASSERT(kept.verdicts[i].why == fresh.verdicts[i].why);
  }
  RC_ASSERT(kept.shortfalls == fresh.shortfalls);
  RC_ASSERT(kept.nominated == fresh.nominated);
  RC_ASSERT(plan_hash(kept.plan) == plan_hash(fresh.plan));
}

/// Adds gangs of few classes, so that most classes have several gangs.
void add_equal_gangs(World& world, model::Delta& delta) {
  const auto level = static_cast<TopologyLevel>(*rc::gen::inRange(0, 5));
  const std::int64_t pods = *rc::gen::element<std::int64_t>(1, 3, 6);
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    const GangId gang = world.gang(pods, 4, level, *rc::gen::inRange(0, 100));
    world.classify(gang, *rc::gen::element(model::PodClassId{}, model::PodClassId{0}, model::PodClassId{1}));
    delta.gangs.push_back(gang);
    const std::vector<PodId>& added = world.snapshot.gangs.at(gang).pods;
    delta.pods.insert(delta.pods.end(), added.begin(), added.end());
  }
}

/// Shows some of the decided bindings in the snapshot.
void confirm_some(World& world, const Decision& decision, model::Delta& delta) {
  for (const model::Action& action : decision.plan.actions) {
    const auto* bind = std::get_if<model::BindPods>(&action.effect);
    if (bind == nullptr || *rc::gen::inRange(0, 2) == 0) continue;
    for (const model::BindPods::Binding& binding : bind->bindings) {
      const model::Pod* row = world.snapshot.pods.find(binding.pod);
      if (row == nullptr) continue;
      model::Pod pod = *row;
      pod.node = binding.node;
      pod.phase = model::Pod::Phase::starting;
      world.snapshot.pods.set(binding.pod, pod);
      delta.pods.push_back(binding.pod);
    }
  }
}

World world_that_buys_and_spreads() {
  World world = fleet::testing::random_world();
  if (*rc::gen::inRange(0, 2) == 0) world.pool({world.offering(8, 0, 10), world.offering(8, 1, 10)}, 64);
  if (*rc::gen::inRange(0, 3) == 0) {
    world.catalog().services[0].survives = *rc::gen::element(TopologyLevel::zone, TopologyLevel::node);
  }
  world.catalog().services[0].workload.pods = 2;
  world.catalog().services[0].workload.gpus_per_replica = 4;
  return world;
}

RC_GTEST_PROP(KeptIndex, DecidesAsANewOne, ()) {
  World world = world_that_buys_and_spreads();
  const Policy policy{
      .kind = *rc::gen::weightedElement<Policy::Kind>({{1, Policy::Kind::first_fit}, {4, Policy::Kind::gang}})};
  Index index = fleet::build(world.snapshot);
  Memory memory;
  for (int cycle = 0; cycle < 6; ++cycle) {
    LeavingNodes leaving;
    if (*rc::gen::inRange(0, 4) == 0)
      leaving.nodes.push_back({*rc::gen::inRange<std::uint32_t>(0, world.next_node + 1)});
    std::vector<model::PlannedGang> planned;
    for (std::uint32_t i = *rc::gen::inRange<std::uint32_t>(0, 3); i > 0; --i) {
      planned.push_back({{0}, 100 + i, at(0)});
    }
    const Instant now = at(cycle * *rc::gen::element<std::int64_t>(1, 20));
    Memory copy = parse_memory(to_text(memory)).value();
    Index fresh = fleet::build(world.snapshot);
    const Decision decision = decide(index, world.snapshot, planned, policy, memory, now, {.leaving = leaving});
    // The decision with the new index also keeps the places that it considers. It therefore searches again for each
    // replica that must be spread, and the result must be the same.
    const PlaceOptions with{.leaving = leaving, .options = {.detail = Detail::candidates}};
    check_equal(decision, decide(fresh, world.snapshot, planned, policy, copy, now, with));
    RC_ASSERT(memory == copy);
    model::Delta delta = fleet::testing::change_at_random(world);
    add_equal_gangs(world, delta);
    confirm_some(world, decision, delta);
    apply(index, world.snapshot, delta);
  }
}

/// Compares a revised refusal with a search, over classes, levels and changes of nodes.
RC_GTEST_PROP(KeptIndex, ARevisedRefusalEqualsASearch, ()) {
  World world = fleet::testing::random_world();
  Index index = fleet::build(world.snapshot);
  const auto update = [&] { index.assumed.update(index.rooms, world.snapshot.catalog->eligibility, {}, {}); };
  update();
  const Request request{
      .gpu = {0},
      .level = static_cast<TopologyLevel>(*rc::gen::inRange(0, 5)),
      .pods = *rc::gen::inRange<std::int64_t>(1, 12),
      .gpus_per_pod = whole_gpus(*rc::gen::element<std::int64_t>(1, 2, 4)),
      .pod_class = world.snapshot.catalog->eligibility.find({*rc::gen::inRange<std::uint32_t>(0, 4)})};
  const Fit before = best_fit(index.assumed.rooms(), request);
  if (!before.nodes.empty()) return;
  const std::uint64_t version = index.assumed.version();
  const std::shared_ptr<const model::Catalog> catalog = world.snapshot.catalog;  // the request points into it
  const model::Delta delta = fleet::testing::change_at_random(world);
  apply(index, world.snapshot, delta);
  update();
  if (delta.catalog.eligibility) return;  // every refusal is dropped
  Fit revised = before;
  if (!revise(revised, index.assumed.rooms(), request, *index.assumed.changes_since(version))) return;
  const Fit searched = best_fit(index.assumed.rooms(), request);
  RC_ASSERT(revised.nodes == searched.nodes);
  RC_ASSERT(revised.best_domain == searched.best_domain);
  RC_ASSERT(revised.best_node == searched.best_node);
  RC_ASSERT(revised.best_free == searched.best_free);
  RC_ASSERT(revised.best_pods == searched.best_pods);
  RC_ASSERT(revised.domain_free == searched.domain_free);
}

/// Ten thousand equal gangs of two pods that need a whole node each, and no room for any of them.
struct EqualGangs {
  explicit EqualGangs(TopologyLevel level) {
    for (std::size_t domain = 0; domain < 8; ++domain) world.node(domain, 4);
    world.pool({world.offering(16, 0, 10)}, 64);
    for (int i = 0; i < 10'000; ++i) world.gang(2, 8, level, i);
    index = fleet::build(world.snapshot);
  }
  Decision look() {
    Decision decision = decide(index, world.snapshot, {}, {}, memory, at(20'000));
    EXPECT_EQ(decision.verdicts.size(), 10'000u);
    return decision;
  }
  std::uint64_t searches() const { return index.assumed.refusals.searches; }
  void add_node(std::size_t domain, std::int64_t gpus) {
    const NodeId node = world.node(domain, gpus);
    model::Delta delta;
    delta.nodes.push_back(node);
    apply(index, world.snapshot, delta);
  }

  World world;
  Index index;
  Memory memory;
};

TEST(KeptIndex, TenThousandEqualGangsCostOneSearch) {
  for (const auto level : {TopologyLevel::node, TopologyLevel::nvlink, TopologyLevel::zone, TopologyLevel::cluster}) {
    EqualGangs gangs(level);
    EXPECT_EQ(gangs.look().shortfalls.size(), 10'000u);
    EXPECT_EQ(gangs.searches(), 1u);
    EXPECT_EQ(gangs.look().shortfalls.size(), 10'000u);
    EXPECT_EQ(gangs.searches(), 1u) << "nothing changed";
  }
}

TEST(KeptIndex, EqualReplicasThatMustBeSpreadCostOneSearchInEachCycle) {
  EqualGangs gangs(TopologyLevel::nvlink);
  gangs.world.catalog().services.front().survives = TopologyLevel::zone;
  gangs.world.snapshot.services.set({0}, {.desired_replicas = 10'000, .gateway_waiting = {}});
  EXPECT_EQ(gangs.look().shortfalls.size(), 10'000u);
  EXPECT_EQ(gangs.searches(), 1u);
  gangs.look();
  EXPECT_EQ(gangs.searches(), 2u);
}

TEST(KeptIndex, AChangeIsComparedWithTheRefusalUntilAGangFits) {
  EqualGangs gangs(TopologyLevel::nvlink);
  gangs.look();
  gangs.add_node(0, 8);
  EXPECT_TRUE(gangs.look().plan.actions.empty());
  EXPECT_EQ(gangs.searches(), 1u) << "one node is not enough, and no search is needed to see it";
  gangs.add_node(0, 8);
  const Decision decision = gangs.look();
  ASSERT_EQ(decision.plan.actions.size(), 1u);
  EXPECT_EQ(decision.verdicts[0].kind, PlacementResult::Kind::placed);
  EXPECT_EQ(gangs.searches(), 2u) << "the first gang needs no search; the others need one, as the best domain is full";
  gangs.look();
  EXPECT_EQ(gangs.searches(), 2u);
}

}  // namespace
}  // namespace capstan::decide::place
