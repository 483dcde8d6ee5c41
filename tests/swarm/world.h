#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace capstan::swarm {

/// Which invariants a world's policy must keep (docs/invariants.md).
enum class Owner : std::uint8_t {
  capstan,   ///< every layer is Capstan's: all of them
  baseline,  ///< at least one layer is a baseline: 5, 7 and 8
};

/// One hostile world: what is changed in tests/swarm/world.yaml. World `number` of a seed is always the same.
struct World {
  std::uint64_t seed = 0;
  std::uint64_t number = 0;
  std::uint64_t run_seed = 0;       ///< seed of the simulation
  std::vector<std::string> sets{};  ///< `path=value`, in the order in which they are applied
  Owner owner = Owner::capstan;

  std::string name() const;     ///< "3:117", which scripts/swarm --repeat takes
  std::string command() const;  ///< the `capstan sim` command that repeats the run
};

/// The file that the sets of a world change, from the project's root.
inline constexpr const char* kWorldFile = "tests/swarm/world.yaml";

/// Draws world `number` of `seed`. Every part of a world has a random stream of its own, so that a new choice in one
/// part changes no other.
World draw(std::uint64_t seed, std::uint64_t number);

}  // namespace capstan::swarm
