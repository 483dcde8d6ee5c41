#include "sim/fleet/router.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace capstan::sim {
namespace {

Router router_of_kind(RouterKind kind, std::uint32_t replicas) {
  Router router(RouterConfig{.kind = kind});
  for (std::uint32_t i = 0; i < replicas; ++i) router.join(i);
  return router;
}

TEST(Router, RoundRobinTakesTurnsAndSkipsFullReplicas) {
  Router router = router_of_kind(RouterKind::round_robin, 130);
  for (std::uint32_t i = 0; i < 130; ++i) EXPECT_EQ(router.pick({}), i);
  EXPECT_EQ(router.pick({}), 0u);
  for (std::uint32_t i = 1; i < 129; ++i) router.update(i, 5, false);
  EXPECT_EQ(router.pick({}), 129u);
  EXPECT_EQ(router.pick({}), 0u);
  EXPECT_EQ(router.pick({}), 129u);
}

TEST(Router, LeastLoadedPrefersTheLowestNumberAmongEquals) {
  Router router = router_of_kind(RouterKind::least_loaded, 3);
  EXPECT_EQ(router.pick({}), 0u);
  router.update(0, 2, true);
  router.update(1, 1, true);
  router.update(2, 1, true);
  EXPECT_EQ(router.pick({}), 1u);
}

TEST(Router, PicksNoneWhenNoReplicaCanTakeARequest) {
  Router router = router_of_kind(RouterKind::least_loaded, 2);
  router.update(0, 1, false);
  EXPECT_TRUE(router.has_able_replica());
  router.leave(1);
  EXPECT_FALSE(router.has_able_replica());
  EXPECT_EQ(router.pick({}), Router::kNone);
}

TEST(Router, PrefixAffinePicksTheReplicaWithTheLongestPrefix) {
  Router router = router_of_kind(RouterKind::prefix_affine, 3);
  const std::uint64_t first[] = {1, 2, 3};
  const std::uint64_t second[] = {1, 7};
  const std::uint64_t longer[] = {1, 2, 3, 4, 5};
  router.note(first, 2);
  router.note(second, 1);
  EXPECT_EQ(router.pick(longer), 2u);
  EXPECT_EQ(router.pick(second), 1u);
  const std::uint64_t unknown[] = {9};
  EXPECT_EQ(router.pick(unknown), 0u);
}

TEST(Router, PrefixAffineIgnoresAReplicaThatIsTooLoadedFullOrRemoved) {
  const std::uint64_t prefix[] = {1, 2, 3};
  Router router = router_of_kind(RouterKind::prefix_affine, 3);
  router.note(prefix, 2);
  router.update(2, 32, true);
  EXPECT_EQ(router.pick(prefix), 2u);
  router.update(2, 33, true);
  EXPECT_EQ(router.pick(prefix), 0u);
  router.update(2, 1, false);
  EXPECT_EQ(router.pick(prefix), 0u);
  router.leave(2);
  router.join(2);  // another replica with the same number
  router.update(0, 1, true);
  router.update(1, 1, true);
  router.update(2, 2, true);
  EXPECT_EQ(router.pick(prefix), 0u);
}

TEST(AffinityIndex, IsBounded) {
  AffinityIndex index(64);
  for (std::uint64_t hash = 0; hash < 10'000; ++hash) index.note(hash, {.replica = 1, .serial = 1});
  int known = 0;
  for (std::uint64_t hash = 0; hash < 10'000; ++hash) known += index.find(hash).known() ? 1 : 0;
  EXPECT_LE(known, 64);
  EXPECT_TRUE(index.find(9'999).known());
}

/// The expected replica comes from a scan over all replicas.
RC_GTEST_PROP(Router, LeastLoadedEqualsALinearScan, ()) {
  Router router(RouterConfig{.kind = RouterKind::least_loaded});
  struct Replica {
    RequestCount load = 0;
    bool able = true;
  };
  std::map<std::uint32_t, Replica> oracle;
  const int steps = *rc::gen::inRange(0, 200);
  for (int i = 0; i < steps; ++i) {
    const auto number = *rc::gen::inRange<std::uint32_t>(0, 40);
    const auto entry = oracle.find(number);
    if (entry == oracle.end()) {
      router.join(number);
      oracle[number] = {};
    } else if (*rc::gen::inRange(0, 8) == 0) {
      router.leave(number);
      oracle.erase(entry);
    } else {
      entry->second = {*rc::gen::inRange<RequestCount>(0, 6), *rc::gen::inRange(0, 4) != 0};
      router.update(number, entry->second.load, entry->second.able);
    }
    std::uint32_t expected = Router::kNone;
    for (const auto& [n, replica] : oracle) {
      if (replica.able && (expected == Router::kNone || replica.load < oracle[expected].load)) expected = n;
    }
    RC_ASSERT(router.pick({}) == expected);
    RC_ASSERT(router.has_able_replica() == (expected != Router::kNone));
  }
}

RC_GTEST_PROP(Router, RoundRobinIsFairAmongAbleReplicas, ()) {
  const auto replicas = *rc::gen::inRange<std::uint32_t>(1, 200);
  Router router = router_of_kind(RouterKind::round_robin, replicas);
  std::map<std::uint32_t, int> picks;
  for (std::uint32_t i = 0; i < replicas; ++i) {
    if (i == 0 || *rc::gen::inRange(0, 2) == 0) {
      picks[i] = 0;
    } else {
      router.update(i, 0, false);
    }
  }
  for (std::size_t i = 0; i < 3 * picks.size(); ++i) ++picks.at(router.pick({}));
  for (const auto& [number, count] : picks) RC_ASSERT(count == 3);
}

}  // namespace
}  // namespace capstan::sim
