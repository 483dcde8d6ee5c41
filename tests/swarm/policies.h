#pragma once

#include <cstdint>
#include <string>

#include "swarm/dice.h"
#include "swarm/world.h"

namespace capstan::swarm {

/// The kinds of replicas that a service has.
enum class Replicas : std::uint8_t { one_kind, roles, variants };

/// The policy of each layer, as YAML.
struct DrawnPolicy {
  Owner owner = Owner::capstan;
  std::string scale;
  std::string place;
  std::string provision;
  std::string sleep;  ///< empty: no replica sleeps
};

/// Draws three policies in four with Capstan's in every layer. Only policies that can scale such replicas are drawn.
DrawnPolicy draw_policy(Dice& dice, Replicas replicas);

}  // namespace capstan::swarm
