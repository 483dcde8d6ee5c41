#include "experiment/run/watched_world.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/testing/moment.h"
#include "model/signal_names.h"

namespace capstan::experiment {
namespace {

using capstan::testing::at_s;

using std::chrono::seconds;

constexpr Duration kDelay = seconds(1);

/// Returns the signals on an engine's page. No two signals of a page have the same value, and each value differs from
/// the value on the next page.
model::ReplicaSignals scraped_page(std::int64_t page) {
  model::ReplicaSignals signals;
  std::int64_t value = 10;
  for (const model::ReplicaSignal& signal : model::kReplicaSignals) {
    signals.*signal.field = model::Signal::measured(value + page);
    value += 10;
  }
  signals.duty_cycle_percent = signals.memory_used_percent = {};
  return signals;
}

/// Returns a reading as a snapshot has it, with the signals of the exporter. 92 % of the memory is in use by default.
model::ReplicaSignals seen_as(model::ReplicaSignals signals, std::int64_t duty, Duration age) {
  signals.duty_cycle_percent = model::Signal::measured(duty);
  signals.memory_used_percent = model::Signal::measured(92);
  for (const model::ReplicaSignal& signal : model::kReplicaSignals) (signals.*signal.field).age = age;
  return signals;
}

/// A replica and a gateway, scraped at 30 s and at 45 s and observed at 46 s, when the second scrape becomes visible.
struct Honest {
  ScrapeLog log;
  ports::Observation seen;

  Honest() {
    const sim::EngineReading before = {.signals = scraped_page(0), .busy_total = seconds(3)};
    const sim::EngineReading last = {.signals = scraped_page(1), .busy_total = seconds(9)};
    log.begin(model::GangId{0}, at_s(15));
    log.add(model::GangId{0}, at_s(30), before);
    log.add(model::GangId{0}, at_s(45), last);
    log.add(model::ServiceId{0}, at_s(45), 12);

    model::Gang gang;
    gang.phase = model::Gang::Phase::ready;
    gang.created_at = at_s(1);
    seen.snapshot.at = at_s(46);
    seen.snapshot.gangs.set({0}, gang);
    seen.snapshot.signals.set({0}, seen_as(scraped_page(1), 40, kDelay));
    seen.snapshot.services.set({0}, {.desired_replicas = 1, .gateway_waiting = model::Signal::measured(12, kDelay)});
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

const ChangeRow kChangeRows[] = {
    {"copies of scraped readings, as old as they are, are no oracle; nor is a prediction", [](Honest&) {}, 0},
    {"the reading before is fine while the last one is on its way",
     [](Honest& h) { h.seen.snapshot.signals.set({0}, seen_as(scraped_page(0), 20, seconds(15))); }, 0},
    {"half of one reading and half of the next is none of them",
     [](Honest& h) {
       model::ReplicaSignals signals = h.signals();
       signals.waiting = seen_as(scraped_page(0), 20, seconds(15)).waiting;
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
    {"requests at the gateway that it has not reported",
     [](Honest& h) {
       h.seen.snapshot.services.set({0},
                                    {.desired_replicas = 1, .gateway_waiting = model::Signal::measured(13, kDelay)});
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

TEST(WatchedWorld, CountsRowsThatAControllerCannotKnow) {
  sim::ClusterConfig config;
  config.scrape.delay = kDelay;
  for (const ChangeRow& row : kChangeRows) {
    SCOPED_TRACE(row.teaches);
    Honest world;
    row.change(world);
    EXPECT_EQ(unobservable_rows(world.seen, world.log, config), row.rows);
  }
}

TEST(WatchedWorld, EverySignalIsCompared) {
  sim::ClusterConfig config;
  config.scrape.delay = kDelay;
  for (const model::ReplicaSignal& signal : model::kReplicaSignals) {
    SCOPED_TRACE(signal.name);
    Honest world;
    model::ReplicaSignals signals = world.signals();
    (signals.*signal.field).value += 1;
    world.seen.snapshot.signals.set({0}, signals);
    EXPECT_EQ(unobservable_rows(world.seen, world.log, config), 1) << "a value that was not scraped";
    signals.*signal.field = {};
    world.seen.snapshot.signals.set({0}, signals);
    EXPECT_EQ(unobservable_rows(world.seen, world.log, config), 0) << "a missing signal reveals nothing";
  }
}

TEST(WatchedWorld, ASignalThatTheEngineDidNotReportIsNotKnown) {
  sim::ClusterConfig config;
  config.scrape.delay = kDelay;
  Honest world;
  model::ReplicaSignals silent = scraped_page(2);
  silent.ttft_late_ppm = {};
  world.log.add(model::GangId{0}, at_s(60), {.signals = silent, .busy_total = seconds(9)});
  model::ReplicaSignals signals = seen_as(silent, 0, kDelay);
  world.seen.snapshot.at = at_s(61);
  world.seen.snapshot.signals.set({0}, signals);
  EXPECT_EQ(unobservable_rows(world.seen, world.log, config), 0);
  signals.ttft_late_ppm = model::Signal::measured(0, kDelay);
  world.seen.snapshot.signals.set({0}, signals);
  EXPECT_EQ(unobservable_rows(world.seen, world.log, config), 1);
}

}  // namespace
}  // namespace capstan::experiment
