#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace capstan::emulator {

/// Every token of an answer is a word of three letters behind a space, so that a text is as long as its tokens say.
inline constexpr std::int64_t kCharactersPerToken = 4;
inline constexpr std::array<std::string_view, 16> kGeneratedWords = {" the", " one", " two", " all", " and", " are",
                                                                     " for", " has", " how", " its", " may", " new",
                                                                     " not", " out", " see", " use"};
/// The text begins anew after so many characters.
inline constexpr std::int64_t kGeneratedPeriod = kCharactersPerToken * std::ssize(kGeneratedWords);

/// Returns the characters of an answer from `from` up to, and without, `to`.
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
