#include "emulator/completion_request.h"

#include <gtest/gtest.h>

namespace capstan::emulator {
namespace {

constexpr CompletionKind kText = CompletionKind::text;
constexpr CompletionKind kChat = CompletionKind::chat;

TEST(CompletionRequest, ReadsTheFieldsThatClientsSend) {
  CompletionReader reader;
  const auto text = reader.read(
      R"({"model":"m","prompt":"San Francisco is a","max_tokens":7,"min_tokens":2,"temperature":0.5,"stop":["x","y"],)"
      R"("stream":true,"stream_options":{"include_usage":true,"other":1},"ignore_eos":true,"logprobs":null})",
      kText);
  ASSERT_TRUE(text.has_value()) << text.error().message;
  EXPECT_EQ(text->model, "m");
  EXPECT_EQ(text->prompt.tokens, 6);
  EXPECT_EQ(text->max_tokens, 7);
  EXPECT_EQ(text->min_tokens, 2);
  EXPECT_TRUE(text->stream && text->include_usage && text->ignore_eos);
  EXPECT_EQ(text->stop.strings, (std::vector<std::string>{"x", "y"}));
  EXPECT_FALSE(text->stop.included);
  const auto one = reader.read(R"({"prompt":"a","stop":"\n","include_stop_str_in_output":true})", kText);
  EXPECT_EQ(one->stop.strings, std::vector<std::string>{"\n"});
  EXPECT_TRUE(one->stop.included);
  EXPECT_TRUE(reader.read(R"({"prompt":"a","stop":null})", kText)->stop.strings.empty());
  EXPECT_TRUE(reader.read(R"({"prompt":"a","stop":[]})", kText)->stop.strings.empty());

  EXPECT_EQ(reader.read(R"({"prompt":[5,6,70000]})", kText)->prompt.tokens, 3);
  EXPECT_EQ(reader.read(R"({"prompt":[[5,6]]})", kText)->prompt.tokens, 2);
  EXPECT_EQ(reader.read(R"({"prompt":["a b"]})", kText)->prompt.tokens, 2);
  EXPECT_EQ(reader.read(R"({"prompt":"a"})", kText)->max_tokens, 16);
  EXPECT_EQ(reader.read(R"({"prompt":"a","max_tokens":null,"n":1,"stream":null})", kText)->max_tokens, 16);
  EXPECT_TRUE(reader.read(R"({"messages":[{"role":"user","content":"a"}],"tools":[{}],"tool_choice":"none"})", kChat));
  EXPECT_TRUE(reader.read(R"({"messages":[{"role":"user","content":"a"}],"tools":[]})", kChat));

  const auto chat =
      reader.read(R"({"messages":[{"role":"user","content":"hello there"},{"role":"assistant","content":null},)"
                  R"({"role":"user","content":[{"type":"text","text":"go on"}]}],"max_completion_tokens":5})",
                  kChat);
  ASSERT_TRUE(chat.has_value()) << chat.error().message;
  EXPECT_EQ(chat->prompt.tokens, 4 + 1 + 2 + 2 + 4 + 3 + 4 + 1 +
                                     2);  // the text has 4 tokens: hell o ther e; a message adds 4 tokens and its role
  EXPECT_EQ(chat->max_tokens, 5);
  EXPECT_FALSE(reader.read(R"({"messages":[{"role":"user","content":"a"}]})", kChat)->max_tokens.has_value());
}

TEST(CompletionRequest, NamesTheInvalidFieldAndItsValue) {
  struct Row {
    CompletionKind kind;
    const char* body;
    const char* message;
    const char* parameter;
  };
  const Row rows[] = {
      {kText, "[]", "the body is an array, expected an object", ""},
      {kText, "{}", "Either prompt or prompt_embeds must be provided and non-empty.", "prompt"},
      {kChat, R"({"messages":[]})", "messages is absent or empty, expected at least one token", "messages"},
      {kText, R"({"prompt":5})", "prompt is an integer, expected a string or an array of token ids", "prompt"},
      {kText, R"({"prompt":["a","b"]})",
       "prompt is more than one prompt, or a mixture, expected one prompt: a string or an array of token ids",
       "prompt"},
      {kText, R"({"prompt":[[[1]]]})",
       "prompt is more than one prompt, or a mixture, expected one prompt: a string or an array of token ids",
       "prompt"},
      {kText, R"({"prompt":[-1]})", "prompt is an integer, expected a string or an array of token ids", "prompt"},
      {kText, R"({"prompt":"a","max_tokens":"5"})", "max_tokens is a string, expected an integer", "max_tokens"},
      {kText, R"({"prompt":"a","max_tokens":1.5})", "max_tokens is a number with a fraction, expected an integer",
       "max_tokens"},
      {kText, R"({"prompt":"a","max_tokens":0})",
       "max_tokens must be at least 1, got 0. (parameter=max_tokens, value=0)", "max_tokens"},
      {kChat, R"({"messages":[{"role":"user","content":"a"}],"max_completion_tokens":-1})",
       "max_tokens must be at least 1, got -1. (parameter=max_tokens, value=-1)", "max_tokens"},
      {kText, R"({"prompt":"a","min_tokens":-1})", "min_tokens must be greater than or equal to 0, got -1.", ""},
      {kText, R"({"prompt":"a","n":0})", "n must be at least 1, got 0.", ""},
      {kText, R"({"prompt":"a","stop":""})", "stop cannot contain an empty string.", ""},
      {kText, R"({"prompt":"a","stop":["done",""]})", "stop cannot contain an empty string.", ""},
      {kText, R"({"prompt":"a","stop":5})", "stop is an integer, expected a string or an array of strings", "stop"},
      {kText, R"({"prompt":"a","stop":[5]})",
       "stop is an integer in an array, expected a string or an array of strings", "stop"},
      {kText, R"({"prompt":"a","include_stop_str_in_output":1})",
       "include_stop_str_in_output is an integer, expected true or false", "include_stop_str_in_output"},
      {kText, R"({"prompt":"a","top_p":0})", "top_p must be in (0, 1], got 0.0. (parameter=top_p, value=0.0)", "top_p"},
      {kText, R"({"prompt":"a","stream_options":{"include_usage":true}})",
       "Stream options can only be defined when `stream=True`.", "stream_options"},
      {kText, R"({"prompt":"a","stream":true,"stream_options":{"continuous_usage_stats":true}})",
       "continuous_usage_stats is not currently supported by this emulated engine", "stream_options"},
      {kText, R"({"prompt":"a","stream":1})", "stream is an integer, expected true or false", "stream"},
      {kText, R"({"prompt":"a","stream_options":true})", "stream_options is a boolean, expected an object",
       "stream_options"},
      {kText, R"({"prompt":"a","model":{}})", "model is an object, expected a string", "model"},
      {kText, R"({"prompt":"a","n":2})", "n is not currently supported by this emulated engine", "n"},
      {kChat, R"({"messages":"a"})", "messages is a string, expected an array of messages", "messages"},
      {kChat, R"({"messages":[1]})", "messages is a message without a role, expected a role in each message",
       "messages"},
      {kChat, R"({"messages":[{"role":"user","content":5}]})",
       "messages.content is an integer, expected a string or an array of parts", "messages.content"},
      {kChat, R"({"messages":[{"role":"user","content":[{"type":"image_url"}]}]})",
       "messages.content is a part of type image_url, expected parts of type text", "messages.content"},
      {kChat, R"({"messages":[{"role":"user","content":"a"}],"tools":[{"type":"function"}]})",
       "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set", ""},
      {kChat,
       R"({"messages":[{"role":"user","content":"a"}],"continue_final_message":true,"add_generation_prompt":true})",
       "Cannot set both `continue_final_message` and `add_generation_prompt` to True.", ""},
  };
  CompletionReader reader;
  for (const Row& row : rows) {
    const auto request = reader.read(row.body, row.kind);
    ASSERT_FALSE(request.has_value()) << row.body;
    EXPECT_EQ(request.error().status, 400);
    EXPECT_EQ(request.error().message, row.message) << row.body;
    EXPECT_EQ(request.error().parameter, row.parameter) << row.body;
  }
  for (const std::string& body : {std::string(), std::string("{"), std::string("{\"prompt\":\"\xff\"}"),
                                  std::string("{\"prompt\":1e999}"), std::string(5000, '[')}) {
    const auto request = reader.read(body, kText);
    ASSERT_FALSE(request.has_value());
    EXPECT_TRUE(request.error().message.starts_with("the body is not JSON: ")) << request.error().message;
  }
}

}  // namespace
}  // namespace capstan::emulator
