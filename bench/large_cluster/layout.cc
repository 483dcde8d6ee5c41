#include "large_cluster/layout.h"

#include <array>
#include <utility>

#include "base/random.h"

namespace capstan::bench {
namespace {

/// The pods on a node. The names are pods x GPUs per pod.
enum class PodMix : std::uint8_t {
  eight_of_1,
  sixteen_of_half,
  four_of_2,
  two_of_4,
  one_of_8,
  five_of_1,
  four_of_1,
  none
};

/// The number of nodes with each mix of pods in one unit of the cluster. The 125 nodes of a unit have 1,000 GPUs and
/// run 900 pods. 86 GPUs are free: three or four on each of twenty nodes, and eight on each of two nodes.
constexpr std::pair<PodMix, std::uint32_t> kMixes[] = {
    {PodMix::eight_of_1, 61}, {PodMix::sixteen_of_half, 16}, {PodMix::four_of_2, 10}, {PodMix::two_of_4, 10},
    {PodMix::one_of_8, 6},    {PodMix::five_of_1, 10},       {PodMix::four_of_1, 10}, {PodMix::none, 2},
};

/// Returns the mixes of the nodes of a unit in random order.
std::array<PodMix, kNodesOfAUnit> random_mixes(RandomStream& random) {
  std::array<PodMix, kNodesOfAUnit> mixes{};
  std::size_t at = 0;
  for (const auto& [mix, nodes] : kMixes) {
    for (std::uint32_t i = 0; i < nodes; ++i) mixes.at(at++) = mix;
  }
  for (std::size_t i = mixes.size() - 1; i > 0; --i) std::swap(mixes[i], mixes[random.below(i + 1)]);
  return mixes;
}

class Builder {
 public:
  explicit Builder(std::uint32_t units) : random_(1, "large cluster") { layout_.nodes = units * kNodesOfAUnit; }

  Layout build() {
    for (std::uint32_t first = 0; first < layout_.nodes; first += kNodesOfAUnit) {
      const auto mixes = random_mixes(random_);
      for (std::uint32_t i = 0; i < kNodesOfAUnit; ++i) bind(first + i, mixes[i]);
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
  void bind(std::uint32_t node, PodMix mix) {
    switch (mix) {
      case PodMix::eight_of_1:
        return bind_eight(node);
      case PodMix::sixteen_of_half:
        for (int i = 0; i < 4; ++i) bind_gang(11, node);
        return;
      case PodMix::four_of_2:
        return bind_gang(4, node);
      case PodMix::two_of_4:
        return bind_gang(10, node);
      case PodMix::one_of_8:
        return bind_gang(1, node);
      case PodMix::five_of_1:
        bind_gang(3, node);
        return bind_gang(0, node);
      case PodMix::four_of_1:
        return bind_gang(3, node);
      case PodMix::none:
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
