#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace capstan::emulator {

/// The properties of a prompt that matter to an engine: its length and the prefixes that it shares with other prompts.
struct Prompt {
  std::int64_t tokens = 0;
  std::vector<std::uint64_t> prefix_hashes;  ///< hash of the prompt up to the end of each whole group of 512 tokens

  friend bool operator==(const Prompt&, const Prompt&) = default;
};

/// Builds a prompt from token ids and text. There is no tokenizer: white space separates words, and every four
/// characters of a word are a token (the last one may be shorter). English text has about four characters per token.
class PromptBuilder {
 public:
  void add_token(std::uint64_t id);
  void add_text(std::string_view utf8);
  /// Adds tokens that a chat template puts around a message.
  void add_template(std::int64_t tokens);

  std::int64_t tokens() const { return prompt_.tokens; }
  Prompt take() { return std::move(prompt_); }

 private:
  Prompt prompt_;
  StateHash hash_;
};

}  // namespace capstan::emulator
