#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "decide/failure_domains.h"
#include "decide/place/place.h"

namespace capstan::decide::place {

/// Spreads the replicas of a service that must survive the loss of a domain (model::Service::survives). Each replica
/// goes to the domain with the fewest of them. Once enough replicas are placed to hold the SLO without one domain's
/// share, the spread is strict: further replicas take no room in a domain that has its even share, as with a topology
/// spread constraint of maxSkew 1 and DoNotSchedule. Before that they may take any room.
class Apart {
 public:
  Apart(const model::Snapshot& snapshot, const Index& index, const Memory& memory);

  struct Where {
    TopologyLevel level = TopologyLevel::zone;
    std::map<FailureDomain, ReplicaCount> held;     ///< replicas by domain
    ReplicaCount placed = 0;                        ///< replicas in all domains
    ReplicaCount share = 0;                         ///< replicas of one domain if they are spread evenly
    ReplicaCount enough = 0;                        ///< replicas that hold the SLO without one share
    bool firm() const { return placed >= enough; }  ///< returns true if no domain may have more than its share
    void add(FailureDomain domain);
    /// Returns the steps of a search, ascending: each step allows the domains that hold at most so many replicas.
    std::vector<ReplicaCount> steps() const;
    /// Returns the domains that hold more than `most`.
    std::set<FailureDomain> above(ReplicaCount most) const;
  };
  /// Returns the replicas by domain, also replicas placed in this cycle. Null if the service need not survive a loss or
  /// there is only one domain.
  const Where* of(ServiceId service);

  void place(ServiceId service, GangId gang, NodeId node);
  /// Sets the preferred zone and the avoided purchases of a replica that has no room.
  void steer(Shortfall& lack);

 private:
  std::optional<Where> look(ServiceId service);
  /// Returns where the first pod of a gang was placed although no snapshot shows it there yet; null if nowhere.
  const NodeId* find_placed(GangId gang);

  const model::Snapshot& snapshot_;
  const Index& index_;
  const Memory& memory_;
  std::optional<std::map<GangId, NodeId>> assumed_;  ///< first pods of assumed gangs; built when a service asks for it
  std::map<GangId, NodeId> placed_;                  ///< first pods of the gangs placed in this cycle
  std::map<ServiceId, std::optional<Where>> where_;  ///< services asked for so far; each costs a pass over its gangs
  std::map<std::pair<ServiceId, FailureDomain>, ReplicaCount> promised_;  ///< replicas with a preferred zone
};

}  // namespace capstan::decide::place
