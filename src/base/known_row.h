#pragma once

#include <cstddef>

#include "base/assert.h"

namespace capstan {

/// Returns the row of a key that the map must contain.
template <typename Map>
auto& known_row(Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  CAPSTAN_ASSERT(found != map.end());
  return found->second;
}

/// Returns the row at a position that the vector or the array must have.
template <typename Rows>
  requires(!requires { typename Rows::key_type; })
auto& known_row(Rows& rows, std::size_t position) {
  CAPSTAN_ASSERT(position < rows.size());
  return rows[position];
}

}  // namespace capstan
