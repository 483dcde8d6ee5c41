#include "sim/serving/replica.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <map>
#include <string>

#include "base/hash.h"
#include "base/random.h"
#include "base/testing/moment.h"
#include "sim/serving/stepwise_replica.h"

namespace capstan::sim {
namespace {

using capstan::testing::at_ms;

/// Llama-3.1-8B, bfloat16, on one H100. Copied from data/engines.csv, so that these tests do not depend on the file.
engine::StepCoefficients llama_8b_h100() {
  engine::StepCoefficients c;
  const double linear_ms[] = {5.69, 5.9, 6.2, 6.41, 6.45, 6.54, 7.6, 10.8, 20.9, 40.6, 83.4, 172.0};
  for (std::size_t i = 0; i < c.linear_ps.size(); ++i) {
    c.linear_ps[i] = static_cast<engine::Picoseconds>(linear_ms[i] * 1e9);
  }
  c.decode_fixed_ps = 350'000'000;
  c.decode_per_request_ps = 5'700'000;
  c.decode_per_kv_token_ps = 40'500;
  c.prefill_fixed_ps = 520'000'000;
  c.prefill_per_pair_fs = 885'000;
  return c;
}

constexpr Instant at_ns(std::int64_t ns) { return {Duration{ns}}; }

struct EmissionRow {
  std::int64_t at_ns;
  std::uint32_t id;
  EmissionKind kind;
  std::int32_t cached_tokens = 0;
  friend bool operator==(const EmissionRow&, const EmissionRow&) = default;
};

std::string text(const EmissionRow& s) {
  return "at " + std::to_string(s.at_ns) + " ns, id " + std::to_string(s.id) + ", kind " +
         std::to_string(static_cast<int>(s.kind)) + ", cached " + std::to_string(s.cached_tokens);
}

std::vector<EmissionRow> rows_of(const Emissions& emissions) {
  std::vector<EmissionRow> rows;
  for (const Emission& e : emissions) rows.push_back({e.at.since_start.count(), e.id, e.kind, e.cached_tokens});
  return rows;
}

/// A Replica and a StepwiseReplica. Every call goes to both, and all visible results must be equal.
class Pair {
 public:
  Pair(const ReplicaConfig& config, const engine::StepModel& model) : fast(config, model), slow(config, model) {}

  void advance(Instant to) {
    fast.advance(to, fast_out);
    slow.advance(to, slow_out);
  }

  /// Follows next_event(), as a simulator does, instead of one long advance.
  void advance_by_events(Instant to) {
    while (fast.next_event() <= to) {
      const Instant event = fast.next_event();
      const std::size_t before = fast_out.size();
      fast.advance(Instant{event.since_start - Duration{1}}, fast_out);
      RC_ASSERT(fast_out.size() == before);  // nothing happens before the announced event
      fast.advance(event, fast_out);
      RC_ASSERT((fast.next_event() > event || fast.idle()));
    }
    slow.advance(to, slow_out);
  }

  OfferResult offer(const EngineRequest& request, Instant now) {
    const OfferOutcome outcome = fast.offer(request, now);
    RC_ASSERT(outcome.result == slow.offer(request, now));
    if (outcome.result == OfferResult::accepted) slots[request.id] = outcome.slot;
    return outcome.result;
  }

  void cancel(std::uint32_t id, Instant now) {
    const auto slot = slots.find(id);
    if (slot == slots.end()) return;
    RC_ASSERT(fast.cancel(slot->second, id, now) == slow.cancel(id, now));
    slots.erase(slot);
  }

  void compare(Instant now) {
    const std::vector<EmissionRow> fast_rows = rows_of(fast_out);
    const std::vector<EmissionRow> slow_rows = rows_of(slow_out);
    const auto [a_end, b_end] = std::mismatch(fast_rows.begin(), fast_rows.end(), slow_rows.begin(), slow_rows.end());
    if (a_end != fast_rows.end()) RC_FAIL("first emission of Replica alone: " + text(*a_end));
    if (b_end != slow_rows.end()) RC_FAIL("first emission of StepwiseReplica alone: " + text(*b_end));
    RC_ASSERT(fast.idle() == slow.idle());
    const ReplicaSample a = fast.sample(now);
    const ReplicaSample b = slow.sample();
    RC_ASSERT(a.waiting == b.waiting);
    RC_ASSERT(a.running == b.running);
    RC_ASSERT(a.kv_blocks_used == b.kv_blocks_used);
    RC_ASSERT(a.preemptions_total == b.preemptions_total);
    RC_ASSERT(a.prefix_hit_tokens_total == b.prefix_hit_tokens_total);
    RC_ASSERT(a.generation_tokens_total == b.generation_tokens_total);
    RC_ASSERT(a.steps_total == b.steps_total);
    RC_ASSERT(a == b);
    RC_ASSERT(fast.token_account(now).conserved());
  }

