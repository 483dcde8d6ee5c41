#pragma once

#include <algorithm>
#include <vector>

namespace capstan {

/// Sorts values and removes duplicates.
template <typename T>
void sort_unique(std::vector<T>& values) {
  std::ranges::sort(values);
  const auto duplicates = std::ranges::unique(values);
  values.erase(duplicates.begin(), duplicates.end());
}

}  // namespace capstan
