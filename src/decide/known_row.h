#pragma once

#include <cstddef>
#include <vector>

#include "base/assert.h"

namespace capstan::decide {

/// Returns the row of a key that the map must contain.
template <typename Map>
auto& known_row(Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  CAPSTAN_ASSERT(found != map.end());
  return found->second;
}

/// Returns the row at a position that the vector must have.
template <typename Row>
Row& known_row(std::vector<Row>& rows, std::size_t position) {
  CAPSTAN_ASSERT(position < rows.size());
  return rows[position];
}
template <typename Row>
const Row& known_row(const std::vector<Row>& rows, std::size_t position) {
  CAPSTAN_ASSERT(position < rows.size());
  return rows[position];
}

}  // namespace capstan::decide
