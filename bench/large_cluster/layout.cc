#include "large_cluster/layout.h"

#include <array>
#include <utility>

#include "base/random.h"

namespace capstan::bench {
namespace {

/// The pods on a node. The names are pods x GPUs per pod.
enum class Load : std::uint8_t {
  eight_of_1,
  sixteen_of_half,
  four_of_2,
  two_of_4,
  one_of_8,
  five_of_1,
  four_of_1,
  none
};

/// The number of nodes with each load in one unit of the cluster. The 125 nodes of a unit have 1,000 GPUs and run 900
/// pods. 86 GPUs are free: three or four on each of twenty nodes, and eight on each of two nodes.
constexpr std::pair<Load, std::uint32_t> kLoads[] = {
    {Load::eight_of_1, 61}, {Load::sixteen_of_half, 16}, {Load::four_of_2, 10}, {Load::two_of_4, 10},
    {Load::one_of_8, 6},    {Load::five_of_1, 10},       {Load::four_of_1, 10}, {Load::none, 2},
};

/// Returns the loads of the nodes of a unit in random order.
std::array<Load, kNodesOfAUnit> random_loads(RandomStream& random) {
  std::array<Load, kNodesOfAUnit> loads{};
  std::size_t at = 0;
  for (const auto& [load, nodes] : kLoads) {
    for (std::uint32_t i = 0; i < nodes; ++i) loads.at(at++) = load;
  }
  for (std::size_t i = loads.size() - 1; i > 0; --i) std::swap(loads[i], loads[random.below(i + 1)]);
  return loads;
}

class Builder {
 public:
  explicit Builder(std::uint32_t units) : random_(1, "large cluster") { layout_.nodes = units * kNodesOfAUnit; }

  Layout build() {
    for (std::uint32_t first = 0; first < layout_.nodes; first += kNodesOfAUnit) {
      const auto loads = random_loads(random_);
      for (std::uint32_t i = 0; i < kNodesOfAUnit; ++i) bind(first + i, loads[i]);
    }
    for (std::uint32_t first = 0; first < layout_.nodes; first += kNodesOfAUnit) {
      // 1 + 1 + 2 + 4 + 4 + 8 + 8 + 16 + 24 + 32 = 100 pods.
      for (std::uint32_t shape = 0; shape < kPendingGangsOfAUnit; ++shape) {
        add(shape, static_cast<std::uint32_t>(random_.below(kClasses)), {});
      }
    }
    return std::move(layout_);
  }

 private:
  void bind(std::uint32_t node, Load load) {
    switch (load) {
      case Load::eight_of_1:
        return bind_eight(node);
      case Load::sixteen_of_half:
        for (int i = 0; i < 4; ++i) bind_gang(11, node);
        return;
      case Load::four_of_2:
        return bind_gang(4, node);
      case Load::two_of_4:
        return bind_gang(10, node);
      case Load::one_of_8:
        return bind_gang(1, node);
      case Load::five_of_1:
        bind_gang(3, node);
        return bind_gang(0, node);
      case Load::four_of_1:
        return bind_gang(3, node);
      case Load::none:
        return;
    }
  }

  /// Fills a node with one, two or eight gangs of one-GPU pods.
  void bind_eight(std::uint32_t node) {
    const std::uint64_t drawn = random_.below(8);
    const std::uint32_t shape = drawn == 0 ? 0 : drawn < 4 ? 3 : 5;
    for (std::uint32_t pods = 0; pods < 8; pods += kShapes[shape].pods) bind_gang(shape, node);
  }

  void bind_gang(std::uint32_t shape, std::uint32_t node) {
    const auto below = static_cast<std::uint32_t>(random_.below(2));
    const std::uint32_t pod_class = (class_of_node(node) + kClasses - below) % kClasses;
    add(shape, pod_class, std::vector<std::uint32_t>(kShapes[shape].pods, node));
  }

  void add(std::uint32_t shape, std::uint32_t pod_class, std::vector<std::uint32_t> nodes) {
    const std::uint32_t service = service_of(shape, pod_class);
    layout_.gangs.push_back({service, next_ordinal_[service]++, std::move(nodes)});
  }

  RandomStream random_;
  std::array<std::uint32_t, kServices> next_ordinal_{};
  Layout layout_;
};

}  // namespace

Layout make_layout(std::uint32_t units) { return Builder(units).build(); }

}  // namespace capstan::bench
