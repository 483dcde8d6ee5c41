#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/completion_request.h"

namespace capstan::emulator {

/// The properties of an answer that its texts depend on.
struct Answer {
  std::uint64_t number = 0;  ///< number of the request, from which its id is made
  CompletionKind kind = CompletionKind::text;
  std::int64_t created_s = 0;  ///< seconds since 1970
  std::int64_t prompt_tokens = 0;
  bool stops = false;         ///< true: ends by itself or by a stop string; false: by its length
  std::string stop_reason{};  ///< the stop string that ended the answer; empty if none did
  /// Length of the text if a stop string ends it; empty: the text of all tokens.
  std::optional<std::int64_t> characters{};
  std::int64_t held_back = 0;  ///< characters that a stream sends only after the answer has ended
};

/// Writes the JSON of replies as vLLM's OpenAI-compatible server does. The texts of answers come from
/// emulator/generated_text.h.
class ReplyWriter {
 public:
  explicit ReplyWriter(std::string_view model);

  std::string whole(const Answer& answer, std::int64_t tokens) const;

  // Server-sent events.

  /// Returns the event with the tokens [from, to). The first event of a chat names the role, the last one the reason
  /// why the answer ended.
  std::string piece(const Answer& answer, std::int64_t from, std::int64_t to, bool last) const;
  std::string usage(const Answer& answer, std::int64_t tokens) const;
  static std::string_view done() { return "data: [DONE]\n\n"; }

  static std::string error(const ApiError& error);
  std::string models(std::int64_t created_s, std::int64_t max_model_tokens) const;

 private:
  std::string head(const Answer& answer, bool piece) const;

  std::string model_;  ///< the model's name as a JSON string
};

}  // namespace capstan::emulator
