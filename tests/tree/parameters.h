#pragma once

#include <cstddef>
#include <vector>

#include "tree/rooms.h"
#include "tree/source.h"

namespace capstan::tree {

/// Largest number of parameters of a function or constructor. More are passed as one struct with named fields.
inline constexpr std::size_t kMaxParameters = 7;

/// Finds declarations with too many parameters. A list in parentheses is a list of parameters, and not of arguments, if
/// all but at most two of its parts are a type and a name: `const Snapshot& snapshot`, `std::map<int, int> rows = {}`.
std::vector<Finding> check_parameters(const Source& source);

}  // namespace capstan::tree
