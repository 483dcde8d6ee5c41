#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/api_error.h"
#include "emulator/prompt.h"
#include "emulator/stop_strings.h"

namespace capstan::emulator {

/// The fields of a request to /v1/completions or /v1/chat/completions that change its answer.
struct CompletionRequest {
  std::string model;  ///< model of the request; empty if it names none
  Prompt prompt;
  std::optional<std::int64_t> max_tokens;
  std::int64_t min_tokens = 0;
  bool ignore_eos = false;
  bool stream = false;
  bool include_usage = false;
  StopStrings stop;
};

enum class CompletionKind : std::uint8_t { text, chat };

/// Reads the JSON of requests as vLLM does: unknown fields are ignored, null means absent, and a wrong type or a number
/// out of range is an error that names the field. A field that asks for something that an emulated engine cannot do is
/// refused.
class CompletionReader {
 public:
  CompletionReader();
  ~CompletionReader();

  std::expected<CompletionRequest, ApiError> read(std::string_view body, CompletionKind kind);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;  ///< reuses its memory for every request
};

}  // namespace capstan::emulator
