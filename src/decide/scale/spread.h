#pragma once

#include <vector>

#include "base/quantity.h"
#include "model/topology.h"

namespace capstan::decide::scale {

/// Distribution of replicas over domains, for a service that must survive the loss of any one domain of a level.
struct Spread {
  model::TopologyLevel level = model::TopologyLevel::zone;
  ReplicaCount domains = 0;  ///< domains that have GPUs of the service's kind or could get some
  /// True: the scheduler in use spreads the replicas; false: Capstan only sees and reports the distribution.
  bool is_enforced = true;
  /// Replicas by domain, largest number first, without draining replicas and without empty domains.
  std::vector<ReplicaCount> held;
};

/// Replicas needed to survive the loss of a domain, with the numbers of the computation.
struct SpreadSizing {
  model::TopologyLevel level = model::TopologyLevel::zone;
  ReplicaCount need = 0;      ///< replicas that hold the SLO
  ReplicaCount domains = 0;   ///< usable domains; below 2, none is left after a loss
  ReplicaCount fullest = 0;   ///< replicas in the fullest domain now
  ReplicaCount placed = 0;    ///< replicas with a node now
  ReplicaCount required = 0;  ///< replicas such that the loss of any one domain leaves `need`
  bool possible() const { return domains >= 2; }
  ReplicaCount left() const { return placed - fullest; }  ///< replicas that remain if the fullest domain fails now
};

/// Returns the smallest number of replicas of which `need` remain after the loss of any domain. Replicas that are
/// spread evenly need `need + ceil(need / (domains - 1))`. Existing replicas do not move, and removals come from the
/// fullest domain. So if one domain holds more than its share, the other domains need more replicas. If even `need`
/// more replicas than for an even spread do not suffice, because one domain holds very many, the result is the number
/// for an even spread: the surplus has to be removed first. The same number is the result if `is_enforced` is false.
SpreadSizing size_for_loss(const Spread& spread, ReplicaCount need);

/// Returns how many of `replicas` remain after the loss of the fullest domain, at least one. Returns `replicas` if
/// there is only one domain.
ReplicaCount survivors(const Spread& spread, ReplicaCount replicas);

}  // namespace capstan::decide::scale
