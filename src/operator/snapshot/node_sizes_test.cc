#include "operator/snapshot/node_sizes.h"

#include <gtest/gtest.h>

namespace capstan::op {
namespace {

kube::Node node(std::int64_t cpus, std::int64_t gpus) {
  kube::Node node;
  node.meta.labels.set("node.kubernetes.io/instance-type", "own");
  node.allocatable.add("cpu", cpus * 1'000);
  node.allocatable.add("memory", cpus * 1'000 * (std::int64_t{1} << 30));
  node.allocatable.add("ephemeral-storage", cpus * 1'000 * (std::int64_t{10} << 30));
  node.allocatable.add("pods", cpus * 2'000);
  node.allocatable.add("nvidia.com/gpu", gpus * 1'000);
  return node;
}

TEST(NodeSizes, TheLargestNodeOfATypeCounts) {
  NodeSizes sizes;
  const FleetPolicy::InstanceType type{.name = "own", .gpu = "H100", .gpus = 8, .price_per_hour = {}};
  EXPECT_EQ(sizes.largest(type), NodeSize{});
  sizes.add(node(16, 8));
  sizes.add(node(15, 8));
  sizes.add(node(64, 4));
  EXPECT_EQ(sizes.largest(type), (NodeSize{16'000, 16'384, 163'840, 32}));
  sizes.remove(node(16, 8));
  EXPECT_EQ(sizes.largest(type), (NodeSize{15'000, 15'360, 153'600, 30}));
  sizes.remove(node(15, 8));
  EXPECT_EQ(sizes.largest(type), NodeSize{}) << "only a machine with other GPUs is left";
}

}  // namespace
}  // namespace capstan::op
