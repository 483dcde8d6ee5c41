#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/completion_request.h"

namespace capstan::emulator {

/// What an answer's texts depend on.
struct Answer {
  std::uint64_t number = 0;  ///< of the request, for its id
  CompletionKind kind = CompletionKind::text;
  std::int64_t created_s = 0;  ///< seconds since 1970
  std::int64_t prompt_tokens = 0;
  bool stops = false;                        ///< ended by itself, or by a stop string
  std::string stop_reason{};                 ///< the stop string that ended it; empty: none did
  std::optional<std::int64_t> characters{};  ///< of its text, where a stop string cuts it; else all tokens' characters
  std::int64_t held_back = 0;                ///< characters that a stream sends only once the answer has ended
};

/// The JSON of replies, in the shape of vLLM's OpenAI-compatible server. Answers are texts of
/// emulator/generated_text.h.
class ReplyWriter {
 public:
  explicit ReplyWriter(std::string_view model);

  std::string whole(const Answer& answer, std::int64_t tokens) const;

  // Server-sent events.

  /// The tokens from `from` up to `to`; the first of a chat also names the role, the last why it ended.
  std::string piece(const Answer& answer, std::int64_t from, std::int64_t to, bool last) const;
  std::string usage(const Answer& answer, std::int64_t tokens) const;
  static std::string_view done() { return "data: [DONE]\n\n"; }

  static std::string error(const ApiError& error);
  std::string models(std::int64_t created_s, std::int64_t max_model_tokens) const;

 private:
  std::string head(const Answer& answer, bool piece) const;

  std::string model_;  ///< as JSON
};

}  // namespace capstan::emulator
