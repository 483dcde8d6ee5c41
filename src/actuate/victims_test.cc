#include "actuate/victims.h"

#include <gtest/gtest.h>

namespace capstan::actuate {
namespace {

RemovableReplica replica(std::string name, std::optional<std::uint32_t> ordinal = {},
                         std::optional<std::size_t> rank = {}, bool serves = true) {
  return {std::move(name), ordinal, rank, serves};
}

TEST(Victims, PredictsTheRemovedReplicas) {
  struct Row {
    const char* what;
    const char* kind;
    std::vector<RemovableReplica> replicas;
    std::uint32_t first_ordinal;
    ReplicaCount wanted;
    std::vector<std::string> expected;
  };
  const std::vector<RemovableReplica> plain = {replica("a", {}, 1), replica("b"), replica("c", {}, 0)};
  const std::vector<RemovableReplica> numbered = {replica("s-0", 0, 0), replica("s-1", 1, 1), replica("s-10", 10),
                                                  replica("s-2", 2)};
  const Row rows[] = {
      {"the first of the decision's list", "Deployment", plain, 0, 2, {"c"}},
      {"the decision's list, then by name", "Deployment", plain, 0, 0, {"c", "a", "b"}},
      {"no scale-down", "Deployment", plain, 0, 3, {}},
      {"a scale-up", "Deployment", plain, 0, 9, {}},
      {"a replica that does not serve is removed first",
       "Deployment",
       {replica("a", {}, 0), replica("b", {}, {}, false)},
       0,
       1,
       {"b"}},
      {"the highest ordinals, by number and not by name", "StatefulSet", numbered, 0, 2, {"s-10", "s-2"}},
      {"the decision's list does not matter for a LeaderWorkerSet", "LeaderWorkerSet", numbered, 0, 3, {"s-10"}},
      {"the ordinals start at 1", "StatefulSet", numbered, 1, 2, {"s-10"}},
      {"the highest ordinal is missing: no other replica is removed for it",
       "StatefulSet",
       {replica("s-0", 0), replica("s-1", 1)},
       0,
       2,
       {}},
      {"an unknown kind has no predictable victims", "PodCliqueScalingGroup", plain, 0, 0, {}},
  };
  for (const Row& row : rows) {
    std::vector<std::string> names;
    for (const std::size_t i : choose_victims(removal_of(row.kind), row.replicas, row.first_ordinal, row.wanted)) {
      names.push_back(row.replicas[i].name);
    }
    EXPECT_EQ(names, row.expected) << row.what;
  }
}

}  // namespace
}  // namespace capstan::actuate
