#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "kube/pod_view.h"
#include "model/ids.h"
#include "operator/snapshot/view_changes.h"
#include "operator/view/pod_groups.h"

namespace capstan::op {

/// The replicas of the last look, by service. If only the status of pods has changed since, the next look updates these
/// instead of grouping all pods again.
class KeptReplicas {
 public:
  struct Replica {
    PodGroup group;
    model::GangId gang;               ///< gang of the replica; none: the replica has no row
    std::optional<Duration> start{};  ///< time from its node to its first request
    bool is_starting = false;
    bool drains_first = false;  ///< Capstan took it out of the router, and its workload still asks for it
    bool serves = false;        ///< its first pod is scraped
  };
  /// The replicas of one service, or gangs without a service.
  struct Owner {
    model::ServiceId service;
    std::vector<Replica> replicas;
  };
  struct Place {
    std::uint32_t owner = 0;
    std::uint32_t replica = 0;
    friend auto operator<=>(const Place&, const Place&) = default;
  };

  void add(Owner owner) { owners_.push_back(std::move(owner)); }
  /// Finds the places of all pods. Called after every owner was added.
  void index();
  /// Replaces pods by their new versions.
  /// @return the replicas that contain them, ascending and without duplicates
  std::vector<Place> replace(const std::vector<PodChange>& changes);

  const std::vector<Owner>& owners() const { return owners_; }
  Replica& at(Place place) { return owners_[place.owner].replicas[place.replica]; }

 private:
  std::vector<Owner> owners_;
  std::unordered_multimap<const kube::Pod*, Place> places_;  // two services may select the same pod
};

/// Sets the fields of a replica that follow from the status of its pods and are not in its row.
void read_status(KeptReplicas::Replica& replica, bool has_service);

}  // namespace capstan::op