  Replica fast;
  StepwiseReplica slow;
  Emissions fast_out;
  Emissions slow_out;
  std::map<std::uint32_t, std::uint32_t> slots;
};

TEST(Replica, OneRequestTakesOnePrefillStepAndItsDecodeSteps) {
  const engine::StepModel model(llama_8b_h100());
  Replica replica({.kv_blocks = 1000}, model);
  const Instant start = at_ms(5);
  ASSERT_EQ(replica.offer({.id = 7, .input_tokens = 100, .output_tokens = 4}, start).result, OfferResult::accepted);
  Emissions out;
  replica.advance(at_ms(1000), out);
  const engine::PrefillChunk prompt{100, 0};
  engine::Picoseconds clock = engine::picoseconds(start) + model.step_ps(0, 0, {&prompt, 1});
  const Instant first = engine::instant_not_before(clock);
  for (std::int64_t context : {101, 102, 103}) clock += model.decode_step_ps(1, context);
  const Instant last = engine::instant_not_before(clock);
  const std::vector<EmissionRow> expected = {{first.since_start.count(), 7, EmissionKind::first_token},
                                             {last.since_start.count(), 7, EmissionKind::finished}};
  EXPECT_EQ(rows_of(out), expected);
  EXPECT_TRUE(replica.idle());
  EXPECT_TRUE(replica.next_event().is_never());
}

TEST(Replica, ReportsTheEndOfEachStepAndTheTokensOfEachRequest) {
  const engine::StepModel model(llama_8b_h100());
  const ReplicaConfig config{.max_batched_tokens = 64, .max_seqs = 8, .kv_blocks = 12};
  Replica replica(config, model);
  StepwiseReplica slow(config, model);
  std::array<std::uint32_t, 3> slots{};
  for (std::uint32_t id = 0; id < 3; ++id) {
    const EngineRequest request{.id = id, .input_tokens = 40 + 10 * static_cast<std::int32_t>(id), .output_tokens = 30};
    slots[id] = replica.offer(request, {}).slot;
    slow.offer(request, {});
  }
  Emissions out;
  Emissions slow_out;
  std::int64_t steps = 0;
  std::array<std::int32_t, 3> tokens{};
  std::array<bool, 3> ended{};
  for (Instant end = replica.step_end({}); !end.is_never(); end = replica.step_end(end)) {
    slow.advance(Instant{end.since_start - Duration{1}}, slow_out);
    EXPECT_EQ(slow.sample().steps_total, steps);
    slow.advance(end, slow_out);
    EXPECT_EQ(slow.sample().steps_total, ++steps);
    out.clear();
    replica.advance(end, out);
    for (const Emission& e : out) ended[e.id] = e.kind == EmissionKind::finished;
    std::int64_t sum = 0;
    for (std::uint32_t id = 0; id < 3; ++id) {
      const std::int32_t now = ended[id] ? 30 : replica.generated(slots[id], end);
      EXPECT_TRUE(now == tokens[id] || now == tokens[id] + 1);
      sum += tokens[id] = now;
    }
    EXPECT_EQ(sum, slow.sample().generation_tokens_total);
  }
  EXPECT_EQ(tokens, (std::array<std::int32_t, 3>{30, 30, 30}));
  EXPECT_GT(slow.sample().preemptions_total, 0);
}

TEST(Replica, RefusesRequestsThatItCannotServe) {
  const engine::StepModel model(llama_8b_h100());
  Replica replica({.max_seqs = 1, .max_waiting = 1, .kv_blocks = 4}, model);
  EXPECT_EQ(replica.offer({.id = 1, .input_tokens = 60, .output_tokens = 5}, {}).result, OfferResult::too_long);
  EXPECT_EQ(replica.offer({.id = 2, .input_tokens = 60, .output_tokens = 4}, {}).result, OfferResult::accepted);
  EXPECT_EQ(replica.offer({.id = 3, .input_tokens = 1, .output_tokens = 1}, {}).result, OfferResult::accepted);
  EXPECT_EQ(replica.offer({.id = 4, .input_tokens = 1, .output_tokens = 1}, {}).result, OfferResult::queue_full);
  replica.drain();
  EXPECT_EQ(replica.offer({.id = 5, .input_tokens = 1, .output_tokens = 1}, {}).result, OfferResult::draining);
  Emissions out;
  replica.advance(at_ms(10'000), out);
  EXPECT_TRUE(replica.idle());
}

TEST(Replica, ADecodeReplicaContinuesARequestOfAPrefillReplica) {
  const engine::StepModel model(llama_8b_h100());
  Replica prefill({.kv_blocks = 1000, .role = EngineRole::prefill}, model);
  Replica decode({.kv_blocks = 1000, .role = EngineRole::decode}, model);
  prefill.offer({.id = 1, .input_tokens = 640, .output_tokens = 3}, {});
  Emissions out;
  prefill.advance(at_ms(1000), out);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].kind, EmissionKind::handed_over);
  const Instant received = out[0].at + kv_transfer_time(640, 131072, 50'000'000'000, Duration{1'000'000});
  EXPECT_EQ((received - out[0].at).count(), 1'000'000 + 1'677'722);
  out.clear();
  decode.advance(received, out);
  decode.offer({.id = 1, .input_tokens = 640, .output_tokens = 3, .kv_present = true}, received);
  decode.advance(at_ms(2000), out);
  const engine::Picoseconds end = engine::picoseconds(received) + model.decode_steps_ps(1, 641, 2);
  const std::vector<EmissionRow> expected = {
      {engine::instant_not_before(end).since_start.count(), 1, EmissionKind::finished}};
  EXPECT_EQ(rows_of(out), expected);
}

TEST(Replica, KillReturnsTheRequestsInside) {
  const engine::StepModel model(llama_8b_h100());
  Pair pair({.max_seqs = 2, .kv_blocks = 1000}, model);
  for (std::uint32_t id : {1u, 2u, 3u}) pair.offer({.id = id, .input_tokens = 32, .output_tokens = 100}, {});
  pair.advance(at_ms(100));
  std::vector<HeldRequest> fast;
  std::vector<HeldRequest> slow;
  pair.fast.kill(fast, at_ms(100));
  pair.slow.kill(slow);
  EXPECT_EQ(fast, slow);
  ASSERT_EQ(fast.size(), 3u);
  EXPECT_GT(fast[0].generated_tokens, 5);
  EXPECT_TRUE(pair.fast.idle());
}

TEST(Replica, EvictsCachedGroupsBeforeItPreemptsTheLastOfTheBatch) {
  const engine::StepModel model(llama_8b_h100());
  const std::vector<std::uint64_t> prefix = {1};
  Pair pair({.max_seqs = 64, .kv_blocks = 128}, model);
  pair.offer({.id = 0, .input_tokens = 512, .output_tokens = 1, .prefix_hashes = prefix}, {});
  pair.advance(at_ms(1000));
  // The cached group has 32 blocks, the running sequences have the other 96. Then 33 sequences need one block each. The
  // group is evicted for the first of them. Its 32 blocks are too few for all, so the last sequence is preempted as
  // well.
  pair.offer({.id = 1, .input_tokens = 31, .output_tokens = 5}, at_ms(1000));  // runs alone in the first step
  for (std::uint32_t id = 2; id <= 32; ++id)
    pair.offer({.id = id, .input_tokens = 32, .output_tokens = 4}, at_ms(1000));
  pair.offer({.id = 33, .input_tokens = 512, .output_tokens = 4}, at_ms(1000));
  pair.advance(at_ms(2000));
  pair.offer({.id = 34, .input_tokens = 600, .output_tokens = 4, .prefix_hashes = prefix}, at_ms(2000));
  pair.advance(at_ms(3000));
  pair.compare(at_ms(3000));
  EXPECT_EQ(pair.fast.sample(at_ms(3000)).preemptions_total, 1);
  EXPECT_EQ(pair.fast.sample(at_ms(3000)).prefix_hit_tokens_total, 0);
}

TEST(Replica, APromptIsAdmittedOnlyWhenAllOfItFits) {
  const engine::StepModel model(llama_8b_h100());
  Pair pair({.max_batched_tokens = 512, .max_seqs = 8, .kv_blocks = 100}, model);
  // The first request uses up to 60 of 100 blocks until its answer ends. A chunk of the second prompt would fit into
  // the rest, but the 50 blocks of the whole prompt do not.
  pair.offer({.id = 0, .input_tokens = 800, .output_tokens = 160}, {});
  pair.advance(at_ms(200));
  pair.offer({.id = 1, .input_tokens = 800, .output_tokens = 4}, at_ms(200));
  pair.advance(at_ms(400));
  EXPECT_EQ(pair.fast.sample(at_ms(400)).running, 1);
  EXPECT_EQ(pair.fast.sample(at_ms(400)).waiting, 1);
  pair.advance(at_ms(5000));
  pair.compare(at_ms(5000));
  EXPECT_TRUE(pair.fast.idle());
  EXPECT_EQ(pair.fast.sample(at_ms(5000)).preemptions_total, 0);
}

/// Returns the coefficients of an engine that is `factor` times slower.
engine::StepCoefficients slower(engine::StepCoefficients c, std::int64_t factor) {
  for (engine::Picoseconds& time : c.linear_ps) time *= factor;
  for (engine::Picoseconds* time : {&c.decode_fixed_ps, &c.decode_per_request_ps, &c.decode_per_kv_token_ps,
                                    &c.prefill_fixed_ps, &c.prefill_per_pair_fs, &c.per_request_ps}) {
    *time *= factor;
  }
  return c;
}

/// Runs a random engine with random traffic; the memory ranges from tiny, with constant preemption, to ample. The
/// engine and the traffic are slowed down `slowness` times, so that few steps cover a long time.
void random_workload(std::uint64_t seed, std::int64_t requests, std::int64_t slowness = 1) {
  RandomStream random(seed, "replica-test");
  engine::StepCoefficients coefficients = slower(llama_8b_h100(), slowness);
  if (slowness == 1 && random.chance_ppm(300'000)) coefficients.decode_per_kv_token_ps *= random.between(0, 200);
  const engine::StepModel model(coefficients);
  ReplicaConfig config;
  config.max_seqs = random.chance_ppm(300'000) ? random.between(1, 4) : random.between(5, 64);
  config.max_batched_tokens = config.max_seqs + (random.chance_ppm(500'000) ? random.between(0, 64) : 2048);
  config.max_waiting = random.chance_ppm(500'000) ? random.between(1, 8) : 1000;
  config.kv_blocks = random.chance_ppm(600'000) ? random.between(70, 200) : random.between(200, 2000);
  config.prefix_cache = random.chance_ppm(700'000);
  config.role = static_cast<EngineRole>(random.between(0, 2));
  const std::int64_t longest_input = random.chance_ppm(500'000) ? 60 : 2100;
  const std::int64_t longest_output = random.chance_ppm(500'000) ? 12 : 300;
  const std::int64_t gap_ns = slowness * (random.chance_ppm(500'000) ? 4'000'000 : 100'000'000);

  // The prefixes form a tree with few branches, so that requests share groups.
  std::vector<std::vector<std::uint64_t>> hashes(static_cast<std::size_t>(requests));
  Pair pair(config, model);
  Instant now{};
  for (std::int64_t i = 0; i < requests; ++i) {
    if (!random.chance_ppm(150'000)) now = now + Duration{random.between(1, 2 * gap_ns)};
    if (random.chance_ppm(30'000)) now = now + Duration{20 * gap_ns};
    random.chance_ppm(500'000) ? pair.advance(now) : pair.advance_by_events(now);
    if (random.chance_ppm(200'000)) pair.compare(now);
    if (random.chance_ppm(150'000)) {
      pair.cancel(static_cast<std::uint32_t>(random.between(std::max<std::int64_t>(0, i - 20), i)), now);
    }
    EngineRequest request;
    request.id = static_cast<std::uint32_t>(i);
    request.input_tokens = static_cast<std::int32_t>(random.between(1, longest_input));
    if (random.chance_ppm(100'000)) request.input_tokens = 512 * ((request.input_tokens + 511) / 512);
    request.output_tokens = static_cast<std::int32_t>(random.between(1, longest_output));
    if (config.role == EngineRole::decode && random.chance_ppm(800'000) && request.output_tokens > 1) {
      request.kv_present = true;
    }
    auto& prefix = hashes[static_cast<std::size_t>(i)];
    std::uint64_t chain = 17;
    for (std::int64_t g = 0; g < (request.input_tokens + 511) / 512; ++g) {
      chain = mix64(chain * 31 + random.below(3) + 1);
      prefix.push_back(chain);
    }
    if (!random.chance_ppm(200'000)) request.prefix_hashes = prefix;
    pair.offer(request, now);
    if (i == requests - 3 && random.chance_ppm(200'000)) {
      pair.fast.drain();
      pair.slow.drain();
    }
  }
  pair.compare(now);
  if (random.chance_ppm(300'000)) {
    std::vector<HeldRequest> fast;
    std::vector<HeldRequest> slow;
    pair.fast.kill(fast, now);
    pair.slow.kill(slow);
    RC_ASSERT(fast == slow);
    RC_ASSERT(pair.fast.token_account(now).conserved());
    return;
  }
  now = now + slowness * std::chrono::hours(30);
  pair.advance(now);
  pair.compare(now);
  RC_ASSERT(pair.fast.idle());
  RC_ASSERT(pair.fast.sample(now).kv_blocks_used == 0);
}

RC_GTEST_PROP(Replica, EqualsStepwiseReplicaOnRandomWorkloads, (std::uint64_t seed)) { random_workload(seed, 60); }

RC_GTEST_PROP(Replica, EqualsStepwiseReplicaOnLongerRuns, (std::uint64_t seed)) { random_workload(~seed, 400); }

/// A 64-bit count of picoseconds overflows after 106 days. With this slowness a step takes minutes, so that a replica
/// is busy for longer than that.
constexpr std::int64_t kStepsOfMinutes = 50'000;

RC_GTEST_PROP(Replica, EqualsStepwiseReplicaOverYears, (std::uint64_t seed)) {
  random_workload(seed, 400, kStepsOfMinutes);
}

TEST(Replica, IsExactAfterFourHundredBusyDays) {
  const engine::StepModel model(slower(llama_8b_h100(), kStepsOfMinutes));
  Pair pair({.max_seqs = 4, .kv_blocks = 2000}, model);
  const Instant end{std::chrono::hours(400 * 24)};
  std::uint32_t id = 0;
  for (Instant now{}; now < end; now = now + std::chrono::hours(7)) {
    pair.advance(now);
    pair.offer({.id = id++, .input_tokens = 500, .output_tokens = 300}, now);  // one request takes 25 hours
  }
  pair.advance(end);
  pair.compare(end);
  EXPECT_GT(pair.fast.sample(end).busy_total, std::chrono::hours(399 * 24));
}

TEST(Replica, IsExactAfterAYearWithoutWork) {
  const engine::StepModel model(llama_8b_h100());
  Pair pair({.kv_blocks = 1000}, model);
  pair.offer({.id = 0, .input_tokens = 100, .output_tokens = 4}, at_ms(5));
  const Instant later{std::chrono::hours(365 * 24)};
  pair.advance(later);
  pair.offer({.id = 1, .input_tokens = 100, .output_tokens = 4}, later);
  const Instant end = later + std::chrono::seconds(1);
  pair.advance(end);
  pair.compare(end);
  ASSERT_EQ(pair.fast_out.size(), 4);
  EXPECT_EQ(pair.fast_out[2].at - later, pair.fast_out[0].at - at_ms(5));
}

/// Checks that the workloads above preempt requests and share prefixes. Without that, their properties prove little.
TEST(Replica, ATightWorkloadPreemptsAndSharesPrefixes) {
  const engine::StepModel model(llama_8b_h100());
  Pair pair({.max_batched_tokens = 256, .max_seqs = 32, .kv_blocks = 100}, model);
  std::vector<std::uint64_t> prefix = {1, 2};
  Instant now{};
  for (std::uint32_t id = 0; id < 200; ++id) {
    now = now + Duration{20'000'000};
    pair.advance(now);
    pair.offer(
        {.id = id,
         .input_tokens = id % 3 == 0 ? 1100 : 40,
         .output_tokens = 120,
         .prefix_hashes = id % 3 == 0 ? std::span<const std::uint64_t>(prefix) : std::span<const std::uint64_t>()},
        now);
  }
  pair.advance(at_ms(1'000'000));
  pair.compare(at_ms(1'000'000));
  const ReplicaSample sample = pair.fast.sample(at_ms(1'000'000));
  EXPECT_GT(sample.preemptions_total, 10);
  EXPECT_GT(sample.prefix_hit_tokens_total, 10'000);
  EXPECT_TRUE(pair.fast.idle());
}

// --- real traces ---

std::int64_t number_after(const std::string& line, std::string_view key) {
  const std::size_t at = line.find(key);
  std::int64_t value = -1;
  if (at != std::string::npos) {
    const char* begin = line.data() + at + key.size();
    while (*begin == ' ' || *begin == ':' || *begin == '"') ++begin;
    std::from_chars(begin, line.data() + line.size(), value);
  }
  return value;
}

TEST(Replica, EqualsStepwiseReplicaOnTheAzureHour) {
  std::ifstream file(CAPSTAN_SOURCE_DIR "/../shared/data/traces/azure-llm-2023/conv.csv");
  if (!file) GTEST_SKIP() << "the Azure trace is not next to the source tree";
  const engine::StepModel model(llama_8b_h100());
  for (const std::int64_t kv_blocks : {30'000, 1'500}) {
    file.clear();
    file.seekg(0);
    Pair pair({.kv_blocks = kv_blocks}, model);
    std::string line;
    std::getline(file, line);
    Instant now{};
    for (std::uint32_t id = 0; id < 3000 && std::getline(file, line); ++id) {
      // An example of a line is 2023-11-16 18:15:46.6805900,374,44.
      const std::size_t comma = line.find(',');
      const std::size_t second = line.find(',', comma + 1);
      auto field = [&](std::size_t from, std::size_t length) { return std::stoll(line.substr(from, length)); };
      const std::int64_t seconds = field(11, 2) * 3600 + field(14, 2) * 60 + field(17, 2) - 18 * 3600;
      const Instant arrival = at_ns(seconds * 1'000'000'000 + field(20, 7) * 100);
      now = std::max(now, arrival);
      pair.advance(now);
      pair.offer({.id = id,
                  .input_tokens = static_cast<std::int32_t>(std::stoi(line.substr(comma + 1))),
                  .output_tokens = static_cast<std::int32_t>(std::stoi(line.substr(second + 1)))},
                 now);
    }
    pair.advance(now + Duration{std::int64_t{100'000} * 1'000'000'000});
    EXPECT_EQ(rows_of(pair.fast_out), rows_of(pair.slow_out));
    EXPECT_TRUE(pair.fast.idle());
    if (kv_blocks < 2'000) {
      EXPECT_GT(pair.slow.sample().preemptions_total, 0);
    }
  }
}

TEST(Replica, EqualsStepwiseReplicaOnMooncakePrefixes) {
  std::ifstream file(CAPSTAN_SOURCE_DIR "/../shared/data/traces/mooncake/conversation.jsonl");
  if (!file) GTEST_SKIP() << "the Mooncake trace is not next to the source tree";
  const engine::StepModel model(llama_8b_h100());
  Pair pair({.max_batched_tokens = 2048, .kv_blocks = 20'000}, model);
  std::vector<std::vector<std::uint64_t>> hashes;
  hashes.reserve(1200);
  std::string line;
  Instant now{};
  for (std::uint32_t id = 0; id < 1200 && std::getline(file, line); ++id) {
    now = std::max(now, at_ms(4 * number_after(line, "\"timestamp\"")));  // one replica cannot serve the full rate
    pair.advance(now);
    auto& prefix = hashes.emplace_back();
    const char* c = line.data() + line.find('[') + 1;
    const char* end = line.data() + line.find(']');
    while (c < end) {
      std::uint64_t hash = 0;
      c = std::from_chars(c, end, hash).ptr;
      prefix.push_back(hash);
      while (c < end && (*c == ',' || *c == ' ')) ++c;
    }
    pair.offer({.id = id,
                .input_tokens = static_cast<std::int32_t>(number_after(line, "\"input_length\"")),
                .output_tokens = static_cast<std::int32_t>(number_after(line, "\"output_length\"")),
                .prefix_hashes = prefix},
               now);
    if (id % 100 == 0) pair.compare(now);
  }
  now = now + Duration{std::int64_t{100'000} * 1'000'000'000};
  pair.advance(now);
  pair.compare(now);
  EXPECT_EQ(rows_of(pair.fast_out), rows_of(pair.slow_out));
  EXPECT_GT(pair.fast.sample(now).prefix_hit_tokens_total, 100'000);
}

}  // namespace
}  // namespace capstan::sim
