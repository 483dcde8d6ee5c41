#pragma once

namespace capstan {

/// A letter of ASCII in lower case, whatever the locale; every other byte as it is.
constexpr char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace capstan
