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
