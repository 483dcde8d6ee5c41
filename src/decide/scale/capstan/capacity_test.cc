// Goal: the estimated capacity of a replica changes in the right direction with each of its inputs.
#include "decide/scale/capstan/capacity.h"

#include <gtest/gtest.h>

namespace capstan::decide::scale {
namespace {

using std::chrono::milliseconds;

const engine::EngineRow& llama() {
  return **engine::EngineTable::bundled().find("Llama-3.1-8B", "H100", 1, "bfloat16");
}

Capacity carries(Duration ttft, Duration tpot, std::int64_t correction_ppm = 1'000'000, double prompt = 1024) {
  Shape shape;
  shape.prompt = shape.context = prompt;
  return capacity(estimate_engine(&llama(), correction_ppm), shape, {}, {.ttft = ttft, .tpot = tpot, .e2e = {}});
}

TEST(Capacity, IsTheLargestBatchThatHoldsTheTimeBetweenTokens) {
  Shape shape;
  const EngineEstimate engine = estimate_engine(&llama(), 1'000'000);
  const Capacity found = carries({}, milliseconds(30));
  EXPECT_EQ(found.bound, Sizing::Bound::tpot);
  const auto with_margin = [&](std::int64_t batch) {
    const auto b = static_cast<double>(batch);
    return token_seconds(engine, shape, b) + 2 * token_deviation(engine, shape, b);
  };
  EXPECT_LE(with_margin(found.batch), 0.030);
  EXPECT_GT(with_margin(found.batch + 1), 0.030);
}

TEST(Capacity, FallsWithAStricterSloALongerPromptAndASlowerEngine) {
  const Capacity plain = carries(milliseconds(1000), milliseconds(50));
  EXPECT_LT(carries(milliseconds(1000), milliseconds(25)).batch, plain.batch);
  EXPECT_LE(carries(milliseconds(150), milliseconds(50)).batch, plain.batch);
  EXPECT_LT(carries(milliseconds(1000), milliseconds(50), 1'500'000).tokens_per_s, plain.tokens_per_s);
  EXPECT_LT(carries(milliseconds(1000), milliseconds(50), 1'000'000, 8192).batch, plain.batch);
}

TEST(Capacity, AnSloThatOneSequenceMissesDoesNotLimitTheBatch) {
  const Capacity found = carries({}, milliseconds(1));
  EXPECT_TRUE(found.out_of_reach);
  EXPECT_GT(found.batch, 1);
}

TEST(Capacity, WithoutSloBoundsMemoryOrTheSequenceLimitDecides) {
  const Capacity found = carries({}, {}, 1'000'000, 16'000);
  EXPECT_EQ(found.bound, Sizing::Bound::kv);
  EXPECT_EQ(carries({}, {}, 1'000'000, 100).bound, Sizing::Bound::sequences);
}

TEST(Capacity, AnEngineRunsAtMostItsConfiguredSequences) {
  Shape shape;
  shape.prompt = shape.context = 100;
  struct Row {
    std::int32_t max_seqs;
    std::int64_t batch;  // one standard deviation below the limit
  };
  for (const Row& row : {Row{0, 240}, Row{256, 240}, Row{64, 56}, Row{16, 12}, Row{4, 2}, Row{1, 1}}) {
    const EngineEstimate engine = estimate_engine(&llama(), 1'000'000, model::Role::both, {.max_seqs = row.max_seqs});
    const Capacity found = capacity(engine, shape, {}, {});
    EXPECT_EQ(found.batch, row.batch) << row.max_seqs;
    EXPECT_EQ(found.bound, Sizing::Bound::sequences);
  }
  const EngineEstimate few =
      estimate_engine(&llama(), 1'000'000, model::Role::both, {.max_seqs = 256, .max_batched_tokens = 100});
  EXPECT_EQ(few.sequences, 90) << "each sequence needs one token of a step";
}

TEST(Capacity, LargerStepsComputeALongPromptFaster) {
  Shape shape;
  shape.prompt = shape.context = 8192;
  const auto prompt_s = [&](std::int32_t tokens) {
    const EngineEstimate engine =
        estimate_engine(&llama(), 1'000'000, model::Role::prefill, {.max_batched_tokens = tokens});
    return capacity(engine, shape, {}, {}).token_s;
  };
  EXPECT_LT(prompt_s(8192), prompt_s(512));
}

Capacity carries_as(model::Role role, Duration ttft, Duration tpot, double prompt = 1024) {
  const EngineEstimate engine = estimate_engine(&llama(), 1'000'000, role);
  Shape shape;
  shape.prompt = shape.context = prompt;
  if (role == model::Role::prefill) {
    shape.output = 1;
    shape.prompt_per_output = prompt;
  }
  return capacity(engine, shape, {}, role_slo({.ttft = ttft, .tpot = tpot, .e2e = {}}, role));
}

TEST(Capacity, DecodeIsBoundByTpotAndComputesNoPrompt) {
  const Capacity both = carries(milliseconds(1000), milliseconds(30));
  const Capacity decode = carries_as(model::Role::decode, milliseconds(1), milliseconds(30));
  EXPECT_EQ(decode.prompt_s, 0);
  EXPECT_FALSE(decode.out_of_reach) << "decode does not compute first tokens";
  EXPECT_GT(decode.tokens_per_s, both.tokens_per_s);
}

TEST(Capacity, PrefillIsBoundByTtftAndDecodesNothing) {
  const Capacity lax = carries_as(model::Role::prefill, milliseconds(2000), milliseconds(1));
  EXPECT_EQ(lax.decode_s, 0);
  EXPECT_EQ(lax.bound, Sizing::Bound::ttft);
  EXPECT_FALSE(lax.out_of_reach) << "prefill does not compute further tokens";
  const Capacity strict = carries_as(model::Role::prefill, milliseconds(150), {});
  EXPECT_LT(strict.tokens_per_s, lax.tokens_per_s) << "a lower utilization keeps prompts from waiting too long";
  EXPECT_LT(strict.batch, lax.batch);
  EXPECT_TRUE(carries_as(model::Role::prefill, milliseconds(1), {}).out_of_reach);
  const Capacity longer = carries_as(model::Role::prefill, milliseconds(2000), {}, 4096);
  EXPECT_LT(longer.tokens_per_s * 3, lax.tokens_per_s)
      << "prompts four times as long take more than three times as long";
}

TEST(Capacity, APrefillReplicaMayHaveVeryLongPrompts) {
  const EngineEstimate engine = estimate_engine(&llama(), 1'000'000, model::Role::prefill);
  CapstanMemory memory;
  Load load;
  load.prompt_rate = 40'000;
  load.generated_rate = 1;  // one first token per second
  Shape shape;
  for (int i = 0; i < 100; ++i) shape = learn_shape(load, engine, std::chrono::seconds(15), memory);
  EXPECT_NEAR(shape.prompt, 40'000, 500);
  EXPECT_EQ(shape.output, 1);
}

TEST(Capacity, PrefillCapacityGrowsWithTtftWithoutACliff) {
  double before = 0;
  for (int ms = 10; ms <= 2000; ms = ms * 11 / 10) {
    const double now = carries_as(model::Role::prefill, milliseconds(ms), {}).tokens_per_s;
    EXPECT_GE(now, before) << ms << ": a laxer bound never lowers the capacity";
    if (before > 0) {
      EXPECT_LT(now, before * 1.35) << ms << ": a bound laxer by a tenth";
    }
    before = now;
  }
}

TEST(Capacity, WithoutATtftBoundPrefillGetsAThirdOfTheEndToEndBound) {
  const model::Slo slo{.e2e = std::chrono::seconds(9)};
  EXPECT_EQ(role_slo(slo, model::Role::prefill).ttft, std::chrono::seconds(3));
  EXPECT_EQ(role_slo(slo, model::Role::decode).e2e, std::chrono::seconds(9));
  const Capacity free = carries_as(model::Role::prefill, {}, {}, 100);
  EXPECT_EQ(free.bound, Sizing::Bound::sequences);
}

TEST(Capacity, TheTtftBoundMayGrowWithThePrompt) {
  const EngineEstimate engine = estimate_engine(&llama(), 1'000'000);
  const model::Slo slo{.ttft = milliseconds(100), .ttft_prefills_milli = 3'000};
  Shape shape;
  shape.prompt = 100;
  EXPECT_EQ(slo_for_mean_prompt(slo, engine, shape).ttft, milliseconds(100))
      << "three prefills of 3 ms are below the constant bound";
  shape.prompt = 16'000;
  EXPECT_GT(slo_for_mean_prompt(slo, engine, shape).ttft, milliseconds(900))
      << "an idle replica needs 0.4 s for the prefill";
}

TEST(Capacity, AnUnknownModelMayHaveALargerCorrection) {
  EXPECT_DOUBLE_EQ(estimate_engine(&llama(), 10'000'000).correction, 2);
  EXPECT_DOUBLE_EQ(estimate_engine(nullptr, 10'000'000).correction, 10);
  EXPECT_FALSE(estimate_engine(nullptr, 1).modelled);
}

}  // namespace
}  // namespace capstan::decide::scale
