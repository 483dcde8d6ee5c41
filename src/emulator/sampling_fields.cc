#include "emulator/sampling_fields.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <limits>

#include "emulator/type_error.h"

namespace capstan::emulator {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr double kNoBound = std::numeric_limits<double>::infinity();

/// A number that vLLM restricts to a range, with vLLM's text for the range. Source:
/// https://github.com/vllm-project/vllm/blob/main/vllm/sampling_params.py
struct Range {
  std::string_view name;
  double low;
  double high;
  bool excludes_low;  ///< the lower bound itself is refused
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

/// Formats a number as Python does: 0.0 and 1.5 for a float, 0 for an integer.
std::string python_number(double value, bool integer) {
  std::string text = fmt::format("{}", value);
  const bool whole = text.find_first_of(".en") == text.npos;
  return whole && !integer ? text + ".0" : text;
}

std::optional<ApiError> check_range(const Range& range, element value) {
  double number = 0;
  if (value.get(number) != simdjson::SUCCESS) {
    return ApiError{400, fmt::format("{} is not a number, expected a number that {}", range.name, range.rule),
                    std::string(range.name), "Bad Request"};
  }
  const bool above_low = range.excludes_low ? number > range.low : number >= range.low;
  if (above_low && number <= range.high) return std::nullopt;
  const std::string text = python_number(number, range.name == "top_k");
  ApiError error{400, fmt::format("{} {}, got {}.", range.name, range.rule, text)};
  if (range.names_parameter) {
    error.parameter = range.name;
    error.message += fmt::format(" (parameter={}, value={})", range.name, text);
  }
  return error;
}

/// A field that vLLM accepts with values of one type only and that does not change how long an answer takes.
struct TypedField {
  enum class Type : std::uint8_t { integer, number, integers };
  std::string_view name;
  Type type;
  std::string_view expected;
};

constexpr TypedField kTypedFields[] = {
    {"seed", TypedField::Type::integer, "an integer"},
    {"top_k", TypedField::Type::integer, "an integer"},
    {"length_penalty", TypedField::Type::number, "a number"},
    {"stop_token_ids", TypedField::Type::integers, "an array of integers"},
};

bool is_integer(element value) {
  std::int64_t number = 0;
  return value.get(number) == simdjson::SUCCESS;
}

bool has_type(TypedField::Type type, element value) {
  double number = 0;
  array list;
  switch (type) {
    case TypedField::Type::integer:
      return is_integer(value);
    case TypedField::Type::number:
      return value.get(number) == simdjson::SUCCESS;
    case TypedField::Type::integers:
      return value.get(list) == simdjson::SUCCESS && std::ranges::all_of(list, is_integer);
  }
  return true;
}

/// The values of a field that an emulated engine does not support.
enum class UnsupportedValues : std::uint8_t {
  all,
  not_false,          ///< all but false
  not_empty,          ///< all but an empty list or object
  above_one,          ///< counts above 1
  above_zero,         ///< counts above 0
  not_false_in_chat,  ///< in a chat, all but false (the field is a flag there); in a text completion, all
  not_type_text,      ///< all but an object whose `type` is "text"
  tool_choice,        ///< all but "none" and "auto"
};

struct UnsupportedField {
  std::string_view name;
  UnsupportedValues values;
};

constexpr UnsupportedField kUnsupportedFields[] = {
    {"suffix", UnsupportedValues::all},
    {"echo", UnsupportedValues::not_false},
    {"best_of", UnsupportedValues::above_one},
    {"n", UnsupportedValues::above_one},
    {"use_beam_search", UnsupportedValues::not_false},
    {"logprobs", UnsupportedValues::not_false_in_chat},
    {"top_logprobs", UnsupportedValues::above_zero},
    {"prompt_logprobs", UnsupportedValues::all},
    {"logit_bias", UnsupportedValues::not_empty},
    {"bad_words", UnsupportedValues::not_empty},
    {"allowed_token_ids", UnsupportedValues::not_empty},
    {"response_format", UnsupportedValues::not_type_text},
    {"structured_outputs", UnsupportedValues::all},
    {"guided_json", UnsupportedValues::all},
    {"guided_regex", UnsupportedValues::all},
    {"guided_choice", UnsupportedValues::all},
    {"guided_grammar", UnsupportedValues::all},
    {"tool_choice", UnsupportedValues::tool_choice},
    {"prompt_embeds", UnsupportedValues::all},
    {"truncate_prompt_tokens", UnsupportedValues::all},
    {"chat_template", UnsupportedValues::all},
    {"logits_processors", UnsupportedValues::not_empty},
    {"return_token_ids", UnsupportedValues::not_false},
    {"return_tokens_as_token_ids", UnsupportedValues::not_false},
};

bool is_count_above(element value, std::int64_t limit) {
  std::int64_t count = 0;
  return value.get(count) == simdjson::SUCCESS && count > limit;
}

bool is_filled(element value) {
  array list;
  object mapping;
  if (value.get(list) == simdjson::SUCCESS) return list.size() > 0;
  if (value.get(mapping) == simdjson::SUCCESS) return mapping.size() > 0;
  return true;
}

bool is_unsupported(UnsupportedValues values, element value, CompletionKind kind) {
  bool flag = false;
  std::string_view word;
  const bool is_false = value.get(flag) == simdjson::SUCCESS && !flag;
  switch (values) {
    case UnsupportedValues::all:
      return true;
    case UnsupportedValues::not_false:
      return !is_false;
    case UnsupportedValues::not_empty:
      return is_filled(value);
    case UnsupportedValues::above_one:
      return is_count_above(value, 1);
    case UnsupportedValues::above_zero:
      return is_count_above(value, 0);
    case UnsupportedValues::not_false_in_chat:
      return kind == CompletionKind::text || !is_false;
    case UnsupportedValues::not_type_text:
      return value["type"].get(word) != simdjson::SUCCESS || word != "text";
    case UnsupportedValues::tool_choice:
      return value.get(word) != simdjson::SUCCESS || (word != "none" && word != "auto");
  }
  return true;
}

}  // namespace

std::optional<ApiError> check_sampling_field(std::string_view name, const element& value, CompletionKind kind) {
  if (std::string_view salt; name == "cache_salt" && (value.get(salt) != simdjson::SUCCESS || salt.empty())) {
    return ApiError{400, "Parameter 'cache_salt' must be a non-empty string if provided.", "cache_salt"};
  }
  for (const TypedField& field : kTypedFields) {
    if (field.name != name || has_type(field.type, value)) continue;
    return type_error(name, value.is_array() ? "an array of other values" : type_name(value), field.expected);
  }
  for (const Range& range : kRanges) {
    if (range.name == name) return check_range(range, value);
  }
  for (const UnsupportedField& field : kUnsupportedFields) {
    if (field.name != name || !is_unsupported(field.values, value, kind)) continue;
    return ApiError{400, fmt::format("{} is not currently supported by this emulated engine", name), std::string(name)};
  }
  return std::nullopt;
}

}  // namespace capstan::emulator
