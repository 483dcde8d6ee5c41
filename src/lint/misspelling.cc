#include "lint/misspelling.h"

#include <algorithm>
#include <string>

#include "base/ascii.h"
#include "base/similar_names.h"

namespace capstan::lint {
namespace {

bool is_separator(char c) { return c == '-' || c == '_' || c == '.'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns the letters and digits of a name in lower case: "llama8b" for "Llama-8B".
std::string letters_of(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (!is_separator(c)) letters += ascii_lower(c);
  }
  return letters;
}

std::string digits_of(std::string_view name) {
  std::string digits;
  std::ranges::copy_if(name, std::back_inserter(digits), is_digit);
  return digits;
}

/// Returns the word around a position. Separators and digits end a word.
std::string_view word_at(std::string_view name, std::size_t at) {
  const auto is_part = [](char c) { return !is_separator(c) && !is_digit(c); };
  std::size_t begin = at, end = at;
  while (begin > 0 && is_part(name[begin - 1])) --begin;
  while (end < name.size() && is_part(name[end])) ++end;
  return name.substr(begin, end - begin);
}

}  // namespace

bool is_misspelling(std::string_view a, std::string_view b) {
  constexpr std::size_t kMaxSize = 64;
  if (a == b || a.empty() || b.empty() || a.size() > kMaxSize || b.size() > kMaxSize) return false;
  if (letters_of(a) == letters_of(b)) return true;
  if (digits_of(a) != digits_of(b) || edit_distance(a, b) != 1) return false;
  // Words that are shorter, or that differ in a letter that is not missing, are often two words: "chat" and "that".
  constexpr std::size_t kMinWord = 4, kMinReplaced = 6;
  const auto differs = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  const std::size_t word = std::min(word_at(a, differs).size(), word_at(b, differs).size());
  return word >= (a.size() == b.size() ? kMinReplaced : kMinWord);
}

}  // namespace capstan::lint
