#include "actuate/victims.h"

#include <gtest/gtest.h>

namespace capstan::actuate {
namespace {

Removable replica(std::string name, std::optional<std::uint32_t> ordinal = {}, std::optional<std::size_t> rank = {},
                  bool serves = true) {
  return {std::move(name), ordinal, rank, serves};
}

TEST(Victims, WhoLeaves) {
  struct Row {
    const char* what;
    const char* kind;
    std::vector<Removable> replicas;
    std::uint32_t first_ordinal;
    ReplicaCount wanted;
    std::vector<std::string> expected;
  };
  const std::vector<Removable> plain = {replica("a", {}, 1), replica("b"), replica("c", {}, 0)};
  const std::vector<Removable> numbered = {replica("s-0", 0, 0), replica("s-1", 1, 1), replica("s-10", 10),
                                           replica("s-2", 2)};
  const Row rows[] = {
      {"the decision's first", "Deployment", plain, 0, 2, {"c"}},
      {"then its second, then by name", "Deployment", plain, 0, 0, {"c", "a", "b"}},
      {"none too many", "Deployment", plain, 0, 3, {}},
      {"more are wanted than there are", "Deployment", plain, 0, 9, {}},
      {"one that does not serve goes first",
       "Deployment",
       {replica("a", {}, 0), replica("b", {}, {}, false)},
       0,
       1,
       {"b"}},
      {"the highest, by number and not by name", "StatefulSet", numbered, 0, 2, {"s-10", "s-2"}},
      {"whatever the decision would like", "LeaderWorkerSet", numbered, 0, 3, {"s-10"}},
      {"its numbers begin at 1", "StatefulSet", numbered, 1, 2, {"s-10"}},
      {"the highest is missing: nobody else goes for it",
       "StatefulSet",
       {replica("s-0", 0), replica("s-1", 1)},
       0,
       2,
       {}},
      {"its own choice is not known", "PodCliqueScalingGroup", plain, 0, 0, {}},
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
