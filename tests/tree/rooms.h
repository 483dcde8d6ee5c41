#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tree/source.h"

namespace capstan::tree {

/// One thing that is wrong, as a compiler would say it.
struct Finding {
  std::string path;
  std::size_t line = 0;  ///< from 1; 0 for the file as a whole
  std::string message;

  std::string text() const;
};

/// Whether the graph of rooms (docs/architecture.md) has this folder of src/.
bool is_room(std::string_view name);

/// Whether code in `from` may include headers of `to`: itself, or what it reaches along the edges.
bool may_include(std::string_view from, std::string_view to);

/// Includes against the graph, and their form: paths start at src/, system headers stand in angle brackets.
std::vector<Finding> check_includes(const Source& source);

/// The same graph against what the build declares: `capstan_room(x DEPENDS a b ...)` lines of src/CMakeLists.txt.
std::vector<Finding> check_declared_edges(const Source& cmake);

}  // namespace capstan::tree
