#include "decide/scale/spread.h"

#include <algorithm>
#include <numeric>

#include "decide/fleet_nouns.h"

namespace capstan::decide::scale {
namespace {

/// Returns the replicas in the fullest domain after removals from the fullest ones have left `keep` replicas.
ReplicaCount fullest_of(const std::vector<ReplicaCount>& held, ReplicaCount keep) {
  // The search finds the smallest count to which all domains can be cut while `keep` replicas remain.
  const ReplicaCount all = std::accumulate(held.begin(), held.end(), ReplicaCount{0});
  ReplicaCount low = 0, high = held.empty() ? 0 : held.front();
  while (low < high) {
    const ReplicaCount level = (low + high) / 2;
    ReplicaCount above = 0;
    for (const ReplicaCount count : held) above += std::max<ReplicaCount>(count - level, 0);
    if (above <= all - keep) {
      high = level;
    } else {
      low = level + 1;
    }
  }
  return low;
}

ReplicaCount fullest_now(const Spread& spread) { return spread.held.empty() ? 0 : spread.held.front(); }

/// Returns how many replicas the fullest domain has after the fleet has changed from `placed` to `replicas` replicas.
/// Removals come from the fullest domains, and additions go to the other domains.
ReplicaCount fullest_at(const Spread& spread, ReplicaCount placed, ReplicaCount replicas) {
  if (replicas < placed) return fullest_of(spread.held, replicas);
  return std::max(fullest_now(spread), even_share(replicas, spread.domains));
}

}  // namespace

SpreadSizing size_for_loss(const Spread& spread, ReplicaCount need) {
  SpreadSizing s{.level = spread.level,
                 .need = need,
                 .domains = spread.domains,
                 .fullest = fullest_now(spread),
                 .placed = std::accumulate(spread.held.begin(), spread.held.end(), ReplicaCount{0}),
                 .required = need};
  if (!s.possible() || need <= 0) return s;
  const ReplicaCount even = need + even_share(need, spread.domains - 1);
  const auto leaves_need = [&](ReplicaCount n) { return n - fullest_at(spread, s.placed, n) >= need; };
  s.required = even;
  if (!spread.is_enforced) return s;
  // `even` suffices if the replicas are spread evenly. If the fullest domain holds more than its share, more replicas
  // are needed. A larger fleet keeps at least as many replicas after a loss, so the search can bisect.
  ReplicaCount low = even, high = std::max(even, std::min(need + s.fullest, need + even));
  if (!leaves_need(high)) return s;  // the fullest domain has to lose replicas first
  while (low < high) {
    const ReplicaCount middle = (low + high) / 2;
    if (leaves_need(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  s.required = low;
  return s;
}

ReplicaCount survivors(const Spread& spread, ReplicaCount replicas) {
  if (spread.domains < 2 || replicas <= 0) return replicas;
  const ReplicaCount fullest = std::max(fullest_now(spread), even_share(replicas, spread.domains));
  return std::max<ReplicaCount>(replicas - fullest, 1);
}

}  // namespace capstan::decide::scale
