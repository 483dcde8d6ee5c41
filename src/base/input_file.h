#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace capstan {

/// Returns the bytes of an input file of at most 64 MiB. An error names what was `expected`, such as "a CSV file".
Result<std::string> read_input(const std::string& path, std::string_view expected);

}  // namespace capstan
