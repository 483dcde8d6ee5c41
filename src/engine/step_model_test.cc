#include "engine/step_model.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "engine/table.h"
#include "engine/work.h"

namespace capstan::engine {
namespace {

StepModel llama_8b_h100() {
  const auto row = EngineTable::bundled().find("Llama-3.1-8B", "H100", 1, "bf16");
  EXPECT_TRUE(row.has_value());
  return StepModel((*row)->coefficients);
}

const EngineRow& any_row() {
  const auto& rows = EngineTable::bundled().rows();
  return rows[static_cast<std::size_t>(*rc::gen::inRange<int>(0, static_cast<int>(rows.size())))];
}

TEST(StepModel, FollowsTheFormula) {
  // Rounded coefficients of the table: F[32] = 6.41 ms, a0 = 0.35 ms, aB = 5.7 us, aK = 0.0405 us, t_req = 40 us. The
  // batch has B = 32 sequences and K = 32000 KV tokens.
  const StepModel model = llama_8b_h100();
  const double decode_ms = static_cast<double>(model.decode_step_ps(32, 32'000)) / 1e9;
  EXPECT_NEAR(decode_ms, 6.41 + 0.35 + 32 * 0.0057 + 32'000 * 0.0000405 + 32 * 0.040, 0.01);
  // A step with only 2048 prompt tokens takes 1.25 x (40.6 + 0.52 + 0.885e-6 x 2048² / 2) + 0.04 ms.
  const PrefillChunk prompt{2048, 0};
  const double prefill_ms = static_cast<double>(model.step_ps(0, 0, {&prompt, 1})) / 1e9;
  EXPECT_NEAR(prefill_ms, 1.25 * (40.6 + 0.52 + 0.885e-6 * 2048 * 1024) + 0.04, 0.1);
}

TEST(StepModel, APromptAloneTakesTheSumOfItsSteps) {
  const StepModel model = llama_8b_h100();
  const PrefillChunk first{2048, 0}, second{952, 2048};
  EXPECT_EQ(model.prefill_alone_ps(3000, 0, 2048),
            model.step_ps(0, 0, {&first, 1}) + model.step_ps(0, 0, {&second, 1}));
  EXPECT_EQ(model.prefill_alone_ps(3000, 2048, 2048), model.step_ps(0, 0, {&second, 1}));
  EXPECT_EQ(model.prefill_alone_ps(3000, 3000, 2048), 0);
}

TEST(StepModel, InterpolatesBetweenGridPointsAndExtrapolatesBeyond) {
  const StepModel model = llama_8b_h100();
  const auto& f = model.coefficients().linear_ps;
  EXPECT_EQ(model.linear_ps(0), 0);
  EXPECT_EQ(model.linear_ps(1), f[0]);
  EXPECT_EQ(model.linear_ps(48), f[3] + (f[4] - f[3]) * 16 / 32);
  EXPECT_EQ(model.linear_ps(3072), f[9] + (f[10] - f[9]) * 1024 / 2048);
  EXPECT_EQ(model.linear_ps(12'288), f[10] + (f[11] - f[10]) * 8192 / 4096);
}

RC_GTEST_PROP(StepModel, ASeriesTakesTheSumOfItsSteps, ()) {
  const StepModel model(perturbed(any_row().coefficients, *rc::gen::arbitrary<std::uint64_t>()));
  const std::int64_t requests = *rc::gen::inRange<std::int64_t>(1, 1200);
  const std::int64_t kv = *rc::gen::inRange<std::int64_t>(requests, 1'000'000);
  const std::int64_t steps = *rc::gen::inRange<std::int64_t>(0, 300);
  Picoseconds sum = 0;
  for (std::int64_t i = 0; i < steps; ++i) sum += model.decode_step_ps(requests, kv + i * requests);
  RC_ASSERT(model.decode_steps_ps(requests, kv, steps) == sum);
  RC_ASSERT(model.decode_steps_within(requests, kv, sum) == steps);
  if (steps > 0) {
    RC_ASSERT(model.decode_steps_within(requests, kv, sum - 1) == steps - 1);
  }
}

RC_GTEST_PROP(StepModel, MoreWorkTakesLonger, ()) {
  const StepModel model(any_row().coefficients);
  const std::int64_t requests = *rc::gen::inRange<std::int64_t>(0, 300);
  const std::int64_t kv = *rc::gen::inRange<std::int64_t>(0, 1'000'000);
  const PrefillChunk chunk{*rc::gen::inRange<std::int64_t>(1, 10'000), *rc::gen::inRange<std::int64_t>(0, 100'000)};
  const PrefillChunk longer{chunk.tokens + 1, chunk.computed};
  const Picoseconds step = model.step_ps(requests, kv, {&chunk, 1});
  RC_ASSERT(step <= model.step_ps(requests, kv, {&longer, 1}));
  if (requests > 0) {
    RC_ASSERT(step > model.decode_step_ps(requests, kv));
  }
}

RC_GTEST_PROP(RequestWork, NeverPricesAStepAboveItsTime, ()) {
  const StepModel model(perturbed(any_row().coefficients, *rc::gen::arbitrary<std::uint64_t>()));
  const RequestWork work(model, 8192, 256, 1);
  const std::int64_t requests = *rc::gen::inRange<std::int64_t>(0, 257);
  const std::int64_t context = *rc::gen::inRange<std::int64_t>(1, 20'000);
  const std::int64_t budget = 8192 - requests;
  std::vector<PrefillChunk> chunks;
  Picoseconds price = requests * work.decode_gpu_ps(1, context);
  std::int64_t remaining = *rc::gen::inRange<std::int64_t>(requests == 0 ? 1 : 0, budget + 1);
  while (remaining > 0) {
    const std::int64_t tokens = *rc::gen::inRange<std::int64_t>(1, remaining + 1);
    chunks.push_back({tokens, *rc::gen::inRange<std::int64_t>(0, 10'000)});
    price += work.prefill_gpu_ps(tokens, chunks.back().computed);
    remaining -= tokens;
  }
  RC_ASSERT(price <= model.step_ps(requests, requests * context, chunks));
}

TEST(RequestWork, PricesARequestFarBelowItsTimeAlone) {
  const StepModel model = llama_8b_h100();
  const RequestWork work(model, 8192, 256, 1);
  const PrefillChunk prompt{1155, 0};
  const Picoseconds alone = model.step_ps(0, 0, {&prompt, 1}) + model.decode_steps_ps(1, 1156, 210);
  EXPECT_LT(work.gpu_ps(1155, 211) * 10, alone);
  EXPECT_GT(work.gpu_ps(1155, 211), 30'000'000'000);  // 24 ms of prefill and 210 tokens at about 70 us
  const RequestWork two(model, 8192, 256, 2);
  EXPECT_EQ(two.gpu_ps(1155, 211), 2 * work.gpu_ps(1155, 211));
  EXPECT_LT(work.gpu_ps(1155, 211, 1024), work.gpu_ps(1155, 211));
}

}  // namespace
}  // namespace capstan::engine
