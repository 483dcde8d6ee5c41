#pragma once

#include <string>
#include <string_view>

namespace capstan::manifest {

/// Decodes the text between single quotes: `''` becomes a quote, a line break a space, and an empty line a line break.
std::string single_quoted_text(std::string_view inside);

}  // namespace capstan::manifest
