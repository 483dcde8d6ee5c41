#include "sim/fleet/fleet.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "base/random.h"
#include "base/testing/moment.h"
#include "sim/fleet/fleet_fixture.h"
#include "workload/list_source.h"

namespace capstan::sim {
namespace {

using capstan::testing::at_ms;
using capstan::testing::at_s;

using namespace fleet_fixture;

using workload::ListSource;

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Returns `count` requests that arrive 11 ms apart, so that each prompt is computed in a step of its own.
std::vector<workload::Request> arrivals(int count, std::int32_t output) {
  std::vector<workload::Request> rows;
  for (int i = 0; i < count; ++i) rows.push_back(row(11 * i, 100, output));
  return rows;
}

/// Requests to a small fleet and their expected outcomes. Each replica runs two requests and lets two wait.
struct OutcomeRow {
  const char* teaches;
  std::vector<workload::Request> requests;
  int replicas = 1;
  RequestCount gateway = 0;
  ClientConfig client{};
  std::int64_t kill_at_ms = -1;  ///< when to kill the first replica
  std::int64_t add_at_ms = -1;
  RequestCount completed = 0, rejected = 0, failed = 0, timed_out = 0, retries = 0, cut = 0;
};

TEST(Fleet, CountsRequestsByOutcome) {
  const ClientConfig kRetries{.max_retries = 1, .backoff = milliseconds(500)};
  const ClientConfig kLateRetries{.max_retries = 1, .backoff = seconds(4)};
  const std::vector<OutcomeRow> rows = {
      {.teaches = "two run, two wait, all complete", .requests = arrivals(4, 10), .completed = 4},
      {.teaches = "the fifth request is refused", .requests = arrivals(5, 10), .completed = 4, .rejected = 1},
      {.teaches = "the gateway holds the fifth request", .requests = arrivals(5, 10), .gateway = 1, .completed = 5},
      {.teaches = "a full gateway refuses", .requests = arrivals(6, 10), .gateway = 1, .completed = 5, .rejected = 1},
      {.teaches = "a second replica takes four more", .requests = arrivals(8, 10), .replicas = 2, .completed = 8},
      {.teaches = "the client of a refused request tries again",
       .requests = arrivals(5, 10),
       .client = kRetries,
       .completed = 5,
       .retries = 1},
      {.teaches = "a client stops retrying at its limit",
       .requests = arrivals(5, 300),
       .client = kRetries,
       .completed = 4,
       .rejected = 1,
       .retries = 1},
      {.teaches = "no replica takes the request", .requests = arrivals(1, 10), .replicas = 0, .rejected = 1},
      {.teaches = "the gateway holds requests until the first replica is added",
       .requests = arrivals(3, 10),
       .replicas = 0,
       .gateway = 9,
       .add_at_ms = 60'000,
       .completed = 3},
      {.teaches = "a prompt that fits into no replica is not retried",
       .requests = {row(0, 5000, 10)},
       .client = kRetries,
       .rejected = 1},
      {.teaches = "answers that exceed the total time-out time out",
       .requests = arrivals(2, 300),
       .client = {.total_timeout = seconds(2)},
       .timed_out = 2},
      {.teaches = "the first-token time-out does not end an answer that has begun",
       .requests = arrivals(2, 300),
       .client = {.first_token_timeout = seconds(2)},
       .completed = 2},
      {.teaches = "requests in the engine's queue exceed the first-token time-out",
       .requests = arrivals(4, 300),
       .client = {.first_token_timeout = seconds(2)},
       .completed = 2,
       .timed_out = 2},
      {.teaches = "requests at the gateway exceed the first-token time-out, too",
       .requests = arrivals(6, 300),
       .gateway = 2,
       .client = {.first_token_timeout = seconds(2)},
       .completed = 2,
       .timed_out = 4},
      {.teaches = "a retry after a time-out has a new time-out",
       .requests = arrivals(4, 300),
       .client = {.first_token_timeout = seconds(2), .max_retries = 1, .backoff = seconds(4)},
       .completed = 4,
       .retries = 2},
      {.teaches = "a client that does not retry after a time-out gives up",
       .requests = arrivals(4, 300),
       .client = {.first_token_timeout = seconds(2), .max_retries = 1, .retry_timed_out = false},
       .completed = 2,
       .timed_out = 2},
      {.teaches = "all requests of a killed replica fail",
       .requests = arrivals(4, 300),
       .kill_at_ms = 1000,
       .failed = 4,
       .cut = 4},
      {.teaches = "cut requests are served by another replica",
       .requests = arrivals(3, 300),
       .client = kLateRetries,
       .kill_at_ms = 1000,
       .add_at_ms = 2000,
       .completed = 3,
       .retries = 3,
       .cut = 3},
      {.teaches = "a request that was cut and then refused has failed",
       .requests = arrivals(1, 300),
       .client = kLateRetries,
       .kill_at_ms = 1000,
       .failed = 1,
       .retries = 1,
       .cut = 1},
  };
  for (const OutcomeRow& r : rows) {
    SCOPED_TRACE(r.teaches);
    ListSource source(r.requests);
    FleetConfig config{.client = r.client, .gateway_max_waiting = r.gateway};
    Fleet fleet(config, {variant()}, {}, source);
    std::vector<ReplicaHandle> replicas;
    for (int i = 0; i < r.replicas; ++i) replicas.push_back(fleet.add_replica(0, Instant{}));
    if (r.kill_at_ms >= 0) fleet.kill(replicas[0], at_ms(r.kill_at_ms));
    if (r.add_at_ms >= 0) fleet.add_replica(0, at_ms(r.add_at_ms));
    fleet.finish(at_s(300));
    const RequestCounts& counts = fleet.meter().counts;
    EXPECT_EQ(counts.completed, r.completed);
    EXPECT_EQ(counts.rejected, r.rejected);
    EXPECT_EQ(counts.failed, r.failed);
    EXPECT_EQ(counts.timed_out, r.timed_out);
    EXPECT_EQ(counts.retries, r.retries);
    EXPECT_EQ(counts.cut, r.cut);
    EXPECT_EQ(counts.met, counts.completed);
    EXPECT_EQ(counts.in_flight + counts.queued, 0);
    EXPECT_TRUE(fleet.is_over());
    EXPECT_TRUE(fleet.check());
    EXPECT_TRUE(fleet.next_event().is_never());
  }
}

TEST(Fleet, MeasuresTheTimesThatTheClientSees) {
  ListSource source({row(5, 100, 11)});
  FleetVariant v = variant();
  v.front_end = milliseconds(15);
  Fleet fleet({}, {v}, {}, source);
  fleet.add_replica(0, Instant{});
  fleet.finish(at_s(1));
  const RequestMeter& meter = fleet.meter();
  EXPECT_EQ(meter.ttft.percentile_us(500'000), 25'000 / 128 * 128 + 64);  // a step of 10 ms plus the front end
  EXPECT_EQ(meter.tpot.mean_us(), 10'000);
  EXPECT_EQ(meter.e2e.mean_us(), 10'000 + 10 * 10'000 + 15'000);
  EXPECT_EQ(meter.input_tokens, 100);
  EXPECT_EQ(meter.output_tokens, 11);
  EXPECT_EQ(meter.useful_gpu_ps, kWork.gpu_ps(100, 11));
}

struct SloRow {
  const char* teaches;
  model::Slo slo;
  RequestCount met;
};

TEST(Fleet, MetMeansEveryBoundThatIsSet) {
  const SloRow rows[] = {
      {"no bound", {}, 1},
      {"first token exactly in time", {.ttft = milliseconds(10)}, 1},
      {"first token late", {.ttft = milliseconds(10) - Duration{1}}, 0},
      {"tokens exactly in time", {.tpot = milliseconds(10)}, 1},
      {"tokens late", {.tpot = milliseconds(10) - Duration{1}}, 0},
      {"whole answer exactly in time", {.e2e = milliseconds(110)}, 1},
      {"whole answer late", {.e2e = milliseconds(110) - Duration{1}}, 0},
      {"one of three late", {.ttft = seconds(1), .tpot = milliseconds(9), .e2e = seconds(1)}, 0},
  };
  for (const SloRow& r : rows) {
    SCOPED_TRACE(r.teaches);
    ListSource source({row(0, 100, 11)});
    Fleet fleet({}, {variant()}, r.slo, source);
    fleet.add_replica(0, Instant{});
    fleet.finish(at_s(1));
    EXPECT_EQ(fleet.meter().counts.completed, 1);
    EXPECT_EQ(fleet.meter().counts.met, r.met);
    EXPECT_EQ(fleet.meter().useful_gpu_ps > 0, r.met == 1);
  }
}

TEST(Fleet, TtftCountsFromTheFirstAttempt) {
  ListSource source(arrivals(1, 100));
  Fleet fleet({.client = {.max_retries = 1, .backoff = seconds(4)}}, {variant()}, {.ttft = seconds(1)}, source);
  const ReplicaHandle first = fleet.add_replica(0, Instant{});
  fleet.add_replica(0, Instant{});
  fleet.kill(first, at_ms(500));
  fleet.finish(at_s(60));
  EXPECT_EQ(fleet.meter().counts.completed, 1);
  EXPECT_EQ(fleet.meter().counts.met, 0);
  EXPECT_GT(fleet.meter().ttft.mean_us(), 3'500'000);  // 0.5 s to the kill, and at least 3/4 of the backoff
  EXPECT_EQ(fleet.meter().lost_tokens, 50);
}

TEST(Fleet, ADrainingReplicaFinishesWhatItHolds) {
  ListSource source({row(0, 100, 100), row(0, 100, 100), row(500, 100, 10)});
  Fleet fleet({.gateway_max_waiting = 0}, {variant()}, {}, source);
  const ReplicaHandle replica = fleet.add_replica(0, Instant{});
  fleet.drain(replica, at_ms(100));
  EXPECT_FALSE(fleet.drained(replica));
  fleet.advance(at_s(2));
  EXPECT_TRUE(fleet.drained(replica));
  // The second request joined one step later.
  EXPECT_EQ(fleet.sample(replica, at_s(2), false).engine.busy_total, milliseconds(1010));
  fleet.remove(replica, at_s(2));
  fleet.finish(at_s(3));
  EXPECT_EQ(fleet.meter().counts.completed, 2);
  EXPECT_EQ(fleet.meter().counts.rejected, 1);
}

TEST(Fleet, HandsRequestsOverFromPrefillToDecode) {
  FleetVariant prefill = variant();
  prefill.replica.role = EngineRole::prefill;
  prefill.kv_bytes_per_token = 1'000'000;
  prefill.kv_link_bytes_per_s = 1'000'000'000;
  prefill.kv_setup = {};
  FleetVariant decode = variant();
  decode.replica.role = EngineRole::decode;
  ListSource source({row(0, 100, 11), row(500, 100, 1)});
  Fleet fleet({}, {prefill, decode}, {}, source);
  const ReplicaHandle computes = fleet.add_replica(0, Instant{});
  const ReplicaHandle answers = fleet.add_replica(1, Instant{});
  fleet.advance(at_ms(50));  // the KV is on its way from 10 ms to 110 ms
  EXPECT_EQ(fleet.meter().counts.in_flight, 1);
  EXPECT_TRUE(fleet.check());
  fleet.finish(at_s(1));
  const RequestMeter& meter = fleet.meter();
  EXPECT_EQ(meter.counts.completed, 2);
  EXPECT_EQ(meter.counts.handed_over, 1);
  EXPECT_EQ(meter.ttft.mean_us(), 10'000);
  EXPECT_EQ(meter.tpot.mean_us(), 20'000);  // 100 ms of transfer and ten steps, over ten tokens
  const PhaseTimes& phases = meter.minutes.at(0).phases;
  EXPECT_EQ(phases.first_tokens, 2);
  EXPECT_EQ(phases.completed, 2);
  EXPECT_EQ(phases.prefill, milliseconds(20));
  EXPECT_EQ(phases.transfer, milliseconds(100));
  EXPECT_EQ(phases.decode, milliseconds(100));
  const ReplicaReading first = fleet.sample(computes, at_s(1), true);
  const ReplicaReading second = fleet.sample(answers, at_s(1), true);
  EXPECT_EQ(first.phases.prefill, milliseconds(20));
  EXPECT_EQ(first.phases.decode + first.phases.transfer, Duration{});
  EXPECT_EQ(second.phases.transfer, milliseconds(100));
  EXPECT_EQ(second.phases.decode, milliseconds(100));
  EXPECT_EQ(second.transfers_total, 1) << "the answer of one token needs no decode replica";
}

TEST(Fleet, ThePhasesOfARequestAddUpToItsTimes) {
  // The engine runs one sequence at a time and holds two requests: the second request waits in the engine's queue, and
  // the third at the gateway.
  FleetVariant v = variant();
  v.replica.max_seqs = 1;
  v.replica.max_waiting = 1;
  v.front_end = milliseconds(15);
  ListSource source({row(0, 100, 10), row(0, 100, 10), row(0, 100, 10)});
  Fleet fleet({.gateway_max_waiting = 5}, {v}, {}, source);
  fleet.add_replica(0, Instant{});
  fleet.finish(at_s(10));
  const RequestMeter& meter = fleet.meter();
  ASSERT_EQ(meter.counts.completed, 3);
  const PhaseTimes& phases = meter.minutes.at(0).phases;
  EXPECT_GT(phases.gateway, milliseconds(3 * 15 + 50));
  EXPECT_GT(phases.queue, milliseconds(100));
  EXPECT_EQ(phases.prefill, milliseconds(30));
  EXPECT_EQ(phases.transfer, Duration{});
  const Duration ttft = phases.gateway + phases.queue + phases.prefill;
  EXPECT_EQ(ttft / std::chrono::microseconds(3), meter.ttft.mean_us());
  EXPECT_EQ((ttft + phases.decode) / std::chrono::microseconds(3), meter.e2e.mean_us());
}

TEST(Fleet, TheTtftBoundScalesWithThePromptIfTheSloSaysSo) {
  // The second prompt is computed one step after the first: its first token comes after 20 ms instead of 10.
  for (const auto& [prefills_milli, met] : {std::pair{0u, 1}, {1'900u, 1}, {2'000u, 2}}) {
    ListSource source({row(0, 100, 11), row(0, 100, 11)});
    Fleet fleet({}, {variant()}, {.ttft = milliseconds(15), .ttft_prefills_milli = prefills_milli}, source);
    fleet.add_replica(0, Instant{});
    fleet.finish(at_s(1));
    EXPECT_EQ(fleet.meter().counts.met, met) << prefills_milli;
  }
}

TEST(Fleet, TheGatewayHoldsPrefilledRequestsUntilADecodeReplicaIsThere) {
  FleetVariant prefill = variant();
  prefill.replica.role = EngineRole::prefill;
  FleetVariant decode = variant();
  decode.replica.role = EngineRole::decode;
  ListSource source(arrivals(2, 11));
  Fleet fleet({.client = {.total_timeout = seconds(5)}}, {prefill, decode}, {}, source);
  fleet.add_replica(0, Instant{});
  fleet.advance(at_s(1));
  EXPECT_EQ(fleet.gateway_waiting(), 2);
  fleet.add_replica(1, at_s(1));
  EXPECT_EQ(fleet.gateway_waiting(), 0);
  fleet.finish(at_s(10));
  EXPECT_EQ(fleet.meter().counts.completed, 2);
}

TEST(Fleet, ALongRequestIsSentToAReplicaWithEnoughMemory) {
  FleetVariant big = variant();
  big.replica.kv_blocks = 1000;
  ListSource source({row(0, 5000, 10)});
  Fleet fleet({}, {variant(), big}, {}, source);
  fleet.add_replica(0, Instant{});
  fleet.add_replica(1, Instant{});
  fleet.finish(at_s(10));
  EXPECT_EQ(fleet.meter().counts.completed, 1);
}

TEST(Fleet, RequestsAreDistributedByTheWeightsOfTheReplicas) {
  struct WeightRow {
    std::int64_t weights[2];
    RequestCount holds[2];  // of twelve requests
  };
  const WeightRow rows[] = {{{1, 1}, {6, 6}}, {{300, 100}, {9, 3}}, {{1, 2}, {4, 8}}, {{10, 1}, {11, 1}}};
  for (const WeightRow& row : rows) {
    FleetVariant variants[] = {variant(), variant()};
    for (std::size_t i = 0; i < 2; ++i) {
      variants[i].replica.max_seqs = 16;
      variants[i].weight = row.weights[i];
    }
    ListSource source(arrivals(12, 500));
    Fleet fleet({}, {variants[0], variants[1]}, {}, source);
    const ReplicaHandle first = fleet.add_replica(0, Instant{});
    const ReplicaHandle second = fleet.add_replica(1, Instant{});
    fleet.advance(at_s(1));
    EXPECT_EQ(fleet.load(first), row.holds[0]) << row.weights[0] << " to " << row.weights[1];
    EXPECT_EQ(fleet.load(second), row.holds[1]) << row.weights[0] << " to " << row.weights[1];
  }
}

TEST(Fleet, SamplesReportTheBusyTimeOfAReplica) {
  ListSource source(arrivals(1, 50));
  Fleet fleet({}, {variant()}, {}, source);
  const ReplicaHandle replica = fleet.add_replica(0, Instant{});
  const ReplicaReading first = fleet.sample(replica, at_s(1), true);
  EXPECT_EQ(first.engine.busy_total, milliseconds(500));
  ASSERT_TRUE(first.ttft_p99.has_value());
  EXPECT_LE(*first.ttft_p99, milliseconds(10));  // vLLM's bucket of 5 to 10 ms
  EXPECT_EQ(first.tpot.counts[0], 1u) << "the bucket of up to 10 ms per token";
  const ReplicaReading second = fleet.sample(replica, at_s(2), true);
  EXPECT_TRUE(!second.ttft_p99 && second.tpot == TpotBuckets{});
  EXPECT_EQ(first.finished_total, 1);
  EXPECT_EQ(second.finished_total, 1) << "it counts from the start of the replica";
  EXPECT_EQ(second.engine.busy_total, milliseconds(500));
}

TEST(Fleet, CountsRequestsByMinute) {
  ListSource source({row(0, 100, 10), row(59'999, 100, 10), row(60'000, 100, 10), row(60'000, 100, 10),
                     row(60'000, 100, 10), row(185'000, 100, 10)});
  Fleet fleet({}, {variant()}, {}, source);
  fleet.add_replica(0, Instant{});
  fleet.finish(at_s(190));
  const std::vector<RequestMinute>& minutes = fleet.meter().minutes;
  ASSERT_EQ(minutes.size(), 4u);
  const RequestCount arrived[] = {2, 3, 0, 1};
  for (std::size_t i = 0; i < minutes.size(); ++i) {
    EXPECT_EQ(minutes[i].arrived, arrived[i]);
    EXPECT_EQ(minutes[i].met, arrived[i]);
    EXPECT_EQ(minutes[i].waiting, 0);
  }
  EXPECT_GE(minutes[1].waiting_max, 1);
  EXPECT_GT(minutes[1].ttft_p99_us, minutes[0].ttft_p99_us);
  EXPECT_EQ(minutes[2].ttft_p99_us, 0);
  EXPECT_GT(minutes[0].tpot_p99_us, 0);
  EXPECT_EQ(minutes[2].tpot_p99_us, 0) << "no answer was completed";
}

TEST(Fleet, AClosedLoopKeepsItsConcurrency) {
  workload::ClosedLoopSpec spec{.concurrency = 3, .lengths = {}, .lengths_profile = {}, .requests = 30};
  spec.lengths.input.tokens = 100;
  spec.lengths.output.tokens = 20;
  workload::ClosedLoop clients(spec, 1, std::nullopt);
  Fleet fleet({}, {variant()}, {}, clients);
  fleet.add_replica(0, Instant{});
  fleet.add_replica(0, Instant{});
  for (int ms = 0; ms < 1000; ms += 7) {
    fleet.advance(at_ms(ms));
    EXPECT_EQ(fleet.meter().counts.in_flight + fleet.meter().counts.queued, 3);
  }
  fleet.finish(at_s(100));
  EXPECT_EQ(fleet.meter().counts.completed, 30);
  EXPECT_TRUE(fleet.is_over());
}

TEST(Fleet, CopiesOfATraceHaveTheirOwnPrefixes) {
  const std::vector<std::uint64_t> hashes = {11, 12, 13, 14};
  workload::Request request = row(0, 2048, 5);
  request.prefix_hashes = hashes;
  FleetVariant v = variant();
  v.replica.kv_blocks = 1000;
  for (const std::uint64_t salt : {0, 77}) {
    workload::Request later = request;
    later.arrival = at_s(1);
    later.prefix_salt = salt;
    ListSource source({request, later});
    Fleet fleet({.router = {.kind = RouterKind::prefix_affine}}, {v}, {}, source);
    const ReplicaHandle replica = fleet.add_replica(0, Instant{});
    fleet.advance(at_s(5));
    EXPECT_EQ(fleet.sample(replica, at_s(5), false).engine.prefix_hit_tokens_total > 0, salt == 0);
  }
}

TEST(Fleet, ACopyOfATraceIsNotRoutedToWhereTheOriginalWent) {
  const std::vector<std::uint64_t> hashes = {11, 12, 13, 14};
  for (const std::uint64_t salt : {0, 77}) {
    workload::Request first = row(0, 2048, 5), other = row(500, 64, 400), later = row(1000, 2048, 5);
    first.prefix_hashes = later.prefix_hashes = hashes;
    later.prefix_salt = salt;
    ListSource source({first, other, later});
    FleetVariant v = variant();
    v.replica.kv_blocks = 1000;
    Fleet fleet({.router = {.kind = RouterKind::prefix_affine}}, {v}, {}, source);
    const ReplicaHandle first_replica = fleet.add_replica(0, Instant{});
    fleet.add_replica(0, Instant{});
    fleet.advance(at_s(1));
    EXPECT_EQ(fleet.load(first_replica), salt == 0 ? 2 : 1) << "the busier one gets requests whose prefix it knows";
  }
}

struct CacheRow {
  const char* teaches;
  std::int32_t input;
  std::uint64_t second_salt;
  std::int32_t cached;  ///< tokens of the second request's prompt that did not have to be computed
};
const CacheRow kCacheRows[] = {
    {"whole groups of 512 tokens are found again", 2000, 0, 1536},
    {"at least one token of a prompt is computed", 2048, 0, 1536},
    {"a part of a group is never shared", 511, 0, 0},
    {"a copy of the trace shares no prefix", 2000, 77, 0},
};

TEST(Fleet, CachedTokensCountAsNoUsefulWork) {
  const std::vector<std::uint64_t> hashes = {11, 12, 13, 14};
  FleetVariant v = variant();
  v.replica.kv_blocks = 1000;
  for (const CacheRow& c : kCacheRows) {
    SCOPED_TRACE(c.teaches);
    workload::Request first = row(0, c.input, 5), second = row(1000, c.input, 5);
    first.prefix_hashes = second.prefix_hashes = hashes;
    second.prefix_salt = c.second_salt;
    ListSource source({first, second});
    Fleet fleet({}, {v}, {}, source);
    fleet.add_replica(0, Instant{});
    fleet.finish(at_s(5));
    EXPECT_EQ(fleet.meter().counts.met, 2);
    EXPECT_EQ(fleet.meter().cached_tokens, c.cached);
    EXPECT_TRUE(fleet.meter().useful_gpu_ps == kWork.gpu_ps(c.input, 5) + kWork.gpu_ps(c.input, 5, c.cached));
    EXPECT_EQ(fleet.tokens(), (TokenFigures{.generated = 10, .delivered = 10, .cut = 0, .abandoned = 0, .held = 0}));
  }
}

TEST(Fleet, EveryTokenIsCountedByItsOutcome) {
  ListSource source(arrivals(4, 100));
  Fleet fleet({.client = {.total_timeout = milliseconds(200), .max_retries = 0}}, {variant()}, {}, source);
  const ReplicaHandle killed = fleet.add_replica(0, Instant{});
  fleet.add_replica(0, Instant{});
  fleet.kill(killed, at_ms(100));
  TokenFigures tokens = fleet.tokens();
  EXPECT_GT(tokens.cut, 0);
  EXPECT_GT(tokens.held, 0);
  EXPECT_TRUE(tokens.conserved());
  fleet.finish(at_s(2));
  tokens = fleet.tokens();
  EXPECT_GT(tokens.abandoned, 0);
  EXPECT_EQ(tokens.held, 0);
  EXPECT_TRUE(tokens.conserved());
  --tokens.delivered;
  EXPECT_FALSE(tokens.conserved());
}

}  // namespace
}  // namespace capstan::sim
