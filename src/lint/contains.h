#pragma once

#include <cstring>
#include <string_view>

namespace capstan::lint {

/// Returns the position of a word in a text, at or after `from`; npos if there is none. It uses memmem, which compares
/// many bytes at once. `std::string_view::find` stops at every occurrence of the first letter and is too slow for whole
/// files.
inline std::size_t find_word(std::string_view text, std::string_view word, std::size_t from = 0) {
  if (from >= text.size()) return std::string_view::npos;
  const void* found = memmem(text.data() + from, text.size() - from, word.data(), word.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

inline bool contains(std::string_view text, std::string_view word) { return find_word(text, word) != text.npos; }

}  // namespace capstan::lint
