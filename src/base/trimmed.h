#pragma once

#include <string_view>

namespace capstan {

/// Returns the text without any of the given characters at its beginning and at its end.
constexpr std::string_view trimmed(std::string_view text, std::string_view characters = " \t") {
  const std::size_t first = text.find_first_not_of(characters);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(characters) - first + 1);
}

}  // namespace capstan
