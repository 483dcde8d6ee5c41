#include "operator/snapshot/kept_replicas.h"

#include <algorithm>
#include <utility>

#include "base/sort_unique.h"
#include "operator/snapshot/start_times.h"

namespace capstan::op {

void KeptReplicas::index() {
  std::size_t pods = 0;
  for (const Owner& owner : owners_) {
    for (const Replica& replica : owner.replicas) pods += replica.group.pods.size();
  }
  places_.clear();
  places_.reserve(pods);
  for (std::uint32_t o = 0; o < owners_.size(); ++o) {
    for (std::uint32_t r = 0; r < owners_[o].replicas.size(); ++r) {
      for (const kube::Pod* pod : owners_[o].replicas[r].group.pods) places_.emplace(pod, Place{o, r});
    }
  }
}

std::vector<KeptReplicas::Place> KeptReplicas::replace(const std::vector<PodChange>& changes) {
  std::vector<Place> touched;
  for (const PodChange& change : changes) {
    const auto [begin, end] = places_.equal_range(change.before);
    std::vector<Place> places;
    for (auto at = begin; at != end; ++at) places.push_back(at->second);
    places_.erase(begin, end);
    for (const Place place : places) {
      std::ranges::replace(at(place).group.pods, change.before, change.after);
      places_.emplace(change.after, place);
      touched.push_back(place);
    }
  }
  sort_unique(touched);
  return touched;
}

void read_status(KeptReplicas::Replica& replica, bool has_service) {
  const PodGroup& group = replica.group;
  const model::Gang::Phase phase = phase_of(group);
  const bool draining = phase == model::Gang::Phase::draining;
  replica.is_starting = phase == model::Gang::Phase::starting;
  replica.start = start_of(group);
  replica.drains_first =
      draining && std::ranges::none_of(group.pods, [](const kube::Pod* pod) { return pod->meta.terminating(); });
  // A draining replica is scraped too, because only its signals show that it has no work left.
  const bool is_scraped = phase == model::Gang::Phase::ready || (draining && !group.pods.front()->meta.terminating());
  replica.serves = has_service && replica.gang.valid() && is_scraped;
}

}  // namespace capstan::op
