// Checks that all worlds of the swarm can be read and repeated, and that broken invariants are judged by
// docs/invariants.md.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

#include "scenario/scenario.h"
#include "swarm/run_world.h"
#include "swarm/tally.h"
#include "swarm/verdict.h"
#include "swarm/world.h"

namespace capstan::swarm {
namespace {

constexpr std::uint64_t kWorlds = 2'000;

std::string base_world() {
  std::ifstream file(std::string(CAPSTAN_SOURCE_DIR) + "/" + kWorldFile);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

const Counter& counter(const std::string& name) {
  for (const Counter& one : counters()) {
    if (one.name == name) return one;
  }
  throw std::invalid_argument("no counter " + name);
}

TEST(SwarmWorld, EveryDrawIsAScenario) {
  const std::string base = base_world();
  for (std::uint64_t number = 1; number <= kWorlds; ++number) {
    const World world = draw(1, number);
    const auto scenario = scenario::parse_scenario(
        base, kWorldFile, {.sets = world.sets, .trace = {}, .seed = world.run_seed, .policies = {}});
    EXPECT_TRUE(scenario) << scenario.error().text() << "\n" << world.command();
  }
}

TEST(SwarmWorld, IsRepeatable) {
  EXPECT_EQ(draw(3, 17).command(), draw(3, 17).command());
  EXPECT_NE(draw(3, 17).command(), draw(3, 18).command());
  EXPECT_NE(draw(3, 17).command(), draw(4, 17).command());
  EXPECT_EQ(draw(3, 17).name(), "3:17");
}

TEST(SwarmWorld, CommandQuotesValuesForTheShell) {
  const World world{.seed = 1,
                    .number = 2,
                    .run_seed = 7,
                    .sets = {"cluster.scrape.loss=50%", "service.replicas={min: 1, max: 2}"},
                    .owner = Owner::capstan};
  EXPECT_EQ(world.command(),
            "capstan sim tests/swarm/world.yaml --seed 7 --set cluster.scrape.loss=50% "
            "--set 'service.replicas={min: 1, max: 2}'");
}

/// A search finds violations only if it makes every kind of choice.
TEST(SwarmWorld, EveryKindOfChoiceIsDrawn) {
  std::set<std::string> paths;
  std::uint64_t baselines = 0;
  for (std::uint64_t number = 1; number <= kWorlds; ++number) {
    const World world = draw(1, number);
    baselines += world.owner == Owner::baseline;
    for (const std::string& set : world.sets) paths.insert(set.substr(0, set.find('=')));
  }
  for (const char* path : {"service.roles",
                           "service.variants",
                           "service.replicas.survive",
                           "service.replicas.windows",
                           "cluster.actions.unknown",
                           "cluster.actions.refused",
                           "cluster.scrape.loss",
                           "cluster.outages",
                           "cluster.provider.spot_interruptions_per_hour",
                           "service.engine_settings.kv_blocks",
                           "policies.0.sleep",
                           "load.generator.sessions",
                           "queues",
                           "jobs.0.queue",
                           "services",
                           "services.first.client",
                           "service.cpu",
                           "jobs.0.cpu",
                           "service.node_selector",
                           "jobs.0.node_selector"}) {
    EXPECT_TRUE(paths.contains(path)) << path;
  }
  EXPECT_GT(baselines, kWorlds / 5);
  EXPECT_LT(baselines, kWorlds / 3);
}

TEST(SwarmVerdict, KnowsEveryCounter) {
  experiment::InvariantFigures figures;
  for (const Counter& one : counters()) figures.*one.times = 1;
  EXPECT_EQ(figures.total(), static_cast<std::int64_t>(counters().size()));
  EXPECT_EQ(sizeof figures, counters().size() * sizeof(std::int64_t));
}

struct Row {
  const char* teaches;
  const char* counter;
  Owner owner;
  bool violation;
};

constexpr Row kRows[] = {
    {"Capstan's policies must not run a part of a gang", "partial_gang", Owner::capstan, true},
    {"a baseline may run a part of a gang", "partial_gang", Owner::baseline, false},
    {"Capstan's policies must not cut requests", "work_cut", Owner::capstan, true},
    {"a baseline may plan above a limit", "limit_exceeded", Owner::baseline, false},
    {"the decisions of every policy must be repeatable", "not_repeatable", Owner::baseline, true},
    {"no policy may use information that production does not have", "oracle", Owner::baseline, true},
    {"the balances must be closed with every policy", "not_conserved", Owner::baseline, true},
};

TEST(SwarmVerdict, JudgesAnInvariantByTheOwnerOfThePolicies) {
  for (const Row& row : kRows) {
    EXPECT_EQ(is_violation({&counter(row.counter), 1}, row.owner), row.violation) << row.teaches;
  }
}

TEST(SwarmVerdict, TallyCountsWorldsByOwner) {
  Tally tally;
  experiment::RunResult result;
  result.simulated = std::chrono::hours(6);
  EXPECT_TRUE(tally.add(World{.owner = Owner::capstan}, result).empty());
  result.invariants.partial_gang = 3;
  EXPECT_TRUE(tally.add(World{.owner = Owner::baseline}, result).empty());
  EXPECT_TRUE(tally.is_clean());
  result.invariants.work_cut = 1;
  result.invariants.jobs_restarted = 1;
  EXPECT_EQ(tally.add(World{.owner = Owner::capstan}, result).size(), 3u);
  EXPECT_FALSE(tally.is_clean());
  EXPECT_EQ(tally.to_text(),
            "swarm: Capstan's policies: 2 worlds, 12 simulated hours, broken: invariant 1 in 1 world, invariant 2 in 1 "
            "world\n"
            "swarm: baselines: 1 worlds, 6 simulated hours, broken: invariant 1 in 1 world\n");
}

/// A gang has two pods, and nodes have one GPU. With pod-by-pod placement the first pod is bound long before the second
/// node is there, so the gang is partial. The scrape delay has no influence, so the reduced world must lack it.
TEST(SwarmRunner, ReducesAWorldToTheNecessaryChanges) {
  const World world{
      .seed = 1,
      .number = 1,
      .run_seed = 1,
      .sets = {"service.tensor_parallel=2", "service.pods_per_replica=2", "service.together=rack",
               "cluster.pools.0.offerings.0.gpus=1", "cluster.pools.0.offerings.1.gpus=1", "cluster.existing.0.gpus=1",
               "cluster.existing.0.count=3", "service.replicas.min=2", "cluster.scrape.delay=5s", "load.duration=20m",
               "policies.0.place=first_fit", "policies.0.provision=karpenter"},
      .owner = Owner::baseline};
  std::string base = base_world();
  const std::size_t duration = base.find("duration: 6h");
  ASSERT_NE(duration, base.npos);
  const Runner runner(base.replace(duration, 12, "duration: 20m"));
  const Counter& partial = counter("partial_gang");
  const auto whole = runner.run(world, false);
  ASSERT_TRUE(whole) << whole.error().text();
  ASSERT_GT(whole->invariants.partial_gang, 0);
  const World small = runner.reduced(world, partial, false);
  EXPECT_LT(small.sets.size(), world.sets.size());
  EXPECT_GT(runner.run(small, false)->invariants.partial_gang, 0);
  EXPECT_EQ(std::ranges::count(small.sets, "cluster.scrape.delay=5s"), 0);
}

}  // namespace
}  // namespace capstan::swarm
