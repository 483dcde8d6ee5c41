#include "bound/step_corners.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/table.h"

namespace capstan::bound {
namespace {

constexpr StepLimits kSmall{
    .max_batched_tokens = 600, .max_seqs = 40, .kv_tokens = 3000, .max_context_tokens = 500, .tpot = {}};

std::vector<StepCorner> corners_of(const char* model_name) {
  const auto row = engine::EngineTable::bundled().find(model_name, "H100", 1, "bf16");
  return step_corners(engine::StepModel((*row)->coefficients), kSmall);
}

TEST(StepCorners, AreAdmissibleSteps) {
  for (const StepCorner& corner : corners_of("Llama-3.1-8B")) {
    const StepWork& work = corner.work;
    ASSERT_GE(work.decoding + work.prompt_tokens, 1);
    ASSERT_LE(work.decoding, 40);
    ASSERT_LE(work.decoding + work.prompt_tokens, 600);
    ASSERT_LE(work.kv_tokens, std::max<std::int64_t>(work.decoding, std::min<std::int64_t>(3000, 500 * work.decoding)));
    ASSERT_LT(corner.kind, kCornerKinds);
  }
}

TEST(StepCorners, IncludeEveryBatchAloneAndWithItsLongestPrompt) {
  std::set<std::int64_t> alone, with_prompt;
  for (const StepCorner& corner : corners_of("Llama-3.1-8B")) {
    if (corner.work.prompt_tokens == 0) alone.insert(corner.work.decoding);
    if (corner.work.prompt_tokens == 600 - corner.work.decoding) with_prompt.insert(corner.work.decoding);
  }
  EXPECT_EQ(alone.size(), 40u);
  EXPECT_EQ(with_prompt.size(), 41u);
}

/// In a mixture of experts, a prompt of one token takes long alone. It adds almost no time to a batch that already
/// loads all experts.
TEST(StepCorners, TakeTheLeastTimeOverAllOtherBatches) {
  const auto row = engine::EngineTable::bundled().find("Qwen3-30B-A3B", "H100", 1, "bf16");
  const engine::StepModel model((*row)->coefficients);
  bool shorter = false;
  for (const StepCorner& corner : corners_of("Qwen3-30B-A3B")) {
    const StepWork& work = corner.work;
    const auto own =
        static_cast<double>(model.step_ps(work.decoding, work.kv_tokens, work.prompt_tokens, 0, work.prompts));
    ASSERT_LE(corner.time_ps, own);
    shorter = shorter || corner.time_ps < own;
  }
  EXPECT_TRUE(shorter);
}

}  // namespace
}  // namespace capstan::bound
