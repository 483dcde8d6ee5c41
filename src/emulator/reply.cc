#include "emulator/reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/generated_text.h"

namespace capstan::emulator {
namespace {

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string usage_of(const Answer& answer, std::int64_t tokens) {
  return fmt::format(R"({{"prompt_tokens":{},"total_tokens":{},"completion_tokens":{}}})", answer.prompt_tokens,
                     answer.prompt_tokens + tokens, tokens);
}

/// Returns the reason why the answer ended, as JSON members.
std::string ending(const Answer& answer) {
  return fmt::format(R"("finish_reason":"{}","stop_reason":{})", answer.stops ? "stop" : "length",
                     answer.stop_reason.empty() ? "null" : json_text(answer.stop_reason));
}

/// Returns the number of characters that the client has received once the engine has generated `tokens`.
std::int64_t sent_characters(const Answer& answer, std::int64_t tokens, bool is_over) {
  const std::int64_t generated = tokens * kCharactersPerToken;
  const std::int64_t max = answer.characters.value_or(generated);
  return is_over ? max : std::clamp<std::int64_t>(generated - answer.held_back, 0, std::min(generated, max));
}

std::string_view error_type(const ApiError& error) {
  if (!error.type.empty()) return error.type;
  switch (error.status) {
    case 404:
      return "NotFoundError";
    case 503:
      return "ServiceUnavailableError";
    default:
      return "BadRequestError";
  }
}

}  // namespace

ReplyWriter::ReplyWriter(std::string_view model) : model_(json_text(model)) {}

std::string ReplyWriter::head(const Answer& answer, bool piece) const {
  const bool chat = answer.kind == CompletionKind::chat;
  const std::string_view object = !chat ? "text_completion" : piece ? "chat.completion.chunk" : "chat.completion";
  return fmt::format(R"({{"id":"{}-{:016x}","object":"{}","created":{},"model":{},)", chat ? "chatcmpl" : "cmpl",
                     answer.number, object, answer.created_s, model_);
}

std::string ReplyWriter::whole(const Answer& answer, std::int64_t tokens) const {
  const std::string text = generated_text(0, sent_characters(answer, tokens, true));
  const std::string content = answer.kind == CompletionKind::chat
                                  ? fmt::format(R"("message":{{"role":"assistant","content":"{}"}})", text)
                                  : fmt::format(R"("text":"{}")", text);
  return head(answer, false) + fmt::format(R"("choices":[{{"index":0,{},"logprobs":null,{}}}],"usage":{}}})", content,
                                           ending(answer), usage_of(answer, tokens));
}

std::string ReplyWriter::piece(const Answer& answer, std::int64_t from, std::int64_t to, bool last) const {
  const std::string text = generated_text(sent_characters(answer, from, false), sent_characters(answer, to, last));
  const std::string_view role = from == 0 ? R"("role":"assistant",)" : "";
  const std::string content = answer.kind == CompletionKind::chat
                                  ? fmt::format(R"("delta":{{{}"content":"{}"}})", role, text)
                                  : fmt::format(R"("text":"{}")", text);
  return "data: " + head(answer, true) +
         fmt::format(R"("choices":[{{"index":0,{},"logprobs":null,{}}}]}})", content,
                     last ? ending(answer) : R"("finish_reason":null)") +
         "\n\n";
}

std::string ReplyWriter::usage(const Answer& answer, std::int64_t tokens) const {
  return "data: " + head(answer, true) + fmt::format(R"("choices":[],"usage":{}}})", usage_of(answer, tokens)) + "\n\n";
}

std::string ReplyWriter::error(const ApiError& error) {
  return fmt::format(R"({{"error":{{"message":{},"type":"{}","param":{},"code":{}}}}})", json_text(error.message),
                     error_type(error), error.parameter.empty() ? "null" : json_text(error.parameter), error.status);
}

std::string ReplyWriter::models(std::int64_t created_s, std::int64_t max_model_tokens) const {
  return fmt::format(
      R"({{"object":"list","data":[{{"id":{0},"object":"model","created":{1},"owned_by":"capstan","root":{0},)"
      R"("parent":null,"max_model_len":{2}}}]}})",
      model_, created_s, max_model_tokens);
}

}  // namespace capstan::emulator
