#include "emulator/sampling_fields.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <limits>

namespace capstan::emulator {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr double kNoBound = std::numeric_limits<double>::infinity();

/// A number that vLLM bounds, and vLLM's words for the bound:
/// https://github.com/vllm-project/vllm/blob/main/vllm/sampling_params.py
struct Range {
  std::string_view name;
  double low;
  double high;
  bool low_is_out;  ///< the lower bound itself is refused
  std::string_view rule;
  bool names_parameter;  ///< the error has a `param`
};

constexpr Range kRanges[] = {
    {"temperature", 0, kNoBound, false, "must be non-negative", true},
    {"top_p", 0, 1, true, "must be in (0, 1]", true},
    {"min_p", 0, 1, false, "must be in [0, 1]", false},
    {"presence_penalty", -2, 2, false, "must be in [-2, 2]", false},
    {"frequency_penalty", -2, 2, false, "must be in [-2, 2]", false},
    {"repetition_penalty", 0, kNoBound, true, "must be greater than zero", false},
    {"top_k", -1, kNoBound, false, "must be 0 (disable), or at least 1", false},
};

/// Returns a number as Python writes it: 0.0 and 1.5 for a float, 0 for an integer.
std::string python_number(double value, bool integer) {
  std::string text = fmt::format("{}", value);
  const bool whole = text.find_first_of(".en") == text.npos;
  return whole && !integer ? text + ".0" : text;
}

std::optional<ApiError> check_range(const Range& range, element value) {
  double number = 0;
  if (value.get(number) != simdjson::SUCCESS) {
    return ApiError{400, fmt::format("{} is no number, expected one that {}", range.name, range.rule),
                    std::string(range.name), "Bad Request"};
  }
  const bool above_low = range.low_is_out ? number > range.low : number >= range.low;
  if (above_low && number <= range.high) return std::nullopt;
  const std::string shown = python_number(number, range.name == "top_k");
  ApiError error{400, fmt::format("{} {}, got {}.", range.name, range.rule, shown)};
  if (range.names_parameter) {
    error.parameter = range.name;
    error.message += fmt::format(" (parameter={}, value={})", range.name, shown);
  }
  return error;
}

/// The values of a field with which it asks for an answer that an emulated engine does not give.
enum class Asks : std::uint8_t {
  always,         ///< whatever its value
  if_true,        ///< unless it is false
  if_filled,      ///< unless it is an empty list or object
  above_one,      ///< a count above 1
  above_zero,     ///< a count above 0
  if_true_chat,   ///< a flag in a chat; in a text completion a count, which asks always
  if_not_text,    ///< an object whose `type` is not "text"
  if_it_chooses,  ///< a word other than "none" and "auto", or an object
};

struct Unsupported {
  std::string_view name;
  Asks asks;
};

constexpr Unsupported kUnsupported[] = {
    {"suffix", Asks::always},
    {"echo", Asks::if_true},
    {"best_of", Asks::above_one},
    {"n", Asks::above_one},
    {"use_beam_search", Asks::if_true},
    {"logprobs", Asks::if_true_chat},
    {"top_logprobs", Asks::above_zero},
    {"prompt_logprobs", Asks::always},
    {"logit_bias", Asks::if_filled},
    {"bad_words", Asks::if_filled},
    {"allowed_token_ids", Asks::if_filled},
    {"response_format", Asks::if_not_text},
    {"structured_outputs", Asks::always},
    {"guided_json", Asks::always},
    {"guided_regex", Asks::always},
    {"guided_choice", Asks::always},
    {"guided_grammar", Asks::always},
    {"tool_choice", Asks::if_it_chooses},
    {"prompt_embeds", Asks::always},
    {"truncate_prompt_tokens", Asks::always},
    {"return_token_ids", Asks::if_true},
    {"return_tokens_as_token_ids", Asks::if_true},
};

bool is_count_above(element value, std::int64_t most) {
  std::int64_t count = 0;
  return value.get(count) == simdjson::SUCCESS && count > most;
}

bool is_filled(element value) {
  array list;
  object mapping;
  if (value.get(list) == simdjson::SUCCESS) return list.size() > 0;
  if (value.get(mapping) == simdjson::SUCCESS) return mapping.size() > 0;
  return true;
}

bool asks(Asks when, element value, CompletionKind kind) {
  bool flag = false;
  std::string_view word;
  const bool is_false = value.get(flag) == simdjson::SUCCESS && !flag;
  switch (when) {
    case Asks::always:
      return true;
    case Asks::if_true:
      return !is_false;
    case Asks::if_filled:
      return is_filled(value);
    case Asks::above_one:
      return is_count_above(value, 1);
    case Asks::above_zero:
      return is_count_above(value, 0);
    case Asks::if_true_chat:
      return kind == CompletionKind::text || !is_false;
    case Asks::if_not_text:
      return value["type"].get(word) != simdjson::SUCCESS || word != "text";
    case Asks::if_it_chooses:
      return value.get(word) != simdjson::SUCCESS || (word != "none" && word != "auto");
  }
  return true;
}

}  // namespace

std::optional<ApiError> check_sampling_field(std::string_view name, const element& value, CompletionKind kind) {
  for (const Range& range : kRanges) {
    if (range.name == name) return check_range(range, value);
  }
  for (const Unsupported& field : kUnsupported) {
    if (field.name != name || !asks(field.asks, value, kind)) continue;
    return ApiError{400, fmt::format("{} is not currently supported by this emulated engine", name), std::string(name)};
  }
  return std::nullopt;
}

}  // namespace capstan::emulator
