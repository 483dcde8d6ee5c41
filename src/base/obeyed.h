#pragma once

#include <algorithm>
#include <string_view>
#include <utility>

namespace capstan {

/// Bytes of the character that `text`, which is not empty, begins with, where a terminal obeys it instead of showing
/// it: controls, and what turns the direction of a line, breaks or joins it unseen. 0: it is shown.
inline std::size_t obeyed_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x20 || first == 0x7f) return 1;
  const std::string_view two = text.substr(0, 2);
  if (two == "\u061c" || ("\u0080" <= two && two <= "\u009f")) return 2;
  constexpr std::pair<std::string_view, std::string_view> kRanges[] = {
      {"\u200b", "\u200f"}, {"\u2028", "\u202e"}, {"\u2060", "\u206f"}, {"\ufeff", "\ufeff"}};
  const std::string_view three = text.substr(0, 3);
  const auto obeyed = [&](const auto& range) { return range.first <= three && three <= range.second; };
  return three.size() == 3 && std::ranges::any_of(kRanges, obeyed) ? 3 : 0;
}

}  // namespace capstan
