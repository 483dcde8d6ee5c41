#pragma once

#include <algorithm>
#include <string_view>

namespace capstan {

/// A letter of ASCII in lower case, whatever the locale; every other byte as it is.
constexpr char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Equal but for the case of ASCII letters, as in names of headers and codings.
constexpr bool equal_any_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return ascii_lower(x) == ascii_lower(y); });
}

}  // namespace capstan
