#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace capstan::swarm {

/// The origin of a world's policies, which determines the invariants that they must keep (docs/invariants.md).
enum class Owner : std::uint8_t {
  capstan,   ///< every layer has a policy of Capstan; they must keep all invariants
  baseline,  ///< at least one layer has a baseline; the policies must keep invariants 5, 7 and 8
};

/// A hostile world: a list of changes to tests/swarm/world.yaml. World `number` of a seed is always the same.
struct World {
  std::uint64_t seed = 0;
  std::uint64_t number = 0;
  std::uint64_t run_seed = 0;       ///< seed of the simulation
  std::vector<std::string> sets{};  ///< `path=value`, in the order in which they are applied
  Owner owner = Owner::capstan;

  std::string name() const;     ///< returns "3:117", the argument of scripts/swarm --repeat
  std::string command() const;  ///< returns the `capstan sim` command that repeats the run
};

/// The file that `World::sets` change, by its path from the project's root.
inline constexpr const char* kWorldFile = "tests/swarm/world.yaml";

/// Draws world `number` of `seed`. Every part of a world has its own random stream, so that a new choice in one part
/// does not change the other parts.
World draw(std::uint64_t seed, std::uint64_t number);

}  // namespace capstan::swarm
