#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace capstan::emulator {

/// The strings that end an answer: the fields `stop` and `include_stop_str_in_output` of vLLM.
struct StopStrings {
  std::vector<std::string> strings;  ///< stop strings; each has at least one byte
  bool included = false;             ///< true: the answer includes the stop string; false: it ends before the string
};

/// The position at which a stop string ends a generated text.
struct StopMatch {
  std::size_t string = 0;       ///< index of the stop string
  std::int64_t tokens = 0;      ///< tokens generated up to the match; the last one completes the string
  std::int64_t characters = 0;  ///< characters of the text that the client gets
  friend bool operator==(const StopMatch&, const StopMatch&) = default;
};

/// Returns the match that ends an answer of at most `max_tokens`, or nothing. As in vLLM, a string counts only if a
/// token after the first `min_tokens` completes it. If the same token completes several strings, the first of the list
/// counts.
std::optional<StopMatch> find_stop(const StopStrings& stop, std::int64_t min_tokens, std::int64_t max_tokens);

/// Returns how many characters a stream holds back until the answer has ended, because they may begin a stop string.
std::int64_t held_back_characters(const StopStrings& stop);

}  // namespace capstan::emulator
