#include "operator/snapshot/node_resources.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace capstan::op {
namespace {

constexpr std::int64_t kGib = 1'000LL << 30;  // milli-bytes

kube::PodSpec pod(std::vector<std::pair<std::string, std::int64_t>> milli) {
  kube::PodSpec spec;
  for (const auto& [name, amount] : milli) spec.requests.add(name, amount);
  return spec;
}

TEST(NodeResources, RequestsAreRoundedUpAndGpusLeftOut) {
  ExtendedResources extended;
  extended.position("hugepages-2Mi");
  const model::Resources out = requests_of(
      pod({{"cpu", 250}, {"memory", 2 * kGib + 1}, {"nvidia.com/gpu", 8'000}, {"example.com/fpga", 1'000}}), extended);
  EXPECT_EQ(out, (model::Resources{
                     .cpu_milli = 250, .memory_mib = 2'049, .storage_mib = 0, .pod_slots = 1, .extended = {0, 1}}));
  EXPECT_EQ(extended.names(), (std::vector<std::string>{"hugepages-2Mi", "example.com/fpga"}));
}

TEST(NodeResources, FreeResourcesAreRoundedDownAndNeverNegative) {
  kube::Node node;
  node.meta.name = "n";
  for (const auto& [name, amount] : {std::pair{"cpu", 8'000L}, {"memory", 2 * kGib}, {"pods", 110'000L}}) {
    node.allocatable.add(name, amount);
  }
  NodeUse use;
  const kube::PodSpec large = pod({{"cpu", 9'000}, {"memory", 1}});
  const kube::PodSpec elsewhere = pod({{"memory", kGib}});
  use.add("n", {0}, large);
  use.add("other", {1}, elsewhere);
  EXPECT_EQ(use.left_on(node, {}),
            (model::Resources{.cpu_milli = 0, .memory_mib = 2'047, .storage_mib = 0, .pod_slots = 109}));
  EXPECT_EQ(use.pods_on("n"), std::vector<kube::RowId>{{0}});
  use.remove("n", {0});
  EXPECT_TRUE(use.pods_on("n").empty());
  EXPECT_EQ(use.left_on(node, {}),
            (model::Resources{.cpu_milli = 8'000, .memory_mib = 2'048, .storage_mib = 0, .pod_slots = 110}));
}

TEST(NodeResources, AmountsBeyondAnyNodeDoNotOverflow) {
  ExtendedResources extended;
  const model::Resources huge = requests_of(pod({{"cpu", INT64_MAX}, {"memory", INT64_MAX}}), extended);
  model::Resources left{.cpu_milli = 0, .memory_mib = 0};
  for (int i = 0; i < 8; ++i) model::take_from(left, huge);
  EXPECT_LT(left.cpu_milli, 0);
  EXPECT_EQ(model::times_in(huge, left, 5), 0);
}

}  // namespace
}  // namespace capstan::op
