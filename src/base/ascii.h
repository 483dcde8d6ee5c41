#pragma once

#include <algorithm>
#include <string_view>

namespace capstan {

/// Returns an ASCII letter in lower case and every other byte unchanged, independently of the locale.
constexpr char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Returns true if the texts are equal except for the case of ASCII letters. HTTP compares header names in this way.
constexpr bool equal_any_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return ascii_lower(x) == ascii_lower(y); });
}

}  // namespace capstan
