#include "lint/misspelling.h"

#include <gtest/gtest.h>

namespace capstan::lint::misspelling_test {
namespace {

struct Row {
  std::string_view a, b;
  bool is_misspelt;
};

TEST(Misspelling, OneLetterInALongWordIsAMistakeAndAnotherNumberIsNot) {
  const Row rows[] = {
      {"vllm-chat", "vllm_chat", true},
      {"Llama-8B", "llama8b", true},
      {"llama", "lama", true},
      {"vllm-llama", "vllm-llamas", true},
      {"inference", "infernece", true},
      {"vllm-prefill", "vllm-prefiil", true},
      {"vllm-prefill", "vllm-decode", false},
      {"vllm", "vlm", false},
      {"vllm", "vllm", false},
      {"", "a", false},
      {"chat-a", "chat-b", false},
      {"chat", "that", false},
      {"llama-8b", "llama-7b", false},
      {"llama-8b", "llama-70b", false},
      {"llama-8b", "llama-8b-2", false},
      {"qwen25", "qwen2.5", true},
      {"blue", "green", false},
      {"model-east", "model-west", false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(is_misspelling(row.a, row.b), row.is_misspelt) << row.a << " " << row.b;
    EXPECT_EQ(is_misspelling(row.b, row.a), row.is_misspelt) << row.b << " " << row.a;
  }
}

}  // namespace
}  // namespace capstan::lint::misspelling_test
