#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace capstan::plan {

/// Returns the same YAML with lines of at most `columns` columns. It breaks only comments and texts in double quotes;
/// other lines may stay longer.
std::string folded_yaml(std::string_view yaml, std::size_t columns);

}  // namespace capstan::plan
