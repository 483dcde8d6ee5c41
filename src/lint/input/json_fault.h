#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace capstan::lint {

/// Why a text is no JSON, and where.
struct JsonFault {
  std::uint32_t offset = 0;
  std::string message;  ///< "is no JSON: found '}', expected a string"
};

/// The first fault of a text that should be one JSON value, or several behind each other; none where it is.
std::optional<JsonFault> json_fault(std::string_view text);

/// JSON without the comments and last commas that editors and compilers allow in their settings; each is replaced by
/// spaces, so that places stay.
std::string without_comments(std::string_view text);

}  // namespace capstan::lint
