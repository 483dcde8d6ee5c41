#pragma once

#include <cstdint>

#include "base/time.h"

namespace capstan::model {

/// A measured number with its age, or the fact that it is missing. Missing is never zero.
struct Signal {
  enum class State : std::uint8_t { missing, stale, value };
  State state = State::missing;
  std::int64_t value = 0;  ///< meaningful unless missing; its unit is part of the field's name
  Duration age{};          ///< time since the measurement; if missing, time since the last value that arrived

  bool usable() const { return state == State::value; }

  static Signal measured(std::int64_t value, Duration age = {}) { return {State::value, value, age}; }
  friend bool operator==(const Signal&, const Signal&) = default;
};

}  // namespace capstan::model
