#pragma once

#include <cstdint>

namespace capstan::model {

/// Quantity that a signal counts, with its unit. `request_microseconds` are times summed over requests.
enum class Measure : std::uint8_t { requests, tokens, ppm, percent, microseconds, request_microseconds };

/// Returns the largest value that a snapshot may have for a measure. It is so small that sums do not overflow.
constexpr std::int64_t largest(Measure measure) {
  switch (measure) {
    case Measure::requests:
      return 86'400'000'000;
    case Measure::tokens:
      return 9'000'000'000'000'000;
    case Measure::ppm:
      return 1'000'000;
    case Measure::percent:
      return 100;
    case Measure::microseconds:
      return std::int64_t{366} * 86'400'000'000;  // 366 days: no run is longer
    case Measure::request_microseconds:
      return 9'000'000'000'000'000;
  }
  return 0;
}

}  // namespace capstan::model
