#pragma once

#include <cstdint>
#include <string>

#include "swarm/dice.h"
#include "swarm/world.h"

namespace capstan::swarm {

/// The difference between the replicas of a service: none, their role, or their variant.
enum class ReplicaForms : std::uint8_t { one_kind, roles, variants };

/// The policies of all layers, as YAML.
struct DrawnPolicy {
  Owner owner = Owner::capstan;
  std::string scale;
  std::string place;
  std::string provision;
  std::string sleep;  ///< settings of sleeping replicas; empty: no replica sleeps
};

/// Draws policies that can scale replicas of this form. In three of four draws, every layer has a policy of Capstan.
DrawnPolicy draw_policy(Dice& dice, ReplicaForms replicas);

}  // namespace capstan::swarm
