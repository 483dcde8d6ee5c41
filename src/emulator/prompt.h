#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace capstan::emulator {

/// What of a prompt matters to an engine: how long it is, and which beginnings it shares with others.
struct Prompt {
  std::int64_t tokens = 0;
  std::vector<std::uint64_t> prefix_hashes;  ///< one for each whole group of 512 tokens, of everything up to its end

  friend bool operator==(const Prompt&, const Prompt&) = default;
};

/// Adds up a prompt from token ids and text. There is no tokenizer: white space parts words, and every four characters
/// of a word, the last ones perhaps fewer, are a token, as English text comes to on average.
class PromptBuilder {
 public:
  void add_token(std::uint64_t id);
  void add_text(std::string_view utf8);
  /// Tokens that a template puts around what users write.
  void add_template(std::int64_t tokens);

  std::int64_t tokens() const { return prompt_.tokens; }
  Prompt take() { return std::move(prompt_); }

 private:
  Prompt prompt_;
  StateHash hash_;
};

}  // namespace capstan::emulator
