#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace capstan::plan {

/// Returns the same YAML with lines of at most so many columns, where a comment or a text in double quotes can be
/// broken. Other lines stay as they are.
std::string folded_yaml(std::string_view yaml, std::size_t columns);

}  // namespace capstan::plan
