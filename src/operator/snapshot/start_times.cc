#include "operator/snapshot/start_times.h"

#include <algorithm>

#include "base/assert.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {
namespace {

/// Longest time that counts as a start. If a pod became ready later than this, it had probably been ready before.
constexpr Duration kLongestStart = std::chrono::hours(1);

/// Returns the time at which the last pod of a replica was bound to its node. For a pod without this time, its creation
/// counts.
Instant bound_at(const PodGroup& replica) {
  Instant last{};
  for (const kube::Pod* pod : replica.pods) {
    const kube::Condition* bound = kube::find_condition(pod->conditions, "PodScheduled");
    const bool is_stated = bound != nullptr && bound->is_true && bound->since.is_set();
    last = std::max(last, instant_of(is_stated ? bound->since : pod->meta.created_at));
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

void StartTimes::add(Duration start) { starts_.insert(std::ranges::lower_bound(starts_, start), start); }

void StartTimes::remove(Duration start) {
  const auto found = std::ranges::lower_bound(starts_, start);
  CAPSTAN_ASSERT(found != starts_.end() && *found == start);
  starts_.erase(found);
}

std::optional<Duration> StartTimes::typical() const {
  return starts_.empty() ? std::nullopt : std::optional(starts_[starts_.size() * 3 / 4]);
}

Instant StartTimes::expected_ready_at(const PodGroup& replica) const {
  const std::optional<Duration> typical = this->typical();
  return typical ? bound_at(replica) + *typical : Instant::never();
}

}  // namespace capstan::op
