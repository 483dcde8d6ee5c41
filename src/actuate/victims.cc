#include "actuate/victims.h"

#include <algorithm>
#include <tuple>

namespace capstan::actuate {
namespace {

/// Returns the victims in the order in which Capstan marks them.
std::vector<std::size_t> marked_victims(std::span<const RemovableReplica> replicas, ReplicaCount wanted) {
  std::vector<std::size_t> order(replicas.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) {
    const RemovableReplica& r = replicas[i];
    return std::tuple(r.serves, r.rank.value_or(replicas.size()), std::string_view(r.name), i);
  });
  const auto remaining = static_cast<std::size_t>(std::max<ReplicaCount>(0, wanted));
  order.resize(order.size() - std::min(order.size(), remaining));
  return order;
}

std::vector<std::size_t> highest_ordinals(std::span<const RemovableReplica> replicas, std::int64_t end) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    if (replicas[i].ordinal && *replicas[i].ordinal >= end) order.push_back(i);
  }
  std::ranges::sort(order, std::greater(), [&](std::size_t i) { return *replicas[i].ordinal; });
  return order;
}

}  // namespace

Removal removal_of(std::string_view kind) {
  if (kind == "Deployment" || kind == "ReplicaSet") return Removal::marked;
  return kind == "StatefulSet" || kind == "LeaderWorkerSet" ? Removal::highest : Removal::unknown;
}

std::vector<std::size_t> choose_victims(Removal removal, std::span<const RemovableReplica> replicas,
                                        std::uint32_t first_ordinal, ReplicaCount wanted) {
  if (removal == Removal::marked) return marked_victims(replicas, wanted);
  if (removal == Removal::highest) return highest_ordinals(replicas, first_ordinal + wanted);
  return {};
}

}  // namespace capstan::actuate
