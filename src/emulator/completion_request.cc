#include "emulator/completion_request.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <utility>

#include "emulator/sampling_fields.h"
#include "emulator/type_error.h"

namespace capstan::emulator {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::int64_t kMessageTokens = 4;      // tokens that a chat template puts around a message
constexpr std::int64_t kDefaultMaxTokens = 16;  // default of /v1/completions in OpenAI's API; a chat has none

using MaybeError = std::optional<ApiError>;

MaybeError read_flag(std::string_view name, element value, bool& out) {
  if (value.get(out) == simdjson::SUCCESS) return std::nullopt;
  return type_error(name, type_name(value), "true or false");
}

MaybeError read_count(std::string_view name, element value, std::int64_t& out) {
  if (value.get(out) != simdjson::SUCCESS) return type_error(name, type_name(value), "an integer");
  return std::nullopt;
}

MaybeError read_max_tokens(std::string_view name, element value, std::int64_t& out) {
  if (MaybeError error = read_count(name, value, out)) return error;
  if (out >= 1) return std::nullopt;
  return ApiError{400, fmt::format("max_tokens must be at least 1, got {}. (parameter=max_tokens, value={})", out, out),
                  "max_tokens"};
}

MaybeError read_min_tokens(element value, std::int64_t& out) {
  if (MaybeError error = read_count("min_tokens", value, out)) return error;
  if (out >= 0) return std::nullopt;
  return ApiError{400, fmt::format("min_tokens must be greater than or equal to 0, got {}.", out)};
}

MaybeError read_answers(element value, CompletionKind kind) {
  std::int64_t answers = 0;
  if (MaybeError error = read_count("n", value, answers)) return error;
  if (answers >= 1) return check_sampling_field("n", value, kind);
  return ApiError{400, fmt::format("n must be at least 1, got {}.", answers)};
}

MaybeError read_stop(element value, std::vector<std::string>& out) {
  constexpr std::string_view kExpected = "a string or an array of strings";
  const auto add_string = [&](std::string_view text) -> MaybeError {
    if (text.empty()) return ApiError{400, "stop cannot contain an empty string."};
    out.emplace_back(text);
    return std::nullopt;
  };
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return add_string(text);
  array list;
  if (value.get(list) != simdjson::SUCCESS) return type_error("stop", type_name(value), kExpected);
  for (const element item : list) {
    if (item.get(text) != simdjson::SUCCESS) {
      return type_error("stop", fmt::format("{} in an array", type_name(item)), kExpected);
    }
    if (MaybeError error = add_string(text)) return error;
  }
  return std::nullopt;
}

/// Reads a prompt: a string, an array of token ids, or an array that contains one of these. A request has one prompt.
MaybeError read_prompt(element value, PromptBuilder& prompt, bool nested = false) {
  constexpr std::string_view kExpected = "a string or an array of token ids";
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return prompt.add_text(text), std::nullopt;
  array items;
  if (value.get(items) != simdjson::SUCCESS) return type_error("prompt", type_name(value), kExpected);
  std::size_t prompts = 0;
  for (const element item : items) {
    std::uint64_t id = 0;
    if (item.get(id) == simdjson::SUCCESS) {
      prompt.add_token(id);
    } else if (nested || ++prompts > 1) {
      return type_error("prompt", "more than one prompt, or a mixture",
                        "one prompt: a string or an array of token ids");
    } else if (MaybeError error = read_prompt(item, prompt, true)) {
      return error;
    }
  }
  return std::nullopt;
}

MaybeError read_content(element value, PromptBuilder& prompt) {
  constexpr std::string_view kField = "messages.content";
  std::string_view text;
  if (value.is_null()) return std::nullopt;
  if (value.get(text) == simdjson::SUCCESS) return prompt.add_text(text), std::nullopt;
  array parts;
  if (value.get(parts) != simdjson::SUCCESS)
    return type_error(kField, type_name(value), "a string or an array of parts");
  for (const element part : parts) {
    if (part["type"].get(text) != simdjson::SUCCESS) return type_error(kField, "a part without a type", "a type");
    if (text != "text") return type_error(kField, fmt::format("a part of type {}", text), "parts of type text");
    if (part["text"].get(text) != simdjson::SUCCESS) return type_error(kField, "a part without text", "a text");
    prompt.add_text(text);
  }
  return std::nullopt;
}

MaybeError read_messages(element value, PromptBuilder& prompt) {
  array messages;
  if (value.get(messages) != simdjson::SUCCESS) return type_error("messages", type_name(value), "an array of messages");
  for (const element message : messages) {
    std::string_view role;
    element content;
    if (message["role"].get(role) != simdjson::SUCCESS)
      return type_error("messages", "a message without a role", "a role in each message");
    prompt.add_text(role);
    prompt.add_template(kMessageTokens);
    if (message["content"].get(content) != simdjson::SUCCESS) continue;  // an assistant message with only tool calls
    if (MaybeError error = read_content(content, prompt)) return error;
  }
  return std::nullopt;
}

MaybeError read_stream_options(element value, CompletionRequest& out) {
  object options;
  if (value.get(options) != simdjson::SUCCESS) return type_error("stream_options", type_name(value), "an object");
  for (const auto& [name, option] : options) {
    if (option.is_null()) continue;
    bool flag = false;
    if (name != "include_usage" && name != "continuous_usage_stats") continue;
    if (MaybeError error = read_flag(fmt::format("stream_options.{}", name), option, flag)) return error;
    if (name == "include_usage") out.include_usage = flag;
    if (name == "continuous_usage_stats" && flag) {
      return ApiError{400, "continuous_usage_stats is not currently supported by this emulated engine",
                      "stream_options"};
    }
  }
  return std::nullopt;
}

/// The fields of a chat that belong together: a tool is called only if `tool_choice` allows it.
struct ToolFields {
  bool has_tools = false;
  bool is_none = false;

