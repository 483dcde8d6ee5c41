#include "experiment/watched_world.h"

#include <gtest/gtest.h>

#include <functional>

namespace capstan::experiment {
namespace {

using std::chrono::seconds;

constexpr Instant at(int s) { return {seconds(s)}; }
constexpr Duration kDelay = seconds(1);

/// One replica and one gateway, scraped at 30 s and 45 s; looked at at 46 s, just when the second scrape shows.
struct Honest {
  ScrapeLog log;
  ports::Observation seen;

  Honest() {
    sim::EngineReading before, last;
    before.waiting = 3, before.running = 2, before.prompt_tokens_total = 900, before.generated_tokens_total = 40;
    last.waiting = 7, last.running = 4, last.prompt_tokens_total = 1800, last.generated_tokens_total = 90;
    log.add(model::GangId{0}, at(30), before);
    log.add(model::GangId{0}, at(45), last);
    log.add(model::ServiceId{0}, at(45), 12);

    model::Gang gang;
    gang.phase = model::Gang::Phase::ready;
    gang.created_at = at(1);
    gang.signals.waiting = model::Signal::of(7, kDelay);
    gang.signals.running = model::Signal::of(4, kDelay);
    gang.signals.prompt_tokens_total = model::Signal::of(1800, kDelay);
    gang.signals.generated_tokens_total = model::Signal::of(90, kDelay);
    seen.snapshot.at = at(46);
    seen.snapshot.gangs.set({0}, gang);
    seen.snapshot.services.set({0}, {.desired_replicas = 1, .gateway_waiting = model::Signal::of(12, kDelay)});
    model::Node node;
    node.ready_at = at(20);
    seen.snapshot.nodes.set({0}, node);
    model::Pod pod;
    pod.created_at = at(1);
    seen.snapshot.pods.set({0}, pod);
    model::Claim claim;
    claim.requested_at = at(40);
    claim.expected_ready_at = at(100);
    seen.snapshot.claims.set({0}, claim);
    seen.delta = {0, 1, {{0}}, {{0}}, {{0}}, {{0}}, {{0}}};
  }

  model::Gang gang() const { return seen.snapshot.gangs.at({0}); }
};

struct Row {
  const char* teaches;
  std::function<void(Honest&)> change;
  std::int64_t rows;
};

const Row kRows[] = {
    {"copies of scraped readings, as old as they are, are no oracle; nor is a prediction", [](Honest&) {}, 0},
    {"the reading before is fine while the last one is on its way",
     [](Honest& h) {
       model::Gang gang = h.gang();
       gang.signals.waiting = model::Signal::of(3, seconds(15));
       gang.signals.running = model::Signal::of(2, seconds(15));
       gang.signals.prompt_tokens_total = model::Signal::of(900, seconds(15));
       gang.signals.generated_tokens_total = model::Signal::of(40, seconds(15));
       h.seen.snapshot.gangs.set({0}, gang);
     },
     0},
    {"what is missing says nothing",
     [](Honest& h) {
       model::Gang gang = h.gang();
       gang.signals = {};
       h.seen.snapshot.gangs.set({0}, gang);
     },
     0},
    {"a queue as it is now, and not as it was scraped",
     [](Honest& h) {
       model::Gang gang = h.gang();
       gang.signals.waiting.value = 8;
       h.seen.snapshot.gangs.set({0}, gang);
     },
     1},
    {"a reading that nobody has had time to send",
     [](Honest& h) {
       h.seen.snapshot.at = at(45);
       model::Gang gang = h.gang();
       h.seen.snapshot.gangs.set({0}, gang);
       h.seen.delta.services.clear();
     },
     1},
    {"a reading that claims to be of this moment",
     [](Honest& h) {
       model::Gang gang = h.gang();
       gang.signals.waiting.age = {};
       h.seen.snapshot.gangs.set({0}, gang);
     },
     1},
    {"a replica that was never scraped", [](Honest& h) { h.log.forget({0}); }, 1},
    {"tokens that are not generated yet",
     [](Honest& h) {
       model::Gang gang = h.gang();
       gang.signals.generated_tokens_total.value = 91;
       h.seen.snapshot.gangs.set({0}, gang);
     },
     1},
    {"requests at the gateway that it has not reported",
     [](Honest& h) {
       h.seen.snapshot.services.set({0}, {.desired_replicas = 1, .gateway_waiting = model::Signal::of(13, kDelay)});
     },
     1},
    {"a node, a claim and a pod of the future",
     [](Honest& h) {
       model::Node node;
       node.ready_at = at(47);
       h.seen.snapshot.nodes.set({0}, node);
       model::Claim claim;
       claim.requested_at = at(47);
       h.seen.snapshot.claims.set({0}, claim);
       model::Pod pod;
       pod.created_at = at(47);
       h.seen.snapshot.pods.set({0}, pod);
     },
     3},
    {"what has not changed was looked at before", [](Honest& h) { h.log.forget({0}), h.seen.delta = {}; }, 0},
};

TEST(WatchedWorld, Rows) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.teaches);
    Honest world;
    row.change(world);
    EXPECT_EQ(oracle_rows(world.seen, world.log, kDelay), row.rows);
  }
}

}  // namespace
}  // namespace capstan::experiment
