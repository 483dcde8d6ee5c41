#pragma once

#include <string>
#include <string_view>

namespace capstan::manifest {

/// What stands between single quotes, perhaps over several lines, as it is meant: `''` is a quote, a line break a
/// space, and each empty line a line break.
std::string single_quoted_text(std::string_view inside);

}  // namespace capstan::manifest
