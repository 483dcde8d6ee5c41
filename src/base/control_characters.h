#pragma once

#include <algorithm>
#include <string_view>
#include <utility>

namespace capstan {

/// Returns the length in bytes of the first character of `text` if a terminal interprets this character instead of
/// showing it, else 0. A terminal interprets control characters, and invisible characters that change the direction of
/// a line, break it or join it. `text` must not be empty.
inline std::size_t control_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x20 || first == 0x7f) return 1;
  const std::string_view two = text.substr(0, 2);
  if (two == "\u061c" || ("\u0080" <= two && two <= "\u009f")) return 2;
  constexpr std::pair<std::string_view, std::string_view> kRanges[] = {
      {"\u200b", "\u200f"}, {"\u2028", "\u202e"}, {"\u2060", "\u206f"}, {"\ufeff", "\ufeff"}};
  const std::string_view three = text.substr(0, 3);
  const auto is_inside = [&](const auto& range) { return range.first <= three && three <= range.second; };
  return three.size() == 3 && std::ranges::any_of(kRanges, is_inside) ? 3 : 0;
}

}  // namespace capstan
