#include "experiment/run/watched_world.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/testing/moment.h"

namespace capstan::experiment {
namespace {

using capstan::testing::at_s;

using std::chrono::seconds;

constexpr Duration kDelay = seconds(1);

/// A replica and a gateway, scraped at 30 s and at 45 s and observed at 46 s, when the second scrape becomes visible.
struct Honest {
  ScrapeLog log;
  ports::Observation seen;

  Honest() {
    sim::EngineReading before, last;
    before.waiting = 3, before.running = 2, before.prompt_tokens_total = 900, before.generated_tokens_total = 40;
    before.kv_blocks_used = 250, before.kv_blocks_total = 1000, before.busy_total = seconds(3);
    last.waiting = 7, last.running = 4, last.prompt_tokens_total = 1800, last.generated_tokens_total = 90;
    last.kv_blocks_used = 500, last.kv_blocks_total = 1000, last.busy_total = seconds(9);
    last.ttft_p99 = std::chrono::milliseconds(250);
    last.ttft_late_ppm = 12'500;
    last.queue_late_ppm = 2'500;
    last.tpot_late_ppm = 7'500;
    log.begin(model::GangId{0}, at_s(15));
    log.add(model::GangId{0}, at_s(30), before);
    log.add(model::GangId{0}, at_s(45), last);
    log.add(model::ServiceId{0}, at_s(45), 12);

    model::Gang gang;
    gang.phase = model::Gang::Phase::ready;
    gang.created_at = at_s(1);
    const model::ReplicaSignals signals = {.waiting = model::Signal::of(7, kDelay),
                                           .running = model::Signal::of(4, kDelay),
                                           .kv_usage_ppm = model::Signal::of(500'000, kDelay),
                                           .duty_cycle_percent = model::Signal::of(40, kDelay),
                                           .memory_used_percent = model::Signal::of(92, kDelay),
                                           .ttft_p99_us = model::Signal::of(250'000, kDelay),
                                           .ttft_late_ppm = model::Signal::of(12'500, kDelay),
                                           .queue_late_ppm = model::Signal::of(2'500, kDelay),
                                           .tpot_late_ppm = model::Signal::of(7'500, kDelay),
                                           .prompt_tokens_total = model::Signal::of(1800, kDelay),
                                           .generated_tokens_total = model::Signal::of(90, kDelay)};
    seen.snapshot.at = at_s(46);
    seen.snapshot.gangs.set({0}, gang);
    seen.snapshot.signals.set({0}, signals);
    seen.snapshot.services.set({0}, {.desired_replicas = 1, .gateway_waiting = model::Signal::of(12, kDelay)});
    model::Node node;
    node.ready_at = at_s(20);
    seen.snapshot.nodes.set({0}, node);
    model::Pod pod;
    pod.created_at = at_s(1);
    seen.snapshot.pods.set({0}, pod);
    model::Claim claim;
    claim.requested_at = at_s(40);
    claim.expected_ready_at = at_s(100);
    seen.snapshot.claims.set({0}, claim);
    seen.delta = {0, 1, {{0}}, {{0}}, {{0}}, {{0}}, {{0}}, {{0}}};
  }

  model::Gang gang() const { return seen.snapshot.gangs.at({0}); }
  model::ReplicaSignals signals() const { return seen.snapshot.signals.at({0}); }
};

struct ChangeRow {
  const char* teaches;
  std::function<void(Honest&)> change;
  std::int64_t rows;
};

/// Changes the value of one signal and keeps its age.
std::function<void(Honest&)> says(model::Signal model::ReplicaSignals::* field, std::int64_t value) {
  return [=](Honest& h) {
    model::ReplicaSignals signals = h.signals();
    (signals.*field).value = value;
    h.seen.snapshot.signals.set({0}, signals);
  };
}

const ChangeRow kChangeRows[] = {
    {"copies of scraped readings, as old as they are, are no oracle; nor is a prediction", [](Honest&) {}, 0},
    {"the reading before is fine while the last one is on its way",
     [](Honest& h) {
       const model::ReplicaSignals signals = {.waiting = model::Signal::of(3, seconds(15)),
                                              .running = model::Signal::of(2, seconds(15)),
                                              .kv_usage_ppm = model::Signal::of(250'000, seconds(15)),
                                              .duty_cycle_percent = model::Signal::of(20, seconds(15)),
                                              .memory_used_percent = model::Signal::of(92, seconds(15)),
                                              .ttft_p99_us = {},
                                              .ttft_late_ppm = {},
                                              .queue_late_ppm = {},
                                              .tpot_late_ppm = {},
                                              .prompt_tokens_total = model::Signal::of(900, seconds(15)),
                                              .generated_tokens_total = model::Signal::of(40, seconds(15))};
       h.seen.snapshot.signals.set({0}, signals);
     },
     0},
    {"half of one reading and half of the next is none of them",
     [](Honest& h) {
       model::ReplicaSignals signals = h.signals();
       signals.waiting = model::Signal::of(3, seconds(15));
       h.seen.snapshot.signals.set({0}, signals);
     },
     1},
    {"what is missing says nothing",
     [](Honest& h) {
       model::ReplicaSignals signals = h.signals();
       signals = {};
       h.seen.snapshot.signals.set({0}, signals);
     },
     0},
    {"a field that is missing hides no other",
     [](Honest& h) {
       model::ReplicaSignals signals = h.signals();
       signals.waiting = {};
       signals.running.value = 5;
       h.seen.snapshot.signals.set({0}, signals);
     },
     1},
    {"nor does it matter to the others",
     [](Honest& h) {
       model::ReplicaSignals signals = h.signals();
       signals.waiting = {};
       h.seen.snapshot.signals.set({0}, signals);
     },
     0},
    {"a queue as it is now, and not as it was scraped", says(&model::ReplicaSignals::waiting, 8), 1},
    {"requests that run now, and did not", says(&model::ReplicaSignals::running, 5), 1},
    {"a KV cache as it is now", says(&model::ReplicaSignals::kv_usage_ppm, 500'001), 1},
    {"a duty cycle of another interval", says(&model::ReplicaSignals::duty_cycle_percent, 41), 1},
    {"memory that the engine does not hold", says(&model::ReplicaSignals::memory_used_percent, 91), 1},
    {"a first token that came since", says(&model::ReplicaSignals::ttft_p99_us, 250'001), 1},
    {"a share of late first tokens from after the scrape", says(&model::ReplicaSignals::ttft_late_ppm, 12'501), 1},
    {"a wait from after the scrape", says(&model::ReplicaSignals::queue_late_ppm, 2'501), 1},
    {"slow answers from after the scrape", says(&model::ReplicaSignals::tpot_late_ppm, 7'501), 1},
    {"a prompt that came since", says(&model::ReplicaSignals::prompt_tokens_total, 1801), 1},
    {"a reading from before the delay has passed",
     [](Honest& h) {
       h.seen.snapshot.at = at_s(45);
       model::Gang gang = h.gang();
       h.seen.snapshot.gangs.set({0}, gang);
       h.seen.delta.services.clear();
     },
     1},
    {"a reading that claims to be of this moment",
     [](Honest& h) {
       model::ReplicaSignals signals = h.signals();
       signals.waiting.age = {};
       h.seen.snapshot.signals.set({0}, signals);
     },
     1},
    {"a replica that was never scraped", [](Honest& h) { h.log.forget({0}); }, 1},
    {"tokens that are not generated yet", says(&model::ReplicaSignals::generated_tokens_total, 91), 1},
    {"requests at the gateway that it has not reported",
     [](Honest& h) {
       h.seen.snapshot.services.set({0}, {.desired_replicas = 1, .gateway_waiting = model::Signal::of(13, kDelay)});
     },
     1},
    {"a node, a claim and a pod of the future",
     [](Honest& h) {
       model::Node node;
       node.ready_at = at_s(47);
       h.seen.snapshot.nodes.set({0}, node);
       model::Claim claim;
       claim.requested_at = at_s(47);
       h.seen.snapshot.claims.set({0}, claim);
       model::Pod pod;
       pod.created_at = at_s(47);
       h.seen.snapshot.pods.set({0}, pod);
     },
     3},
    {"what has not changed was looked at before", [](Honest& h) { h.log.forget({0}), h.seen.delta = {}; }, 0},
};

TEST(WatchedWorld, Rows) {
  sim::ClusterConfig config;
  config.scrape.delay = kDelay;
  for (const ChangeRow& row : kChangeRows) {
    SCOPED_TRACE(row.teaches);
    Honest world;
    row.change(world);
    EXPECT_EQ(oracle_rows(world.seen, world.log, config), row.rows);
  }
}

}  // namespace
}  // namespace capstan::experiment
