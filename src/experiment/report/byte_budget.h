#pragma once

#include <cstddef>
#include <set>
#include <vector>

namespace capstan::experiment {

/// A part of a result that a report may show.
struct BudgetedPart {
  std::size_t result = 0;    ///< position of the result in the report
  std::size_t position = 0;  ///< position of the part in its result
  std::size_t bytes = 0;
};

/// Bytes that a short report may have beyond the bounds of its parts.
inline constexpr std::size_t kSpareBytesMost = 1'150'000;
/// Bytes of the series of one policy by minute, rounded up.
inline constexpr std::size_t kBytesOfMinute = 100;

/// Returns the bytes by which the parts of a report may exceed their bounds. The series of a day with eight policies
/// need all of it; those of a shorter report leave the rest.
/// @param minutes  sum over the policies
constexpr std::size_t spare_bytes(std::size_t minutes) {
  constexpr std::size_t kMinutesMost = kSpareBytesMost / kBytesOfMinute;
  return minutes < kMinutesMost ? kSpareBytesMost - minutes * kBytesOfMinute : 0;
}

/// Returns, for each of `results` results, the positions of its parts that a report shows: the first ones of `ordered`
/// that together have at most `bytes_most` bytes.
inline std::vector<std::set<std::size_t>> parts_within(const std::vector<BudgetedPart>& ordered, std::size_t results,
                                                       std::size_t bytes_most) {
  std::vector<std::set<std::size_t>> shown(results);
  std::size_t bytes = 0;
  for (const BudgetedPart& part : ordered) {
    bytes += part.bytes;
    if (bytes > bytes_most) break;
    shown[part.result].insert(part.position);
  }
  return shown;
}

}  // namespace capstan::experiment
