#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace capstan::manifest {

/// Bytes of the character of more than one byte that `text`, which is not empty, begins with; 0 where it is none that
/// YAML allows: no UTF-8, too long for its code, a surrogate or a control character.
inline std::size_t utf8_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = at(0) >= 0xf0 ? 4 : at(0) >= 0xe0 ? 3 : 2;
  if (at(0) < 0xc2 || at(0) > 0xf4 || text.size() < length) return 0;
  std::uint32_t code = at(0) & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (at(i) & 0x3fu);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool control = code < 0xa0 && code != 0x85;
  return overlong || control || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff ? 0 : length;
}

}  // namespace capstan::manifest
