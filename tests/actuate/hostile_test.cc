// Runs effects against a server with random faults. Every token must get one outcome, which must be correct. No gang
// may stay partially bound. No target may get a number of replicas that was never desired. No group of claims may stay
// incomplete.
#include <gtest/gtest.h>

#include "actuate/bench.h"
#include "actuate/claims.h"
#include "actuate/evict.h"
#include "actuate/gang_bind.h"
#include "actuate/scale_to.h"
#include "kube/pod_view.h"

namespace capstan::actuate::testing {
namespace {

using namespace std::chrono_literals;

/// A server with faults of all kinds. The permit to write changes at random, unless `halts` is false.
struct Storm {
  explicit Storm(std::uint64_t seed) : bench(seed), random(seed, "storm") {
    const auto ppm = static_cast<std::uint32_t>(random.below(300'000));
    bench.server.faults = kube::fake::Faults::all(ppm);
    bench.server.faults.delay_max = Duration(random.between(0, Duration(2s).count()));
  }
  /// Advances the time by `duration` with faults. `on_step` is called about once a second.
  void run_with_faults(Duration duration, const std::function<void()>& on_step) {
    bench.run(duration, [&] {
      if (random.below(10) != 0) return;
      if (halts && random.below(8) == 0) {
        bench.permit = bench.permit == Permit::all ? Permit::finish : Permit::all;
      }
      on_step();
    });
  }
  void end_faults() {
    bench.server.faults = {};
    bench.permit = Permit::all;
  }

  Bench bench;
  RandomStream random;
  bool halts = true;
};

/// Returns the first word of the only outcome of a token.
std::string kind(const Storm& storm, std::uint32_t token) {
  const auto found = storm.bench.outcomes.find(token);
  if (found == storm.bench.outcomes.end()) return "none";
  return found->second.size() == 1 ? found->second[0].substr(0, found->second[0].find(' ')) : "several";
}

TEST(Hostile, ATargetHasOnlyDesiredNumbersOfReplicas) {
  std::map<std::string, int> kinds;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Storm storm(seed);
    Bench& bench = storm.bench;
    bench.server.put(kDeployments, "ml", "vllm", {{"kind", "Deployment"}, {"spec", {{"replicas", 4}}}});
    auto goal = std::make_shared<ScaleGoal>();
    goal->target = bench.ref(kube::resources::kDeployments, "vllm");
    goal->means = {DrainMeans::Kind::readiness_gate, {}};
    goal->can_mark = true;
    goal->drain_limit = 60s;
    std::vector<Ref> pods;
    for (int i = 0; i < 4; ++i) {
      bench.add_pod("p" + std::to_string(i));
      pods.push_back(bench.ref(kube::resources::kPods, "p" + std::to_string(i)));
    }
    std::set<std::int64_t> allowed = {4};
    std::uint32_t token = 0;
    const auto decide = [&] {
      goal->requested_before = bench.object(kDeployments, "vllm")["spec"]["replicas"];
      goal->desired = storm.random.between(1, 6);
      allowed.insert(goal->desired);
      goal->victims.clear();
      for (ReplicaCount i = goal->desired; i < std::min<ReplicaCount>(goal->requested_before, 4); ++i) {
        goal->victims.push_back(pods[static_cast<std::size_t>(i)]);
      }
      goal->revision += 1;
      if (!bench.runner->take_over("scale", model::ActionToken{++token})) {
        bench.submit("scale", token, std::make_unique<ScaleTo>(goal, [] { return kube::WallTime{1}; }));
      }
    };
    decide();
    storm.run_with_faults(200s, [&] {
      for (const Ref& pod : pods) {
        goal->loads[pod.uid] = {storm.random.below(4) != 0, storm.random.between(0, 2), bench.server.now()};
      }
      if (storm.random.below(25) == 0) decide();
      if (storm.random.below(60) == 0) {  // another client scales
        const std::int64_t foreign = storm.random.between(1, 6);
        allowed.insert(foreign);
        bench.server.put(kDeployments, "ml", "vllm", {{"spec", {{"replicas", foreign}}}});
      }
    });
    storm.end_faults();
    bench.run(300s);
    EXPECT_EQ(bench.runner->size(), 0u);
    for (const auto& event : bench.server.history()) {
      if (event.collection != kDeployments) continue;
      EXPECT_TRUE(allowed.contains(event.object["spec"]["replicas"].get<std::int64_t>()));
    }
    for (std::uint32_t t = 1; t <= token; ++t) {
      const std::string end = kind(storm, t);
      EXPECT_TRUE(end == "applied" || end == "refused" || end == "unknown") << t << " " << bench.outcome(t);
      kinds[end] += 1;
    }
  }
  EXPECT_GT(kinds["applied"], 20) << "there are too many faults to apply anything";
  EXPECT_GT(kinds["refused"], 20) << "there are too few faults to refuse anything";
}

struct GangStorm : Storm {
  GangStorm(std::uint64_t seed) : Storm(seed), pods(static_cast<int>(2 + random.below(5))) {
    for (int i = 0; i < pods; ++i) bench.add_pod(name(i));
  }
  static std::string name(int i) { return "p" + std::to_string(i); }
  std::unique_ptr<Effect> gang() {
    std::vector<Binding> bindings;
    for (int i = 0; i < pods; ++i) {
      bindings.push_back({bench.ref(kube::resources::kPods, name(i)), bench.pod(name(i))["metadata"]["resourceVersion"],
                          "n" + std::to_string(i)});
    }
    return std::make_unique<GangBind>("t", std::move(bindings));
  }
  std::vector<UnfinishedBind> unfinished() {
    kube::JsonDocument document;
    std::vector<kube::Pod> views;
    for (const auto& [key, object] : bench.server.objects(kPods)) {
      views.push_back(kube::read_pod(document.parse(object.dump()).value()));
    }
    std::vector<const kube::Pod*> all;
    for (const kube::Pod& view : views) all.push_back(&view);
    return unfinished_binds(all);
  }
  /// Starts a new process, which resumes unfinished transactions.
  void restart() {
    bench.restart();
    bench.permit = Permit::all;
    std::uint32_t successor = 1000;
    for (UnfinishedBind& bind : unfinished()) {
      bench.submit("gang", ++successor, std::make_unique<GangBind>(std::move(bind)));
    }
  }
  int bound() {
    int count = 0;
    for (int i = 0; i < pods; ++i) {
      const json pod = bench.pod(name(i));
      if (pod.is_null() || !pod.contains("/spec/nodeName"_json_pointer)) continue;
      EXPECT_EQ(pod["spec"]["nodeName"], "n" + std::to_string(i));
      ++count;
    }
    return count;
  }
  int pods;
};

TEST(Hostile, AGangIsBoundCompletelyOrNotAtAll) {
  int complete = 0;
  int none = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GangStorm storm(seed);
    Bench& bench = storm.bench;
    const bool crashes = seed % 3 == 1;
    const bool deletes = seed % 3 == 2;
    bench.submit("gang", 1, storm.gang());
    storm.run_with_faults(100s, [&] {
      if (crashes && storm.random.below(10) == 0) storm.restart();
      if (deletes && storm.random.below(20) == 0) {
        const std::string victim = GangStorm::name(static_cast<int>(storm.random.below(storm.pods)));
        bench.server.remove(kPods, "ml/" + victim);
        bench.add_pod(victim);
      }
    });
    storm.end_faults();
    storm.restart();
    bench.run(200s);
    EXPECT_EQ(bench.runner->size(), 0u);
    EXPECT_TRUE(storm.unfinished().empty());
    const int bound = storm.bound();
    complete += bound == storm.pods;
    none += bound == 0;
    if (!deletes) {
      EXPECT_TRUE(bound == 0 || bound == storm.pods) << bound << " of " << storm.pods;
    }
    const std::string end = kind(storm, 1);
    EXPECT_NE(end, "several") << bench.outcome(1);
    if (crashes) continue;  // a crashed process reports no outcome
    if (end == "applied" && !deletes) {
      EXPECT_EQ(bound, storm.pods);
    }
    if (end == "refused") {
      EXPECT_EQ(bound, 0);
    }
  }
  EXPECT_GT(complete, 30) << "there are too many faults to apply anything";
  EXPECT_GT(none, 10) << "there are too few faults to refuse anything";
}

TEST(Hostile, AGroupOfClaimsIsCompleteOrGone) {
  int complete = 0;
  int rolled_back = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Storm storm(seed);
    Bench& bench = storm.bench;
    ClaimGroup group;
    group.pool.meta.name = "pool";
    group.name = "g";
    group.count = storm.random.between(1, 6);
    const bool refuses = seed % 2 == 1;
    bench.refuse = [&](const FakeServer::Write& write) {
      return refuses && write.method == "POST" && storm.random.below(6) == 0 ? 422 : 0;
    };
    const auto size = [&] { return std::ssize(bench.server.objects(kNodeClaims)); };
    bench.submit("group", 1, std::make_unique<LaunchGroup>(group));
    storm.run_with_faults(100s, [] {});
    storm.end_faults();
    bench.run(100s);
    EXPECT_EQ(bench.runner->size(), 0u);
    const std::string end = kind(storm, 1);
    EXPECT_TRUE(end == "applied" || end == "refused" || end == "unknown") << bench.outcome(1);
    EXPECT_TRUE(size() == 0 || size() == group.count) << size() << " of " << group.count << " " << bench.outcome(1);
    if (end == "applied") {
      EXPECT_EQ(size(), group.count);
    }
    if (end == "refused") {
      EXPECT_EQ(size(), 0);
    }
    complete += size() == group.count;
    rolled_back += size() == 0;
    // A new leader that repeats the launch gets the same complete group.
    bench.refuse = [](const FakeServer::Write&) { return 0; };
    bench.restart();
    bench.submit("group", 2, std::make_unique<LaunchGroup>(group));
    bench.run(10s);
    EXPECT_EQ(bench.outcome(2), "applied");
    EXPECT_EQ(size(), group.count);
  }
  EXPECT_GT(complete, 20) << "there are too many faults to apply anything";
  EXPECT_GT(rolled_back, 20) << "there are too few faults to refuse anything";
}

TEST(Hostile, TheOutcomeOfAnEvictionIsTrue) {
  std::map<std::string, int> kinds;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Storm storm(seed);
    Bench& bench = storm.bench;
    bench.add_pod("p");
    bench.disruptions_allowed = storm.random.between(0, 1);
    bench.submit("pod", 1, std::make_unique<Evict>(bench.ref(kube::resources::kPods, "p"), RandomStream(seed, "e")));
    storm.run_with_faults(100s, [&] {
      if (storm.random.below(30) == 0) bench.disruptions_allowed = 1;
    });
    storm.end_faults();
    bench.run(100s);
    const std::string end = kind(storm, 1);
    kinds[end] += 1;
    if (end == "applied") {
      EXPECT_TRUE(bench.pod("p").is_null());
    }
    if (end == "refused") {
      EXPECT_FALSE(bench.pod("p").is_null()) << bench.outcome(1);
    }
  }
  EXPECT_EQ(kinds["applied"] + kinds["refused"] + kinds["unknown"], 150);
  EXPECT_GT(kinds["applied"], 20);
  EXPECT_GT(kinds["refused"], 20);
}

}  // namespace
}  // namespace capstan::actuate::testing
