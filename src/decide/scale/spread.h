#pragma once

#include <vector>

#include "base/quantity.h"
#include "model/topology.h"

namespace capstan::decide::scale {

/// Where the replicas of a service stand that is to survive the loss of any one domain of a level.
struct Spread {
  model::TopologyLevel level = model::TopologyLevel::zone;
  ReplicaCount domains = 0;        ///< that hold its GPUs, or could
  bool steered = true;             ///< who places its replicas keeps them apart; else that is seen and told only
  std::vector<ReplicaCount> held;  ///< by domain that holds some, the most first; draining ones are not of them
};

/// What it takes, and how it came to that.
struct SpreadSizing {
  model::TopologyLevel level = model::TopologyLevel::zone;
  ReplicaCount need = 0;     ///< hold the SLO
  ReplicaCount domains = 0;  ///< below 2 nothing can be done
  ReplicaCount fullest = 0;  ///< stand in one domain now, the most of any
  ReplicaCount placed = 0;   ///< stand somewhere now
  ReplicaCount asked = 0;    ///< so many that the loss of any one domain leaves `need`
  bool possible() const { return domains >= 2; }
  ReplicaCount left() const { return placed - fullest; }  ///< by the loss of the fullest now
};

/// The least that leave `need` whichever domain is lost: spread evenly, `need + ceil(need / (domains - 1))`. Replicas
/// that stand stay where they are, and fewer are taken from the fullest: where one domain holds more than its share,
/// that many more are asked for elsewhere first, at most an even fleet's worth.
SpreadSizing survive(const Spread& spread, ReplicaCount need);

/// Of so many, those that the loss of the fullest domain leaves; all of them where there is no other domain.
ReplicaCount survivors(const Spread& spread, ReplicaCount replicas);

}  // namespace capstan::decide::scale
