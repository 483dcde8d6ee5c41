#include "plan/measure/measurable_metrics.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

TEST(MeasurableMetrics, AreThoseOfTheEngine) {
  const struct {
    Engine engine;
    const char* finished;
    const char* prompt_lengths;  // empty: the engine has no histogram
    const char* model_label;
  } rows[] = {
      {Engine::vllm, "vllm:request_success_total", "vllm:request_prompt_tokens", "model_name"},
      {Engine::sglang, "sglang:num_requests_total", "sglang:prompt_tokens_histogram", "model_name"},
      {Engine::tensorrt_llm, "trtllm_request_success_total", "", "model_name"},
      {Engine::triton, "nv_inference_request_success", "nv_llm_input_token_len", "model"},
  };
  for (const auto& row : rows) {
    const MeasurableMetrics metrics = measurable_metrics(row.engine);
    EXPECT_EQ(metrics.finished.front().name, row.finished);
    EXPECT_EQ(metrics.model_label, row.model_label) << row.finished;
    EXPECT_EQ(metrics.prompt_lengths.empty() ? "" : metrics.prompt_lengths.front().name, row.prompt_lengths);
    EXPECT_EQ(metrics.answer_lengths.empty(), metrics.prompt_lengths.empty()) << row.finished;
  }
  EXPECT_EQ(measurable_metrics(Engine::tensorrt_llm).prompt_tokens.front().name, "trtllm_prompt_tokens_total");
}

TEST(MeasurableMetrics, CountTheWholeQueueOnce) {
  const MeasurableMetrics metrics = measurable_metrics(Engine::vllm);
  ASSERT_EQ(metrics.waiting.size(), 1u);
  EXPECT_EQ(metrics.waiting.front().name, "vllm:num_requests_waiting");
}

TEST(MeasurableMetrics, KnowTheSpellingsOfGateways) {
  EXPECT_EQ(spelling_pattern("vllm:request_success_total"), "(kserve_)?vllm[:_]request_success_total");
  EXPECT_TRUE(is_spelling_of("vllm_request_success_total", "vllm:request_success_total"));
  EXPECT_TRUE(is_spelling_of("kserve_vllm:request_success_total", "vllm:request_success_total"));
  EXPECT_FALSE(is_spelling_of("vllm:request_success", "vllm:request_success_total"));
}

}  // namespace
}  // namespace capstan::plan
