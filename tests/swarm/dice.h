#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace capstan::swarm {

/// Draws the random choices of one part of a world.
class Dice {
 public:
  Dice(std::uint64_t seed, std::uint64_t number, std::string_view part)
      : stream_(seed, "swarm " + std::string(part), number) {}

  bool chance(std::int64_t percent) { return stream_.chance_ppm(static_cast<std::uint32_t>(percent * 10'000)); }
  std::int64_t between(std::int64_t low, std::int64_t high) { return stream_.between(low, high); }

  /// Returns one of the values; all have the same probability.
  template <typename T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[stream_.below(values.size())];
  }
  const std::string& pick(const std::vector<std::string>& values) { return values[stream_.below(values.size())]; }

 private:
  RandomStream stream_;
};

}  // namespace capstan::swarm
