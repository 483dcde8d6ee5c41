#include "emulator/engine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "base/random.h"
#include "emulator/testing.h"

namespace capstan::emulator {
namespace {

using namespace std::chrono_literals;

EngineSettings settings() {
  EngineSettings settings;
  settings.model = &small_model();
  settings.replica.kv_blocks = 1000;
  return settings;
}

Generation generation(std::int64_t input, std::int32_t output, std::int32_t every = 0) {
  Generation generation;
  generation.prompt.tokens = input;
  generation.output_tokens = output;
  generation.progress_every = every;
  return generation;
}

std::vector<Progress> run(Engine& engine, Instant to = Instant{1h}) {
  std::vector<Progress> all;
  while (engine.next_event() <= to) engine.advance(engine.next_event(), all);
  engine.advance(to, all);
  return all;
}

TEST(Engine, StartsInPhases) {
  EngineSettings slow = settings();
  slow.refusing = 10s;
  slow.loading = 5s;
  Engine engine(slow, Instant{1s});
  EXPECT_EQ(engine.accepts_from(), Instant{11s});
  EXPECT_EQ(engine.phase(Instant{1s}), Phase::refusing);
  EXPECT_EQ(engine.phase(Instant{11s}), Phase::loading);
  EXPECT_EQ(engine.submit(generation(10, 1), Instant{11s}).error(), Refusal::not_ready);
  EXPECT_EQ(engine.phase(Instant{16s}), Phase::ready);
  EXPECT_TRUE(engine.submit(generation(10, 1), Instant{16s}).has_value());
}

TEST(Engine, ReportsEveryTokenWhenItsStepEnds) {
  Engine engine(settings(), {});
  ASSERT_TRUE(engine.submit(generation(100, 4, 1), Instant{1s}).has_value());
  const engine::PrefillChunk prompt{100, 0};
  engine::Picoseconds clock = engine::picoseconds(Instant{1s}) + small_model().step_ps(0, 0, {&prompt, 1});
  std::vector<Progress> expected;
  for (std::int32_t token = 1; token <= 4; ++token) {
    expected.push_back({engine::instant_not_before(clock) + 15ms, 0, token, token == 4});
    clock += small_model().decode_step_ps(1, 100 + token);
  }
  EXPECT_EQ(run(engine), expected);
  EXPECT_TRUE(engine.next_event().is_never());
  EXPECT_EQ(engine.metrics().ttft.sum(), (expected[0].at - Instant{1s}).count());
  EXPECT_EQ(engine.metrics().e2e.sum(), (expected[3].at - Instant{1s}).count());
  EXPECT_EQ(engine.metrics().decode.sum(), (expected[3].at - expected[0].at).count());
  EXPECT_EQ(engine.metrics().inter_token.count(), 3);
  EXPECT_EQ(engine.metrics().reached_limit, 1);
}

TEST(Engine, ReportsProgressInTheRequestedInterval) {
  Engine engine(settings(), {});
  ASSERT_TRUE(engine.submit(generation(100, 12, 5), {}).has_value());
  std::vector<std::int32_t> tokens;
  for (const Progress& progress : run(engine)) tokens.push_back(progress.tokens);
  EXPECT_EQ(tokens, (std::vector<std::int32_t>{1, 6, 11, 12}));
}

TEST(Engine, RefusesRequestsThatItCannotHold) {
  EngineSettings small = settings();
  small.replica.max_seqs = 1;
  small.replica.max_waiting = 1;
  small.replica.kv_blocks = 10;
  Engine engine(small, {});
  EXPECT_EQ(engine.submit(generation(150, 20), {}).error(), Refusal::too_long);
  EXPECT_TRUE(engine.submit(generation(10, 20), {}).has_value());
  EXPECT_TRUE(engine.submit(generation(10, 20), {}).has_value());
  EXPECT_EQ(engine.submit(generation(10, 20), {}).error(), Refusal::queue_full);
  EXPECT_EQ(run(engine).size(), 4u);  // the first and the last token of both requests
  EXPECT_GT(engine.metrics().queue.sum(), 0);
}

TEST(Engine, DropsRequestsWhoseClientDisconnected) {
  EngineSettings small = settings();
  small.replica.max_seqs = 1;
  Engine engine(small, {});
  const RequestId running = *engine.submit(generation(10, 1000, 1), {});
  const RequestId waiting = *engine.submit(generation(10, 1000), {});
  const RequestId last = *engine.submit(generation(10, 5), {});
  std::vector<Progress> received;
  engine.advance(Instant{50ms}, received);
  engine.abort(waiting, Instant{50ms});
  engine.abort(running, Instant{50ms});
  engine.abort(running, Instant{50ms});
  const std::vector<Progress> rest = run(engine);
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(rest[0].id, last);
  EXPECT_TRUE(rest[1].finished);
  EXPECT_EQ(engine.metrics().aborted, 2);
  EXPECT_EQ(engine.sample(Instant{1h}).kv_blocks_used, 0);
}

/// Runs an engine with little memory under random arrivals and aborts and advances it in steps of `interval`. Checks
/// that the engine's counts equal the requests that were accepted and aborted. Returns the ends of requests that were
/// reported.
std::vector<Progress> hostile_run(std::uint64_t seed, Duration interval) {
  EngineSettings tight = settings();
  tight.replica = {.max_batched_tokens = 128, .max_seqs = 6, .max_waiting = 8, .kv_blocks = 40};
  Engine engine(tight, {});
  RandomStream random(seed, "test");
  std::vector<Progress> received;
  std::set<RequestId> live;
  std::int64_t accepted = 0;
  std::int64_t aborted = 0;
  Instant now{};
  Instant advanced_to{};
  for (int i = 0; i < 200; ++i) {
    now = now + Duration{random.between(0, 40'000'000)};
    for (; advanced_to < now; advanced_to = advanced_to + interval)
      engine.advance(std::min(advanced_to + interval, now), received);
    engine.advance(now, received);
    advanced_to = now;
    for (const Progress& progress : received) {
      if (progress.finished) live.erase(progress.id);
    }
    if (random.chance_ppm(100'000) && !live.empty()) {
      engine.abort(*live.begin(), now);
      live.erase(live.begin());
      ++aborted;
    } else if (const auto id =
                   engine.submit(generation(random.between(1, 300), 1 + static_cast<std::int32_t>(random.below(60)),
                                            static_cast<std::int32_t>(random.below(3))),
                                 now)) {
      live.insert(*id);
      ++accepted;
    }
  }
  engine.advance(Instant{1h}, received);
  RC_ASSERT(engine.next_event().is_never());
  RC_ASSERT(engine.metrics().reached_limit + aborted == accepted);
  RC_ASSERT(engine.metrics().aborted == aborted);
  RC_ASSERT(engine.metrics().e2e.count() == engine.metrics().reached_limit);
  RC_ASSERT(engine.metrics().queue.count() == engine.metrics().e2e.count());
  RC_ASSERT(engine.sample(Instant{1h}).running == 0);
  std::erase_if(received, [](const Progress& p) { return !p.finished; });
  return received;
}

RC_GTEST_PROP(Engine, TheIntervalOfCallsDoesNotChangeTheResult, (std::uint64_t seed)) {
  RC_ASSERT(hostile_run(seed, 1ms) == hostile_run(seed, 1h));
}

}  // namespace
}  // namespace capstan::emulator
