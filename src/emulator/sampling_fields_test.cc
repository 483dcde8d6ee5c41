#include "emulator/sampling_fields.h"

#include <gtest/gtest.h>
#include <simdjson.h>

namespace capstan::emulator {
namespace {

constexpr CompletionKind kInText = CompletionKind::text, kInChat = CompletionKind::chat;

/// A field with a value, and the expected error of vLLM or of an emulated engine; empty if the value is accepted.
struct SamplingRow {
  CompletionKind kind;
  const char* name;
  const char* value;
  const char* message;
  const char* parameter;
};

constexpr SamplingRow kSamplingRows[] = {
    {kInText, "temperature", "-0.1", "temperature must be non-negative, got -0.1. (parameter=temperature, value=-0.1)",
     "temperature"},
    {kInText, "temperature", "0", "", ""},
    {kInText, "top_p", "1.1", "top_p must be in (0, 1], got 1.1. (parameter=top_p, value=1.1)", "top_p"},
    {kInText, "top_p", "0", "top_p must be in (0, 1], got 0.0. (parameter=top_p, value=0.0)", "top_p"},
    {kInText, "top_p", "1", "", ""},
    {kInText, "presence_penalty", "2.1", "presence_penalty must be in [-2, 2], got 2.1.", ""},
    {kInText, "frequency_penalty", "-2.1", "frequency_penalty must be in [-2, 2], got -2.1.", ""},
    {kInText, "frequency_penalty", "2", "", ""},
    {kInText, "repetition_penalty", "0", "repetition_penalty must be greater than zero, got 0.0.", ""},
    {kInText, "min_p", "-0.1", "min_p must be in [0, 1], got -0.1.", ""},
    {kInText, "top_k", "-2", "top_k must be 0 (disable), or at least 1, got -2.", ""},
    {kInText, "top_k", "-1", "", ""},
    {kInText, "temperature", "\"cold\"", "temperature is not a number, expected a number that must be non-negative",
     "temperature"},
    {kInText, "suffix", "\"x\"", "suffix is not currently supported by this emulated engine", "suffix"},
    {kInText, "echo", "true", "echo is not currently supported by this emulated engine", "echo"},
    {kInText, "echo", "false", "", ""},
    {kInText, "best_of", "1", "", ""},
    {kInText, "best_of", "2", "best_of is not currently supported by this emulated engine", "best_of"},
    {kInText, "logprobs", "0", "logprobs is not currently supported by this emulated engine", "logprobs"},
    {kInChat, "logprobs", "false", "", ""},
    {kInChat, "logprobs", "true", "logprobs is not currently supported by this emulated engine", "logprobs"},
    {kInChat, "top_logprobs", "0", "", ""},
    {kInChat, "logit_bias", "{}", "", ""},
    {kInChat, "logit_bias", "{\"5\":1}", "logit_bias is not currently supported by this emulated engine", "logit_bias"},
    {kInChat, "bad_words", "[\"x\"]", "bad_words is not currently supported by this emulated engine", "bad_words"},
    {kInChat, "response_format", "{\"type\":\"text\"}", "", ""},
    {kInChat, "response_format", "{\"type\":\"json_object\"}",
     "response_format is not currently supported by this emulated engine", "response_format"},
    {kInChat, "tool_choice", "\"auto\"", "", ""},
    {kInChat, "tool_choice", "\"required\"", "tool_choice is not currently supported by this emulated engine",
     "tool_choice"},
    {kInChat, "stop_token_ids", "[5]", "", ""},
    {kInChat, "stop_token_ids", "[\"x\"]", "stop_token_ids is an array of other values, expected an array of integers",
     "stop_token_ids"},
    {kInChat, "seed", "7", "", ""},
    {kInChat, "seed", "\"x\"", "seed is a string, expected an integer", "seed"},
    {kInChat, "top_k", "1.5", "top_k is a number with a fraction, expected an integer", "top_k"},
    {kInChat, "length_penalty", "1", "", ""},
    {kInChat, "length_penalty", "\"x\"", "length_penalty is a string, expected a number", "length_penalty"},
    {kInChat, "cache_salt", "\"\"", "Parameter 'cache_salt' must be a non-empty string if provided.", "cache_salt"},
    {kInChat, "cache_salt", "\"a\"", "", ""},
    {kInChat, "chat_template", "\"{{ x }}\"", "chat_template is not currently supported by this emulated engine",
     "chat_template"},
    {kInChat, "logits_processors", "[\"a.b\"]", "logits_processors is not currently supported by this emulated engine",
     "logits_processors"},
    {kInChat, "a_field_of_tomorrow", "{}", "", ""},
};

TEST(SamplingFields, AreCheckedAsVllmChecksThem) {
  simdjson::dom::parser parser;
  for (const SamplingRow& row : kSamplingRows) {
    const std::string text = row.value;
    simdjson::dom::element value;
    ASSERT_EQ(parser.parse(text).get(value), simdjson::SUCCESS) << text;
    const std::optional<ApiError> error = check_sampling_field(row.name, value, row.kind);
    EXPECT_EQ(error ? error->message : "", row.message) << row.name;
    EXPECT_EQ(error ? error->parameter : "", row.parameter) << row.name;
    EXPECT_TRUE(!error || error->status == 400) << row.name;
  }
}

}  // namespace
}  // namespace capstan::emulator
