#include "base/similar_names.h"

#include <algorithm>
#include <utility>

namespace capstan {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_above, above, row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    two_above = std::exchange(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::vector<std::string_view> similar_names(std::string_view word, std::span<const std::string_view> names) {
  constexpr std::size_t kLongest = 64;
  if (word.empty() || word.size() > kLongest) return {};
  std::vector<std::string_view> similar;
  std::size_t fewest = std::max<std::size_t>(2, word.size() / 3);
  for (const std::string_view name : names) {
    // The difference in length is a lower bound for the edit distance.
    if (std::max(word.size(), name.size()) - std::min(word.size(), name.size()) > fewest) continue;
    const std::size_t edits = edit_distance(word, name);
    if (edits > fewest) continue;
    if (edits < fewest) similar.clear();
    fewest = edits;
    if (std::ranges::find(similar, name) == similar.end()) similar.push_back(name);
  }
  return similar;
}

std::string did_you_mean_words(std::string_view word, std::span<const std::string_view> names) {
  constexpr std::size_t kMaxShown = 3;
  const std::vector<std::string_view> similar = similar_names(word, names);
  if (similar.empty()) return "";
  const std::size_t shown = std::min(similar.size(), kMaxShown);
  std::string text = " (did you mean ";
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) text += i + 1 == shown ? " or " : ", ";
    text += similar[i];
  }
  return text + "?)";
}

}  // namespace capstan
