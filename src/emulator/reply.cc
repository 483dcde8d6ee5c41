#include "emulator/reply.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

namespace capstan::emulator {
namespace {

constexpr std::array<std::string_view, 16> kWords = {" the", " one", " two", " all", " and", " are", " for", " has",
                                                     " how", " its", " may", " new", " not", " out", " see", " use"};

std::string words(std::int64_t from, std::int64_t to) {
  std::string text;
  text.reserve(static_cast<std::size_t>(to - from) * 4);
  for (std::int64_t i = from; i < to; ++i) text += kWords[static_cast<std::size_t>(i) % kWords.size()];
  return text;
}

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string usage_of(const Answer& answer, std::int64_t tokens) {
  return fmt::format(R"({{"prompt_tokens":{},"total_tokens":{},"completion_tokens":{}}})", answer.prompt_tokens,
                     answer.prompt_tokens + tokens, tokens);
}

std::string_view finish_reason(const Answer& answer) { return answer.stops ? R"("stop")" : R"("length")"; }

std::string_view error_type(int status) {
  switch (status) {
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
  const std::string text = words(0, tokens);
  const std::string content = answer.kind == CompletionKind::chat
                                  ? fmt::format(R"("message":{{"role":"assistant","content":"{}"}})", text)
                                  : fmt::format(R"("text":"{}")", text);
  return head(answer, false) +
         fmt::format(R"("choices":[{{"index":0,{},"logprobs":null,"finish_reason":{}}}],"usage":{}}})", content,
                     finish_reason(answer), usage_of(answer, tokens));
}

std::string ReplyWriter::piece(const Answer& answer, std::int64_t from, std::int64_t to, bool last) const {
  const std::string text = words(from, to);
  const std::string_view role = from == 0 ? R"("role":"assistant",)" : "";
  const std::string content = answer.kind == CompletionKind::chat
                                  ? fmt::format(R"("delta":{{{}"content":"{}"}})", role, text)
                                  : fmt::format(R"("text":"{}")", text);
  return "data: " + head(answer, true) +
         fmt::format(R"("choices":[{{"index":0,{},"logprobs":null,"finish_reason":{}}}]}})", content,
                     last ? finish_reason(answer) : "null") +
         "\n\n";
}

std::string ReplyWriter::usage(const Answer& answer, std::int64_t tokens) const {
  return "data: " + head(answer, true) + fmt::format(R"("choices":[],"usage":{}}})", usage_of(answer, tokens)) + "\n\n";
}

std::string ReplyWriter::error(const ApiError& error) {
  return fmt::format(R"({{"error":{{"message":{},"type":"{}","param":{},"code":{}}}}})", json_text(error.message),
                     error_type(error.status), error.parameter.empty() ? "null" : json_text(error.parameter),
                     error.status);
}

std::string ReplyWriter::models(std::int64_t created_s, std::int64_t max_model_tokens) const {
  return fmt::format(
      R"({{"object":"list","data":[{{"id":{0},"object":"model","created":{1},"owned_by":"capstan","root":{0},)"
      R"("parent":null,"max_model_len":{2}}}]}})",
      model_, created_s, max_model_tokens);
}

}  // namespace capstan::emulator
