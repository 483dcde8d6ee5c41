#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "decide/failure_domains.h"
#include "decide/place/place.h"

namespace capstan::decide::place {

/// Keeps the replicas of a service apart that is to survive the loss of a domain (model::Service::survives). Each goes
/// where the fewest of them stand. Once as many stand as hold the SLO without the fullest domain, the others, which are
/// there for its loss, take no room in a domain that has its even share: they wait for room in another, as with a
/// topology spread constraint of maxSkew 1 and DoNotSchedule. Before that any room will do.
class Apart {
 public:
  Apart(const model::Snapshot& snapshot, const Index& index, const Memory& memory);

  struct Where {
    TopologyLevel level = TopologyLevel::zone;
    std::map<FailureDomain, ReplicaCount> held;
    ReplicaCount placed = 0;                        ///< in all of them
    ReplicaCount share = 0;                         ///< of one domain, spread evenly
    ReplicaCount enough = 0;                        ///< hold the SLO without a share
    bool firm() const { return placed >= enough; }  ///< no domain may have more than its share
    void add(FailureDomain domain);
    /// Where to look in turn: domains that hold at most so many.
    std::vector<ReplicaCount> steps() const;
    /// Returns the domains that hold more than `most`.
    std::set<FailureDomain> above(ReplicaCount most) const;
  };
  /// As all that was placed so far stands. Null: it need not survive anything, or there is no other domain.
  const Where* of(ServiceId service);

  void place(ServiceId service, GangId gang, NodeId node);
  /// Says where to buy for a replica that has no room, and where it would be of no use.
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
  std::map<ServiceId, std::optional<Where>> where_;  ///< of those that were asked for: it costs a look at every gang
  std::map<std::pair<ServiceId, FailureDomain>, ReplicaCount> promised_;
};

}  // namespace capstan::decide::place
