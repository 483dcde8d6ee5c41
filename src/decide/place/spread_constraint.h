#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "decide/fleet_nouns.h"
#include "decide/place/place.h"

namespace capstan::decide::place {

/// Spreads the replicas of a service that must survive the loss of a domain (model::Service::survives). Of the domains
/// with room, a replica goes to the one with the fewest replicas. At first no domain is excluded. Once enough replicas
/// are placed to hold the SLO without one domain's share, the spread is strict: no domain takes more than its even
/// share, as with a topology spread constraint of maxSkew 1 and DoNotSchedule.
class SpreadConstraint {
 public:
  SpreadConstraint(const model::Snapshot& snapshot, const Index& index, const Memory& memory);

  struct Distribution {
    TopologyLevel level = TopologyLevel::zone;
    std::map<FailureDomain, ReplicaCount> held;             ///< replicas by domain
    ReplicaCount placed = 0;                                ///< replicas in all domains
    ReplicaCount share = 0;                                 ///< replicas of one domain if they are spread evenly
    ReplicaCount strict_at = 0;                             ///< placed replicas that make the spread strict
    bool is_strict() const { return placed >= strict_at; }  ///< returns true if no domain may have more than its share
    void add(FailureDomain domain);
    /// Returns the limits to try in a search, ascending. With each limit, only domains that hold at most that many
    /// replicas may be used.
    std::vector<ReplicaCount> replica_limits() const;
    /// Returns the domains that hold more than `most`.
    std::set<FailureDomain> domains_above(ReplicaCount most) const;
  };
  /// Returns the number of replicas by domain, including replicas placed in this cycle. Returns null if the service
  /// need not survive a loss or there is only one domain.
  const Distribution* distribution_of(ServiceId service);

  void place(ServiceId service, GangId gang, NodeId node);
  /// Sets the preferred zone and the avoided purchases of a replica that has no room.
  void set_preference(Shortfall& lack);

 private:
  std::optional<Distribution> count(ServiceId service);
  /// Returns the node of the gang's first pod if this cycle placed the gang, or if an earlier one did and no snapshot
  /// shows the binding yet. Otherwise returns null.
  const NodeId* find_placed(GangId gang);

  const model::Snapshot& snapshot_;
  const Index& index_;
  const Memory& memory_;
  std::optional<std::map<GangId, NodeId>> assumed_;  ///< first pods of assumed gangs; built when a service asks for it
  std::map<GangId, NodeId> placed_;                  ///< first pods of the gangs placed in this cycle
  /// Distributions of the services that were asked for. They are kept, because each costs a pass over the service's
  /// gangs.
  std::map<ServiceId, std::optional<Distribution>> distributions_;
  /// Number of replicas without room, by service and by the preferred zone that this cycle chose for them.
  std::map<std::pair<ServiceId, FailureDomain>, ReplicaCount> promised_;
};

}  // namespace capstan::decide::place
