#pragma once

#include <cstdint>

#include "base/time.h"

namespace capstan::model {

/// A number that was measured, or the fact that it was not, always with its age. Missing is never zero.
struct Signal {
  enum class State : std::uint8_t { missing, stale, value };
  State state = State::missing;
  std::int64_t value = 0;  ///< meaningful unless missing; the unit belongs to the name of the field that holds it
  Duration age{};          ///< since the measurement; since the last one that arrived when it is missing

  bool usable() const { return state == State::value; }

  static Signal of(std::int64_t value, Duration age = {}) { return {State::value, value, age}; }
  friend bool operator==(const Signal&, const Signal&) = default;
};

}  // namespace capstan::model
