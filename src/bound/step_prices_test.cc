#include "bound/step_prices.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "bound/request_price.h"
#include "engine/table.h"
#include "engine/work.h"

namespace capstan::bound {
namespace {

using namespace std::chrono_literals;
using engine::StepModel;

StepModel some_engine() {
  const auto& rows = engine::EngineTable::bundled().rows();
  const auto& row = rows[static_cast<std::size_t>(*rc::gen::inRange<int>(0, static_cast<int>(rows.size())))];
  return StepModel(engine::perturbed(row.coefficients, *rc::gen::arbitrary<std::uint64_t>()));
}

StepLimits some_limits() {
  StepLimits limits;
  limits.max_seqs = *rc::gen::element<std::int64_t>(1, 7, 64, 256, 300);
  limits.max_batched_tokens =
      std::max(limits.max_seqs, *rc::gen::element<std::int64_t>(1, 100, 512, 2048, 8192, 20'000));
  limits.max_context_tokens = *rc::gen::element<std::int64_t>(2, 300, 4000, 100'000);
  limits.kv_tokens = limits.max_context_tokens + *rc::gen::element<std::int64_t>(0, 10'000, 400'000, 1'000'000'000);
  limits.tpot = *rc::gen::element<Duration>(0ns, 5ms, 20ms, 50ms, 200ms, 10s);
  return limits;
}

WorkTotals some_totals() {
  const auto amount = [] { return static_cast<double>(*rc::gen::element(0, 1, 30, 1000)); };
  WorkTotals totals{.prompts = {}, .decode_tokens = amount() + 1, .kv_tokens = amount() * 1000};
  for (WorkTotals::Prompts& prompts : totals.prompts) prompts = {amount(), amount() / 100};
  return totals;
}

/// A step and its counted part: some of its sequences and prompts. The rest belongs to other requests. Each counted
/// prompt is complete, except that a full step may contain only the beginning of its last prompt.
struct PartlyCountedStep {
  StepWork work;
  StepWork counted;
  double prompts = 0;  // price of the counted prompts
};

void add_prompts(PartlyCountedStep& step, std::int64_t room, const StepPrices& prices) {
  const bool full = room > 0 && *rc::gen::arbitrary<bool>();
  const std::int64_t least = step.work.decoding == 0 ? 1 : 0;
  std::int64_t left = full ? room : std::min(room, *rc::gen::inRange<std::int64_t>(least, room + 2));
  while (left > 0) {
    const bool last = *rc::gen::inRange(0, 4) == 0;
    const std::int64_t tokens = last ? left : *rc::gen::inRange<std::int64_t>(1, left + 1);
    const std::int64_t pairs = engine::doubled_pairs({tokens, *rc::gen::inRange<std::int64_t>(0, 10'000)});
    left -= tokens;
    step.work.prompt_tokens += tokens;
    step.work.doubled_pairs += pairs;
    ++step.work.prompts;
    if (*rc::gen::inRange(0, 4) == 0) continue;  // belongs to another request
    step.counted.doubled_pairs += pairs;
    ++step.counted.prompts;
    const double begun = prices.begun_token() * static_cast<double>(tokens);
    step.prompts += left == 0 && full ? begun : prices.prompt(tokens);
  }
}

PartlyCountedStep partly_counted_step(const StepLimits& limits, const StepPrices& prices) {
  PartlyCountedStep step;
  step.work.decoding = *rc::gen::inRange<std::int64_t>(0, limits.max_seqs + 1);
  step.counted.decoding =
      std::max<std::int64_t>(0, step.work.decoding - *rc::gen::element<std::int64_t>(0, 0, 1, 9, 200));
  const std::int64_t counted = step.counted.decoding;
  const std::int64_t most = std::max(counted, std::min(limits.kv_tokens, counted * limits.max_context_tokens));
  step.counted.kv_tokens = *rc::gen::inRange<std::int64_t>(counted, most + 1);
  step.work.kv_tokens = step.counted.kv_tokens + step.work.decoding - counted;
  add_prompts(step, limits.max_batched_tokens - step.work.decoding, prices);
  return step;
}

RC_GTEST_PROP(StepPrices, NoAdmissibleStepDoesMorePricedWorkThanItTakesTime, ()) {
  const StepModel model = some_engine();
  const StepLimits limits = some_limits();
  const StepPrices prices = best_prices(model, limits, some_totals());
  RC_ASSERT(prices.decode_token_ps >= 0.0);
  RC_ASSERT(prices.kv_token_ps >= 0.0);
  for (int i = 0; i < 50; ++i) {
    const PartlyCountedStep step = partly_counted_step(limits, prices);
    const StepWork& work = step.work;
    const auto time = static_cast<double>(
        model.step_ps(work.decoding, work.kv_tokens, work.prompt_tokens, work.doubled_pairs, work.prompts));
    RC_ASSERT(step.prompts + prices.other_work(step.counted) <=
              prices.allowed(time, step.counted.decoding, limits.tpot));
  }
}

/// An Azure request with 1155 input and 211 output tokens.
constexpr KnownRequest kAzure{.arrival = {}, .input_tokens = 1155, .output_tokens = 211, .cached_tokens = 0};

double price_of(const StepModel& model, const StepLimits& limits) {
  const WorkTotals totals{.prompts = {{{1155, 1}}}, .decode_tokens = 210, .kv_tokens = 210 * 1260.0};
  const RequestPrice price(best_prices(model, limits, totals), limits.tpot);
  return price.prefill_ps(kAzure) + price.decode_ps(kAzure);
}

TEST(StepPrices, ExceedTheUsefulWorkOfTheScore) {
  const auto row = engine::EngineTable::bundled().find("Llama-3.3-70B", "H100", 4, "bf16");
  const StepModel model((*row)->coefficients);
  const StepLimits limits{8192, 256, *engine::kv_capacity_blocks(**row) * 16, 8000, {}};
  const engine::RequestWork useful(model, 8192, 256, 1);
  const double price = price_of(model, limits);
  EXPECT_GT(price, static_cast<double>(useful.gpu_ps(1155, 211)));
  // A request that runs alone takes far longer, because the prices assume the best batch.
  EXPECT_LT(price, 0.2 * static_cast<double>(model.decode_steps_ps(1, 1156, 210)));
}

TEST(StepPrices, AStricterTpotRaisesThem) {
  const auto row = engine::EngineTable::bundled().find("Llama-3.1-8B", "L40S", 1, "bf16");
  const StepModel model((*row)->coefficients);
  StepLimits limits{8192, 256, *engine::kv_capacity_blocks(**row) * 16, 8000, {}};
  const double unbounded = price_of(model, limits);
  limits.tpot = 200ms;
  const double slow = price_of(model, limits);
  limits.tpot = 40ms;
  const double quick = price_of(model, limits);
  EXPECT_GE(slow, unbounded * 0.999);
  EXPECT_GT(quick, 1.05 * slow);
}

}  // namespace
}  // namespace capstan::bound
