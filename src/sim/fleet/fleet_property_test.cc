// Goal: whatever happens to replicas and clients, every request is accounted for, and a run depends on its seed alone.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "base/testing/moment.h"
#include "sim/fleet/fleet.h"
#include "sim/fleet/fleet_fixture.h"
#include "workload/list_source.h"

namespace capstan::sim {
namespace {

using namespace fleet_fixture;

using capstan::testing::at_ms;
using capstan::testing::at_s;
using std::chrono::milliseconds;
using workload::ListSource;

struct Chaos {
  std::uint64_t seed = 0;
  RouterKind router = RouterKind::least_loaded;
  bool split = false;
  ClientConfig client;
  RequestCount gateway = 0;
  double rate = 1;
};

Chaos draw_chaos() {
  Chaos c;
  c.seed = *rc::gen::arbitrary<std::uint64_t>();
  c.router = *rc::gen::element(RouterKind::round_robin, RouterKind::least_loaded, RouterKind::prefix_affine);
  c.split = *rc::gen::arbitrary<bool>();
  c.client.first_token_timeout = milliseconds(*rc::gen::element(0, 150, 700));
  c.client.total_timeout = milliseconds(*rc::gen::element(0, 400, 1500));
  c.client.max_retries = *rc::gen::inRange(0, 4);
  c.client.retry_timed_out = *rc::gen::arbitrary<bool>();
  c.client.backoff = milliseconds(*rc::gen::element(0, 20, 300));
  c.gateway = *rc::gen::element(0, 3, 50);
  c.rate = *rc::gen::element(5.0, 40.0, 150.0);
  return c;
}

/// Returns random requests that share prefixes and arrive at whole milliseconds, some of them in a superposed copy.
std::vector<workload::Request> chaotic_requests(const Chaos& c, const std::vector<std::uint64_t>& blocks) {
  RandomStream random(c.seed, "requests");
  std::vector<workload::Request> rows;
  std::int64_t ms = 0;
  while (ms < 8000) {
    workload::Request r =
        row(ms, static_cast<std::int32_t>(random.between(1, 3000)), static_cast<std::int32_t>(random.between(1, 60)));
    const std::size_t chain = random.below(4) * 6;
    r.prefix_hashes = {blocks.data() + chain, static_cast<std::size_t>((r.input_tokens + 511) / 512)};
    r.prefix_salt = random.below(3);
    rows.push_back(r);
    ms += static_cast<std::int64_t>(random.exponential() * 1000 / c.rate);
  }
  return rows;
}

struct ChaosResult {
  std::uint64_t hash;
  RequestCounts counts;
  friend bool operator==(const ChaosResult&, const ChaosResult&) = default;
};

/// Adds, drains, kills and samples replicas at random. With `check`, a recount after each step gives the same counters.
ChaosResult run_chaos(const Chaos& c, bool check) {
  std::vector<std::uint64_t> blocks;
  for (std::uint64_t i = 0; i < 24; ++i) blocks.push_back(1000 + i);
  ListSource source(chaotic_requests(c, blocks));
  FleetVariant entry = variant();
  FleetVariant decode = variant();
  decode.replica.role = EngineRole::decode;
  if (c.split) entry.replica.role = EngineRole::prefill;
  Fleet fleet({.router = {.kind = c.router, .affinity_extra_load = 2, .affinity_blocks = 16},
               .client = c.client,
               .gateway_max_waiting = c.gateway,
               .seed = c.seed},
              {entry, decode}, {.ttft = milliseconds(100)}, source);
  RandomStream random(c.seed, "chaos");
  std::vector<ReplicaHandle> replicas, draining;
  std::int64_t ms = 0;
  while (ms < 12'000) {
    const Instant now = at_ms(ms);
    const std::uint64_t action = random.below(10);
    if (action < 4 && replicas.size() < 6) {
      replicas.push_back(fleet.add_replica(c.split ? random.below(2) : 0, now));
    } else if (action < 7 && !replicas.empty()) {
      const std::size_t index = random.below(replicas.size());
      if (action == 6) {
        fleet.kill(replicas[index], now);
      } else if (action == 5) {
        fleet.drain(replicas[index], now);
        draining.push_back(replicas[index]);
      }
      if (action != 4) replicas.erase(replicas.begin() + static_cast<std::ptrdiff_t>(index));
    } else if (!replicas.empty()) {
      fleet.sample(replicas.front(), now, action == 8);
    }
    std::erase_if(draining, [&](ReplicaHandle handle) {
      if (!fleet.drained(handle)) return false;
      fleet.remove(handle, now);
      return true;
    });
    fleet.advance(now);
    if (check) {
      RC_ASSERT(fleet.check());
      RC_ASSERT(fleet.meter().counts.conserved());
    }
    ms += static_cast<std::int64_t>(random.below(200));
  }
  fleet.finish(at_s(60));
  if (check) RC_ASSERT(fleet.check());
  return {fleet.state_hash(), fleet.meter().counts};
}

RC_GTEST_PROP(FleetProperties, EveryRequestIsAccountedFor, ()) { run_chaos(draw_chaos(), true); }

RC_GTEST_PROP(FleetProperties, TheSameSeedGivesTheSameResult, ()) {
  const Chaos chaos = draw_chaos();
  RC_ASSERT(run_chaos(chaos, false) == run_chaos(chaos, false));
}

/// Advancing event by event gives the same result as one large step, and nothing happens before an announced event.
RC_GTEST_PROP(FleetProperties, TheSizeOfStepsDoesNotMatter, ()) {
  const Chaos c = draw_chaos();
  std::vector<std::uint64_t> blocks;
  for (std::uint64_t i = 0; i < 24; ++i) blocks.push_back(1000 + i);
  const std::vector<workload::Request> requests = chaotic_requests(c, blocks);
  ListSource one(requests), other(requests);
  const FleetConfig config{
      .router = {.kind = c.router}, .client = c.client, .gateway_max_waiting = c.gateway, .seed = c.seed};
  Fleet whole(config, {variant()}, {}, one);
  Fleet stepped(config, {variant()}, {}, other);
  for (int i = 0; i < 3; ++i) whole.add_replica(0, Instant{}), stepped.add_replica(0, Instant{});
  whole.advance(at_s(20));
  while (stepped.next_event() <= at_s(20)) {
    const Instant event = stepped.next_event();
    const std::uint64_t before = stepped.state_hash();
    if (event > stepped.now()) stepped.advance(event - Duration{1});
    RC_ASSERT(stepped.state_hash() == before);
    stepped.advance(event);
  }
  RC_ASSERT(whole.state_hash() == stepped.state_hash());
  RC_ASSERT(whole.meter().counts == stepped.meter().counts);
}

}  // namespace
}  // namespace capstan::sim
