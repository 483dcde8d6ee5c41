#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace capstan::emulator {

/// Every token of an answer is a space and a word of three letters, so that the number of tokens determines the length
/// of the text.
inline constexpr std::int64_t kCharactersPerToken = 4;
inline constexpr std::array<std::string_view, 16> kGeneratedWords = {" the", " one", " two", " all", " and", " are",
                                                                     " for", " has", " how", " its", " may", " new",
                                                                     " not", " out", " see", " use"};
/// Number of characters after which the text repeats.
inline constexpr std::int64_t kGeneratedPeriod = kCharactersPerToken * std::ssize(kGeneratedWords);

/// Returns the characters of an answer in the range [from, to).
inline std::string generated_text(std::int64_t from, std::int64_t to) {
  std::string text;
  if (from < to) text.reserve(static_cast<std::size_t>(to - from));
  for (std::int64_t i = from; i < to; ++i) {
    const std::int64_t in_period = i % kGeneratedPeriod;
    const std::string_view word = kGeneratedWords[static_cast<std::size_t>(in_period / kCharactersPerToken)];
    text += word[static_cast<std::size_t>(in_period % kCharactersPerToken)];
  }
  return text;
}

}  // namespace capstan::emulator