  void note(std::string_view name, element value) {
    simdjson::dom::array tools;
    std::string_view choice;
    if (name == "tools") has_tools = value.get(tools) == simdjson::SUCCESS && tools.size() > 0;
    if (name == "tool_choice") is_none = value.get(choice) == simdjson::SUCCESS && choice == "none";
  }
  /// Returns the answer of a vLLM that was started without a parser of tool calls, like this emulated engine.
  MaybeError error() const {
    if (!has_tools || is_none) return std::nullopt;
    return ApiError{400,
                    "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
                    {},
                    "Bad Request"};
  }
};

bool is_true(object fields, std::string_view name) {
  bool flag = false;
  return fields[name].get(flag) == simdjson::SUCCESS && flag;
}

MaybeError read_field(std::string_view name, element value, CompletionKind kind, CompletionRequest& out,
                      PromptBuilder& prompt) {
  const bool chat = kind == CompletionKind::chat;
  if (name == (chat ? "messages" : "prompt")) return chat ? read_messages(value, prompt) : read_prompt(value, prompt);
  if (value.is_null()) return std::nullopt;
  if (name == "model") {
    std::string_view model;
    if (value.get(model) != simdjson::SUCCESS) return type_error(name, type_name(value), "a string");
    out.model = model;
  } else if (name == "max_tokens" || (chat && name == "max_completion_tokens")) {
    return read_max_tokens(name, value, out.max_tokens.emplace());
  } else if (name == "min_tokens") {
    return read_min_tokens(value, out.min_tokens);
  } else if (name == "stop") {
    return read_stop(value, out.stop.strings);
  } else if (name == "include_stop_str_in_output") {
    return read_flag(name, value, out.stop.included);
  } else if (name == "ignore_eos") {
    return read_flag(name, value, out.ignore_eos);
  } else if (name == "stream") {
    return read_flag(name, value, out.stream);
  } else if (name == "stream_options") {
    return read_stream_options(value, out);
  } else if (name == "n") {
    return read_answers(value, kind);
  }
  return check_sampling_field(name, value, kind);
}

}  // namespace

struct CompletionReader::Parser {
  simdjson::dom::parser json;
};

CompletionReader::CompletionReader() : parser_(std::make_unique<Parser>()) {}
CompletionReader::~CompletionReader() = default;

std::expected<CompletionRequest, ApiError> CompletionReader::read(std::string_view body, CompletionKind kind) {
  element root;
  if (const auto error = parser_->json.parse(body.empty() ? "" : body.data(), body.size()).get(root);
      error != simdjson::SUCCESS) {
    return std::unexpected(
        ApiError{400, fmt::format("the body is not JSON: {}", simdjson::error_message(error)), {}, "Bad Request"});
  }
  object fields;
  if (root.get(fields) != simdjson::SUCCESS) {
    return std::unexpected(
        ApiError{400, fmt::format("the body is {}, expected an object", type_name(root)), {}, "Bad Request"});
  }
  CompletionRequest request;
  if (kind == CompletionKind::text) request.max_tokens = kDefaultMaxTokens;
  PromptBuilder prompt;
  bool has_stream_options = false;
  ToolFields tools;
  for (const auto& [name, value] : fields) {
    if (kind == CompletionKind::chat) tools.note(name, value);
    if (MaybeError error = read_field(name, value, kind, request, prompt)) return std::unexpected(std::move(*error));
    has_stream_options = has_stream_options || (name == "stream_options" && !value.is_null());
  }
  if (has_stream_options && !request.stream) {
    return std::unexpected(
        ApiError{400, "Stream options can only be defined when `stream=True`.", "stream_options", "Bad Request"});
  }
  if (kind == CompletionKind::chat && is_true(fields, "continue_final_message") &&
      is_true(fields, "add_generation_prompt")) {
    return std::unexpected(ApiError{
        400, "Cannot set both `continue_final_message` and `add_generation_prompt` to True.", {}, "Bad Request"});
  }
  if (MaybeError error = tools.error()) return std::unexpected(std::move(*error));
  request.prompt = prompt.take();
  if (request.prompt.tokens == 0) {
    if (kind == CompletionKind::chat)
      return std::unexpected(type_error("messages", "absent or empty", "at least one token"));
    return std::unexpected(
        ApiError{400, "Either prompt or prompt_embeds must be provided and non-empty.", "prompt", "Bad Request"});
  }
  return request;
}

}  // namespace capstan::emulator
