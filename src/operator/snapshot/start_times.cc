#include "operator/snapshot/start_times.h"

#include <algorithm>

#include "operator/view/cluster_view.h"

namespace capstan::op {
namespace {

/// Longest time that counts as a start. If a pod became ready later than this, it had probably been ready before.
constexpr Duration kLongestStart = std::chrono::hours(1);

/// Returns the time at which the last pod of a replica was bound to its node.
Instant bound_at(const PodGroup& replica) {
  Instant last{};
  for (const kube::Pod* pod : replica.pods) {
    const kube::Condition* bound = kube::find_condition(pod->conditions, "PodScheduled");
    const bool told = bound != nullptr && bound->is_true && bound->since.is_set();
    last = std::max(last, instant_of(told ? bound->since : pod->meta.created_at));
  }
  return last;
}

}  // namespace

std::optional<Duration> start_of(const PodGroup& replica) {
  const kube::Condition* ready = kube::find_condition(replica.pods.front()->conditions, "Ready");
  if (ready == nullptr || !ready->is_true || !ready->since.is_set()) return std::nullopt;
  const Duration took = instant_of(ready->since) - bound_at(replica);
  return took >= Duration{} && took <= kLongestStart ? std::optional(took) : std::nullopt;
}

StartTimes::StartTimes(std::vector<Duration> starts) {
  if (starts.empty()) return;
  const auto at = starts.begin() + static_cast<std::ptrdiff_t>(starts.size() * 3 / 4);
  std::ranges::nth_element(starts, at);
  typical_ = *at;
}

Instant StartTimes::expected_ready_at(const PodGroup& replica) const {
  return typical_ ? bound_at(replica) + *typical_ : Instant::never();
}

}  // namespace capstan::op
