#include "archive/saved_state.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "archive/check_memory.h"
#include "archive/redecide.h"
#include "archive/rows.h"
#include "fleet/testing/world.h"

namespace capstan::archive {
namespace {

using fleet::testing::World;

SavedState random_state() {
  World world = fleet::testing::random_world();
  SavedState state;
  state.snapshot = world.snapshot;
  state.snapshot.at = fleet::testing::at(100);
  state.policies.name = "queue · gang \"quoted\"";
  state.policies.place.emplace();
  state.policies.provision = decide::provision::whole_groups();
  const std::size_t services = state.snapshot.catalog->services.size();
  state.memory.scale.resize(services);
  state.policies.scale.resize(services);
  state.memory.scale[0].recommendations.push_back({fleet::testing::at(90), 3});
  state.memory.planned.push_back({model::ServiceId{0}, 7, fleet::testing::at(95)});
  state.snapshot.nodes.for_each(
      [&](model::NodeId id, const model::Node&) { state.names.nodes.set(id, "node-" + std::to_string(id.value)); });
  return state;
}

RC_GTEST_PROP(SavedState, IsReadBackAsWritten, ()) {
  const SavedState state = random_state();
  const std::string text = to_json(state);
  const Result<SavedState> parsed = parse(text, "s.json");
  if (!parsed) RC_FAIL(parsed.error().text());
  RC_ASSERT(state_hash(parsed->snapshot) == state_hash(state.snapshot));
  state.snapshot.gangs.for_each(
      [&](model::GangId id, const model::Gang& gang) { RC_ASSERT(parsed->snapshot.gangs.at(id) == gang); });
  RC_ASSERT(to_json(*parsed) == text);
  RC_ASSERT((parsed->memory.place == state.memory.place && parsed->memory.provision == state.memory.provision));
  RC_ASSERT((parsed->memory.scale == state.memory.scale && parsed->memory.planned == state.memory.planned));
}

RC_GTEST_PROP(SavedState, TheStateFromAFileGivesTheSamePlan, ()) {
  const SavedState state = random_state();
  const Result<SavedState> parsed = parse(to_json(state), "s.json");
  RC_ASSERT(parsed.has_value());
  const auto plans = [](const SavedState& from) {
    fleet::Index index = fleet::build(from.snapshot);
    decide::place::Memory place = from.memory.place;
    decide::provision::Memory provision = from.memory.provision;
    const auto placed =
        decide::place::decide(index, from.snapshot, from.memory.planned, *from.policies.place, place, from.snapshot.at);
    const auto bought =
        decide::provision::decide(index, from.snapshot, placed, *from.policies.provision, provision, from.snapshot.at);
    return std::pair(plan_hash(placed.plan), plan_hash(bought.plan));
  };
  RC_ASSERT(plans(state) == plans(*parsed));
}

struct BadState {
  const char* teaches;
  std::string_view from;
  std::string_view to;
  std::string_view message;  ///< part of the error message
};

SavedState small_state() {
  World world;
  const model::NodeId node = world.node(0);
  const model::GangId gang = world.gang(1, 4, model::TopologyLevel::node);
  world.bind(gang, node);
  SavedState state;
  state.snapshot = world.snapshot;
  state.policies.name = "small";
  state.memory.scale.resize(state.snapshot.catalog->services.size());
  state.policies.scale.resize(state.memory.scale.size());
  return state;
}

TEST(SavedState, KeepsTheRulesOfAPool) {
  World world;
  world.pool({world.offering(8, 0, 10)}, 64);
  model::Pool& pool = world.catalog().pools.back();
  pool.limits = {.gpus = 64, .nodes = 5, .cpu_milli = 960'000, .memory_mib = 10'485'760};
  pool.weight = 50;
  pool.budgets = {{.nodes = 0, .start = *Cron::parse("0 9 * * 1-5"), .duration = std::chrono::hours(8)},
                  {.nodes = 2, .share_ppm = 100'000}};
  world.pool({world.offering(8, 0, 12)}, 8);
  world.catalog().pools.back().budgets.emplace();  // an empty list is not the same as no list
  SavedState state;
  state.snapshot = world.snapshot;
  state.policies.name = "pools";
  state.memory.scale.resize(1);
  state.policies.scale.assign(1, decide::scale::Capstan{});
  const Result<SavedState> read = parse(to_json(state), "s.json");
  ASSERT_TRUE(read.has_value()) << read.error().text();
  EXPECT_EQ(read->snapshot.catalog->pools, world.catalog().pools);
}

TEST(SavedState, KeepsTheVariantsOfAMixWithPricesAndLimits) {
  World world;
  model::Service other = world.catalog().services[0];
  other.workload.price_per_hour = {6'880'000};
  other.workload.step_limits = {64, 4096};
  other.survives = model::TopologyLevel::rack;
  other.windows = {{*Cron::parse("0 8 * * 1-5"), std::chrono::hours(10), 2, std::nullopt},
                   {*Cron::parse("@daily"), std::chrono::hours(6), std::nullopt, 4}};
  world.catalog().services.push_back(other);
  world.catalog().services[0].alternatives = {{1}};
  world.snapshot.services.set({1}, {.desired_replicas = 2, .leaving = 0, .gateway_waiting = {}});
  SavedState state;
  state.snapshot = world.snapshot;
  state.memory.scale.resize(2);
  state.policies.name = "mixed";
  state.policies.scale.assign(2, decide::scale::Capstan{});
  const Result<SavedState> read = parse(to_json(state), "s.json");
  ASSERT_TRUE(read.has_value()) << read.error().text();
  EXPECT_EQ(read->snapshot.catalog->service({0}).alternatives, std::vector<model::ServiceId>{{1}});
  EXPECT_EQ(read->snapshot.catalog->service({1}).workload.price_per_hour, MicroUsd{6'880'000});
  EXPECT_EQ(read->snapshot.catalog->service({1}).workload.step_limits, (model::StepLimits{64, 4096}));
  EXPECT_EQ(read->snapshot.catalog->service({1}).windows, other.windows);
  EXPECT_EQ(read->snapshot.catalog->service({1}).survives, other.survives);
  const RepeatedDecisions decided = redecide(*read);
  EXPECT_EQ(decided.scale.at(1).decided_with, model::ServiceId{0});
  ASSERT_TRUE(decided.scale.at(0).sizing && decided.scale.at(0).sizing->mix);
  EXPECT_EQ(decided.scale.at(0).sizing->mix->variants.size(), 2u);
}

TEST(SavedState, KeepsQueuesAndThePodsInThem) {
  World world;
  world.node(0);
  const model::QueueId team = world.queue(4, world.queue(8));
  world.catalog().queues.push_back({.name = "unused", .parent = {}, .fault = model::QueueFault::not_found});
  world.enqueue(world.gang(2, 4, model::TopologyLevel::node), team);
  world.catalog().services[0].workload.queue = team;
  SavedState state;
  state.snapshot = world.snapshot;
  state.policies.name = "queues";
  state.memory.scale.resize(1);
  state.policies.scale.resize(1);
  const Result<SavedState> read = parse(to_json(state), "s.json");
  ASSERT_TRUE(read.has_value()) << read.error().text();
  EXPECT_EQ(read->snapshot.catalog->queues, world.catalog().queues);
  EXPECT_EQ(read->snapshot.catalog->service({0}).workload.queue, team);
  EXPECT_EQ(read->snapshot.pods.at({0}).queue, team);
  EXPECT_EQ(read->snapshot.gangs.at({0}).spec.queue, team) << "the gang asks for the queue of its first pod";
  std::string cycle = to_json(state);
  const std::string child = R"("parent":0)";
  cycle.replace(cycle.find(child), child.size(), R"("parent":1)");
  EXPECT_FALSE(parse(cycle, "s.json").has_value()) << "a queue is its own parent";
}

TEST(SavedState, HasTheLowestVersionThatHoldsEverything) {
  SavedState state;
  World world;
  world.gang(2, 4, model::TopologyLevel::zone);
  state.memory.scale.resize(1);
  state.policies.scale.resize(1);
  state.policies.name = "levels";
  const auto version = [&] {
    state.snapshot = world.snapshot;
    const std::string text = to_json(state);
    const Result<SavedState> read = parse(text, "s.json");
    EXPECT_EQ(read ? to_json(*read) : "", text);
    const std::size_t at = text.find("\"format_version\": ");
    return text.at(at + std::string_view("\"format_version\": ").size());
  };
  EXPECT_EQ(version(), '2');
  model::Gang gang = world.snapshot.gangs.at({0});
  gang.spec.preferred = model::TopologyLevel::rack;
  world.snapshot.gangs.set({0}, gang);
  EXPECT_EQ(version(), '3');
  gang.spec.preferred.reset();
  world.snapshot.gangs.set({0}, gang);
  EXPECT_EQ(version(), '2');
  world.catalog().topologies.push_back({.name = "fabric", .levels = {{.name = "spine"}}});
  EXPECT_EQ(version(), '3');
  const model::QueueId team = world.queue(4, world.queue(8));
  EXPECT_EQ(version(), '3') << "a limit of GPUs has a key in format 2";
  model::Queue& shared = world.catalog().queues[team.value];
  for (const auto& [queue, title] : {std::pair(model::Queue{.name = "a", .gpus = {.quota = whole_gpus(1)}}, "a quota"),
                                     {model::Queue{.name = "a", .memory_mib = {.limit = 8}}, "a limit of memory"},
                                     {model::Queue{.name = "a", .priority = 1}, "a priority"},
                                     {model::Queue{.name = "a", .fault = model::QueueFault::parent_cycle}, "a loop"}}) {
    shared = queue;
    EXPECT_EQ(version(), '4') << title;
  }
  shared = {.name = "a"};
  world.catalog().queues.front().parent = team;
  EXPECT_EQ(version(), '4') << "a parent that follows its child";
  gang.spec.priority = -1;
  world.snapshot.gangs.set({0}, gang);
  EXPECT_EQ(version(), '5') << "a priority of a gang";
  gang.spec.priority = 0;
  world.snapshot.gangs.set({0}, gang);
  world.catalog().services.front().workload.priority = 2'000'001'000;
  EXPECT_EQ(version(), '5') << "a priority of a service";
  world.catalog().services.front().workload.priority = 0;
  EXPECT_EQ(version(), '4');
  gang.spec.other_pods = {{.gpu = {0}, .count = 1, .gpus_per_pod = {}}};
  world.snapshot.gangs.set({0}, gang);
  EXPECT_EQ(version(), '5') << "a second pod set";
  world.catalog().services.front().workload.pods = 2;
  world.catalog().services.front().workload.gpus_per_replica = 2;
  world.catalog().services.front().workload.leader = model::LeaderPod{};
  EXPECT_EQ(version(), '6') << "a leader that differs from the workers";
  world.catalog().services.front().workload.leader.reset();
  gang.spec.preemptible = true;
  world.snapshot.gangs.set({0}, gang);
  EXPECT_EQ(version(), '6') << "a preemptible gang";
  gang.spec.preemptible = false;
  world.snapshot.gangs.set({0}, gang);
  const model::PodClassId pods = world.pod_class({true});
  EXPECT_EQ(version(), '5');
  world.catalog().eligibility.pod_classes[pods.value].unsupported = model::PodRule::pod_affinity;
  EXPECT_EQ(version(), '6') << "a rule of pods that Capstan does not follow";
  world.catalog().eligibility.pod_classes[pods.value].unsupported = model::PodRule::no_gpus;
  EXPECT_EQ(version(), '7') << "a gang without GPUs";
  world.catalog().eligibility.pod_classes[pods.value].unsupported = model::PodRule::pod_affinity;
  world.catalog().eligibility.pod_classes[pods.value].kept_apart = {true};
  EXPECT_EQ(version(), '7') << "running pods that keep others apart";
  world.catalog().eligibility.pod_classes[pods.value].kept_apart.clear();
  world.catalog().instance_types = {{.name = "own", .pod_slots = 110}};
  EXPECT_EQ(version(), '7') << "an instance type that states its pods";
  world.catalog().instance_types = {};
  EXPECT_EQ(version(), '6');
  world.snapshot.nodes.set({7}, model::Node{});
  EXPECT_EQ(version(), '7') << "a node without GPUs";
  state.memory.requested = {{{0}, 1}};
  EXPECT_EQ(version(), '8') << "an action on its way";
}

TEST(SavedState, RefusesInvalidFiles) {
  const BadState rows[] = {
      {"another format", R"("format_version": 2)", R"("format_version": 9)", "format_version: found \"9\", expected"},
      {"an unknown enum name", R"("phase":"ready")", R"("phase":"happy")", "\"happy\", expected"},
      {"a pod on a node that does not exist", R"("gpus_milli":4000,"node":0)", R"("gpus_milli":4000,"node":9)",
       "found 9, expected the id of a row"},
      {"a gang without pods", R"("pods":[0])", R"("pods":[])", "no pods, expected at least one"},
      {"an unknown key", R"("ordinal":0)", R"("ordinal":0,"colour":1)", "colour"},
      {"a broken memory", R"("place":"place)", R"("place":"plaice)", "memory.place"},
      {"a gang whose pods have no GPUs", R"("gpus_per_pod_milli":4000)", R"("gpus_per_pod_milli":0)",
       "gpus_per_pod_milli"},
      {"a gang without a GPU kind", R"("pods":[0],"gpu":0)", R"("pods":[0])", "gpu"},
      {"a pod listed twice", R"("pods":[0])", R"("pods":[0,0])", "twice"},
      {"a time above the limit", R"("created_at_ns":0)", R"("created_at_ns":9223372036854775806)", "created_at_ns"},
      {"a memory of another version", R"("provision":"provision-memory/)", R"("provision":"provision-memory/9)",
       "memory.provision"},
      {"a prefill service that does not exist", R"("min_replicas":)", R"("fed_by":7,"min_replicas":)",
       "found service 7, expected a prefill service"},
      {"a service that is its own prefill service", R"("min_replicas":)", R"("fed_by":0,"min_replicas":)",
       "found service 0, expected a prefill service"},
      {"a service that is its own alternative", R"("min_replicas":)", R"("beside":[0],"min_replicas":)",
       "whose own list is empty"},
      {"an alternative that does not exist", R"("min_replicas":)", R"("beside":[7],"min_replicas":)",
       "which is not in this file"},
      {"a huge id", R"("id":0,"phase":"ready","service")", R"("id":99999999,"phase":"ready","service")", "99999999"},
  };
  const std::string good = to_json(small_state());
  for (const BadState& row : rows) {
    const std::size_t at = good.find(row.from);
    ASSERT_NE(at, std::string::npos) << row.teaches << "\n" << good;
    std::string bad = good;
    bad.replace(at, row.from.size(), row.to);
    const Result<SavedState> state = parse(bad, "s.json");
    ASSERT_FALSE(state) << row.teaches;
    EXPECT_NE(state.error().text().find(row.message), std::string::npos) << row.teaches << ": " << state.error().text();
    EXPECT_GT(state.error().line, 0u) << row.teaches;
  }
}

TEST(SavedState, RefusesMemoriesWithInvalidReferencesOrNumbers) {
  const SavedState good = small_state();
  EXPECT_FALSE(find_fault(good.memory, good.snapshot));
  using fleet::testing::at;
  const auto with = [&](auto change) {
    control::Memory memory = good.memory;
    change(memory);
    return find_fault(memory, good.snapshot).value_or("nothing");
  };
  EXPECT_EQ(with([](auto& m) { m.place.assumed.push_back({{0}, {0}, {0}, {-1}, at(1)}); }),
            "assumed GPUs is -1, expected 0 to 10000000");
  EXPECT_EQ(with([](auto& m) {
              decide::provision::Memory::PendingLaunch asked;
              asked.pool = model::PoolId{9};
              m.provision.pending_launches.push_back(asked);
            }),
            "asked pool is 9, which is not in the catalog");
  World market;
  decide::provision::Memory::PendingLaunch held;
  held.offering = market.offering(8, 0, 1);
  held.pool = market.pool({held.offering}, 64);
  held.hold = Duration{kMaxTime};
  control::Memory holding;
  holding.provision.pending_launches = {held};
  EXPECT_EQ(find_fault(holding, market.snapshot),
            "asked hold is 4611686018427387904, expected 0 to 2305843009213693952")
      << "the end of the hold, a time plus this span, must not overflow";
  EXPECT_EQ(with([](auto& m) { m.provision.backoffs.push_back({{7}, 1, at(1), at(2)}); }),
            "back-off offering is 7, which is not in the catalog");
  EXPECT_EQ(with([](auto& m) { m.scale[0].recommendations.push_back({at(-1), 1}); }),
            "scale answer is -1000000000, expected 0 to 4611686018427387904");
  EXPECT_EQ(with([&](auto& m) { m.planned.push_back({{0}, 3, good.snapshot.at + std::chrono::seconds(1)}); }),
            "planned at is after at_ns, expected at_ns or earlier");
}

/// The largest cluster that Capstan is designed for is within the reader's limits.
TEST(SavedState, ReadsBackTenThousandGangs) {
  World world;
  for (int i = 0; i < 10'000; ++i) {
    const model::NodeId node = world.node(static_cast<std::size_t>(i % 4));
    world.bind(world.gang(1, 8, model::TopologyLevel::node), node);
  }
  SavedState state;
  state.snapshot = world.snapshot;
  state.policies.name = "large";
  state.memory.scale.resize(state.snapshot.catalog->services.size());
  state.policies.scale.resize(state.memory.scale.size());
  const std::string text = to_json(state);
  const Result<SavedState> parsed = parse(text, "large.json");
  ASSERT_TRUE(parsed) << parsed.error().text();
  EXPECT_EQ(to_json(*parsed), text);
}

}  // namespace
}  // namespace capstan::archive
