#include "model/resources.h"

#include <gtest/gtest.h>

namespace capstan::model {
namespace {

TEST(Resources, TheScarcestOneDecidesHowManyPodsFit) {
  const Resources node{.cpu_milli = 8'000, .memory_mib = 4'096, .pod_slots = 110, .extended = {3}};
  const struct {
    const char* teaches;
    Resources pod;
    std::int64_t pods;
  } rows[] = {
      {"the caller's bound", {.pod_slots = 1}, 50},
      {"CPU", {.cpu_milli = 2'001}, 3},
      {"memory", {.cpu_milli = 1, .memory_mib = 2'048}, 2},
      {"storage that the node does not have", {.storage_mib = 1}, 0},
      {"an extended resource", {.extended = {1}}, 3},
      {"one of which the node has no amount", {.extended = {0, 1}}, 0},
      {"an amount of 0 bounds nothing", {.extended = {0, 0}}, 50},
  };
  for (const auto& row : rows) EXPECT_EQ(times_in(row.pod, node, 50), row.pods) << row.teaches;
}

TEST(Resources, TakingLeavesTheRest) {
  Resources node{.cpu_milli = 8'000, .extended = {3}};
  take_from(node, {.cpu_milli = 1'000, .extended = {1, 2}});
  EXPECT_EQ(node, (Resources{.cpu_milli = 7'000, .extended = {2, -2}}));
}

TEST(Resources, ASumStopsAtNoLimit) {
  Resources sum{.cpu_milli = 1'000, .memory_mib = kUnlimited, .extended = {1}};
  add_to(sum, {.cpu_milli = 500, .memory_mib = kUnlimited, .extended = {1, 2}});
  EXPECT_EQ(sum, (Resources{.cpu_milli = 1'500, .memory_mib = kUnlimited, .extended = {2, 2}}));
}

}  // namespace
}  // namespace capstan::model
