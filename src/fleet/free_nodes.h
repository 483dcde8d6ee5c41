#pragma once

#include <algorithm>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "base/quantity.h"
#include "fleet/free_gpus.h"
#include "model/ids.h"
#include "model/resources.h"

namespace capstan::fleet {

/// Amounts that the open nodes of a group have left. Resources other than GPUs are rounded down. Otherwise small
/// differences of free CPU, which seldom limit pods that ask for GPUs, would put nearly every node into a group of its
/// own. If the rounded amounts suffice for as many pods as the GPUs allow, all nodes of the group take the same number
/// of pods.
struct NodeSpace {
  FreeGpus free;
  MilliGpu gpus{};                                        ///< allocatable GPUs
  std::optional<model::Resources> others_rounded_down{};  ///< as NodeRoom::available, rounded down
  friend bool operator==(const NodeSpace&, const NodeSpace&) = default;

  /// Orders by free GPUs. The order of the other amounts has no meaning.
  friend std::strong_ordering operator<=>(const NodeSpace& a, const NodeSpace& b) {
    if (const auto order = a.free <=> b.free; order != 0) return order;
    if (const auto order = a.gpus <=> b.gpus; order != 0) return order;
    if (const auto order = a.others_rounded_down.has_value() <=> b.others_rounded_down.has_value(); order != 0)
      return order;
    return a.others_rounded_down ? compare(*a.others_rounded_down, *b.others_rounded_down)
                                 : std::strong_ordering::equal;
  }

 private:
  static std::strong_ordering compare(const model::Resources& a, const model::Resources& b) {
    if (const auto order = a.cpu_milli <=> b.cpu_milli; order != 0) return order;
    if (const auto order = a.memory_mib <=> b.memory_mib; order != 0) return order;
    if (const auto order = a.storage_mib <=> b.storage_mib; order != 0) return order;
    if (const auto order = a.pod_slots <=> b.pod_slots; order != 0) return order;
    return a.extended <=> b.extended;
  }
};

/// Returns an amount with only its three highest bits, so that it loses less than a quarter. A negative amount becomes
/// 0.
constexpr std::int64_t rounded_down(std::int64_t amount) {
  if (amount <= 0) return 0;
  const int low_bits = std::max(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(amount))) - 3, 0);
  return amount >> low_bits << low_bits;
}

inline model::Resources rounded_down(model::Resources amounts) {
  for (std::int64_t* amount : {&amounts.cpu_milli, &amounts.memory_mib, &amounts.storage_mib, &amounts.pod_slots}) {
    *amount = rounded_down(*amount);
  }
  for (std::int64_t& amount : amounts.extended) amount = rounded_down(amount);
  return amounts;
}

/// A set of nodes, grouped by node class and by what they have left, so that places are counted without a visit to most
/// nodes.
class FreeNodes {
 public:
  /// Groups of nodes, those with the fewest free GPUs first.
  using BySpace = std::map<NodeSpace, std::set<model::NodeId>>;

  const std::map<model::NodeClassId, BySpace>& by_class() const { return by_class_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  void insert(model::NodeClassId node_class, const NodeSpace& space, model::NodeId node) {
    by_class_[node_class][space].insert(node);
    ++size_;
  }

  /// Erases a node that is in the set.
  void erase(model::NodeClassId node_class, const NodeSpace& space, model::NodeId node) {
    const auto groups = by_class_.find(node_class);
    const auto group = groups->second.find(space);
    group->second.erase(node);
    if (group->second.empty()) groups->second.erase(group);
    if (groups->second.empty()) by_class_.erase(groups);
    --size_;
  }

  friend bool operator==(const FreeNodes&, const FreeNodes&) = default;

 private:
  std::map<model::NodeClassId, BySpace> by_class_;
  std::size_t size_ = 0;
};

}  // namespace capstan::fleet
