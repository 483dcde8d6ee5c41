#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace capstan::manifest {

/// Returns the length in bytes of the multi-byte character at the start of `text`, which is not empty. Returns 0 for a
/// character that YAML does not allow: invalid UTF-8, an overlong form, a surrogate or a control character.
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
