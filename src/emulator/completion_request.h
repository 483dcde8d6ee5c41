#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/prompt.h"

namespace capstan::emulator {

/// What of a request to /v1/completions or /v1/chat/completions is heeded.
struct CompletionRequest {
  std::string model;  ///< empty: not named
  Prompt prompt;
  std::optional<std::int64_t> max_tokens;
  std::int64_t min_tokens = 0;
  bool ignore_eos = false;
  bool stream = false;
  bool include_usage = false;
};

/// A refusal in the API's words.
struct ApiError {
  int status = 400;
  std::string message;
  std::string parameter;  ///< the field that is wrong; empty: none in particular
};

enum class CompletionKind : std::uint8_t { text, chat };

/// Reads the JSON of requests as vLLM does: fields that are not known are ignored, null is as good as absent, a wrong
/// type is an error that names the field.
class CompletionReader {
 public:
  CompletionReader();
  ~CompletionReader();

  std::expected<CompletionRequest, ApiError> read(std::string_view body, CompletionKind kind);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;  ///< keeps its memory from request to request
};

}  // namespace capstan::emulator
