#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tree/source.h"

namespace capstan::tree {

/// One error, in the form of a compiler message.
struct Finding {
  std::string path;
  std::size_t line = 0;  ///< counts from 1; 0 means the whole file
  std::string message;

  std::string text() const;
};

/// Returns whether the graph of rooms (docs/architecture.md) has this folder of src/.
bool is_room(std::string_view name);

/// Returns whether code in `from` may include headers of `to`: the same room, or one that the edges reach.
bool may_include(std::string_view from, std::string_view to);

/// Checks includes against the graph, and their form: paths start at src/, system headers are in angle brackets.
std::vector<Finding> check_includes(const Source& source);

/// Checks the `capstan_room(x DEPENDS a b ...)` lines of src/CMakeLists.txt against the graph.
std::vector<Finding> check_declared_edges(const Source& cmake);

}  // namespace capstan::tree
