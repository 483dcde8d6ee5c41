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

/// Replaces comments and trailing commas in JSON by spaces, so that places stay the same. Editors and compilers allow
/// both in their settings.
std::string without_comments(std::string_view text);

}  // namespace capstan::lint
