#include "emulator/stop_strings.h"

#include <algorithm>

#include "emulator/generated_text.h"

namespace capstan::emulator {
namespace {

std::int64_t tokens_of(std::int64_t characters) { return (characters + kCharactersPerToken - 1) / kCharactersPerToken; }

/// Returns the start of the first occurrence in the generated text that ends after `after` characters.
std::optional<std::int64_t> first_occurrence(const std::string& string, std::int64_t after) {
  const auto length = static_cast<std::int64_t>(string.size());
  const std::int64_t earliest = std::max<std::int64_t>(0, after - length + 1);
  const std::string text = generated_text(earliest, earliest + kGeneratedPeriod + length);
  const std::size_t found = text.find(string);
  return found == text.npos ? std::nullopt : std::optional(earliest + static_cast<std::int64_t>(found));
}

}  // namespace

std::optional<StopMatch> find_stop(const StopStrings& stop, std::int64_t min_tokens, std::int64_t max_tokens) {
  std::optional<StopMatch> best;
  for (std::size_t i = 0; i < stop.strings.size(); ++i) {
    const auto length = static_cast<std::int64_t>(stop.strings[i].size());
    if (length > max_tokens * kCharactersPerToken) continue;
    const auto begin = first_occurrence(stop.strings[i], min_tokens * kCharactersPerToken);
    if (!begin) continue;
    const StopMatch match{i, tokens_of(*begin + length), stop.included ? *begin + length : *begin};
    if (match.tokens <= max_tokens && (!best || match.tokens < best->tokens)) best = match;
  }
  return best;
}

std::int64_t held_back_characters(const StopStrings& stop) {
  if (stop.included || stop.strings.empty()) return 0;
  return static_cast<std::int64_t>(std::ranges::max(stop.strings, {}, &std::string::size).size()) - 1;
}

}  // namespace capstan::emulator
