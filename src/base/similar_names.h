#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace capstan {

/// Returns the fewest edits that turn one word into the other. An edit inserts, deletes or replaces a character, or
/// swaps two neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the names that are the fewest edits away from `word`, in the order of `names`, each once. Returns none if
/// these names take more than two edits and more edits than a third of the length of `word`, or if `word` is longer
/// than 64 bytes.
std::vector<std::string_view> similar_names(std::string_view word, std::span<const std::string_view> names);

/// Returns " (did you mean a or b?)" with at most three similar names; empty if no name is similar.
std::string did_you_mean_words(std::string_view word, std::span<const std::string_view> names);

}  // namespace capstan
