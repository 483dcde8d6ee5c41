#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace capstan::lint {

/// The syntax error of a text that is not JSON.
struct JsonFault {
  std::uint32_t offset = 0;
  std::string message;  ///< "is not JSON: found '}', expected a string"
};

/// Returns the first syntax error of a text that should be one JSON value or several in sequence; none if it is valid.
std::optional<JsonFault> json_fault(std::string_view text);

/// Returns JSON without comments and trailing commas, which editors and compilers allow in their settings. They are
/// replaced by spaces, so that places stay the same.
std::string without_comments(std::string_view text);

}  // namespace capstan::lint
