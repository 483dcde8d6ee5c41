#pragma once

#include <cstdint>
#include <iterator>
#include <vector>

#include "base/quantity.h"
#include "model/topology.h"

// The large cluster of `scripts/bench decide`. A layout has the facts that the snapshot and the Kubernetes objects
// of the cluster have in common.
namespace capstan::bench {

/// The cluster consists of equal units. One hundred units are 12,500 nodes with 100,000 GPUs, 90,000 bound pods, and
/// 10,000 pending pods in 1,000 gangs.
inline constexpr std::uint32_t kNodesOfAUnit = 125;
inline constexpr std::uint32_t kBoundPodsOfAUnit = 900;
inline constexpr std::uint32_t kPendingPodsOfAUnit = 100;
inline constexpr std::uint32_t kPendingGangsOfAUnit = 10;
inline constexpr std::uint32_t kGpusOfANode = 8;

/// A zone holds a fifth of the nodes, a rack 25 nodes, and an NVLink block 5 nodes.
inline constexpr std::uint32_t kZones = 5;
inline constexpr std::uint32_t kNodesOfABlock = 5;
inline constexpr std::uint32_t kNodesOfARack = 25;

/// The blocks have ten node classes in turn. The pods of class c may run on nodes of the classes c and c + 1 (modulo
/// ten), which are 20 % of the nodes if the number of units is even. Each rack has nodes of five classes.
inline constexpr std::uint32_t kClasses = 10;

/// The pods of a gang: their number, the GPUs of each, and the level of the domain that they share.
struct Shape {
  std::uint32_t pods = 1;
  MilliGpu gpus_per_pod;
  model::TopologyLevel required_level = model::TopologyLevel::node;
};
inline constexpr Shape kShapes[] = {
    {1, whole_gpus(1), model::TopologyLevel::node},  {1, whole_gpus(8), model::TopologyLevel::node},
    {2, whole_gpus(2), model::TopologyLevel::node},  {4, whole_gpus(1), model::TopologyLevel::nvlink},
    {4, whole_gpus(2), model::TopologyLevel::node},  {8, whole_gpus(1), model::TopologyLevel::nvlink},
    {8, whole_gpus(2), model::TopologyLevel::rack},  {16, whole_gpus(1), model::TopologyLevel::rack},
    {24, whole_gpus(1), model::TopologyLevel::zone}, {32, whole_gpus(1), model::TopologyLevel::cluster},
    {2, whole_gpus(4), model::TopologyLevel::node},  {4, MilliGpu{500}, model::TopologyLevel::node},
};
inline constexpr std::uint32_t kShapeCount = std::size(kShapes);

/// Returns the service of a shape and a class of pods. Each pair has its own service.
constexpr std::uint32_t service_of(std::uint32_t shape, std::uint32_t pod_class) {
  return shape * kClasses + pod_class;
}
inline constexpr std::uint32_t kServices = kShapeCount * kClasses;
constexpr const Shape& shape_of(std::uint32_t service) { return kShapes[service / kClasses]; }

struct Gang {
  std::uint32_t service = 0;
  std::uint32_t ordinal = 0;         ///< number of the gang within its service
  std::vector<std::uint32_t> nodes;  ///< node of each pod; empty: the gang is pending
};

struct Layout {
  std::uint32_t nodes = 0;
  std::vector<Gang> gangs;  ///< bound gangs, then pending ones
};

/// Returns the same layout for the same number of units on every machine.
Layout make_layout(std::uint32_t units);

constexpr std::uint32_t block_of(std::uint32_t node) { return node / kNodesOfABlock; }
constexpr std::uint32_t rack_of(std::uint32_t node) { return node / kNodesOfARack; }
constexpr std::uint32_t zone_of(std::uint32_t node, std::uint32_t nodes) { return node / (nodes / kZones); }
constexpr std::uint32_t class_of_node(std::uint32_t node) { return block_of(node) % kClasses; }
constexpr bool may_run_on(std::uint32_t pod_class, std::uint32_t node_class) {
  return node_class == pod_class || node_class == (pod_class + 1) % kClasses;
}

}  // namespace capstan::bench
