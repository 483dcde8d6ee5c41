#pragma once

#include <cstdint>
#include <set>

#include "base/assert.h"
#include "base/hash.h"
#include "base/time.h"

namespace capstan::sim {

/// The kinds of events. Events at the same time happen in this order: first events that free resources, then events
/// that add nodes and replicas, then scrapes and outages. Events of batch jobs come last.
enum class EventKind : std::uint8_t {
  node_gone,
  spot_kill,
  spot_notice,
  drain_deadline,
  drain_poll,
  end_sleep,
  claim_decided,
  node_booted,
  node_ready,
  action_effect,
  unknown_reported,
  reconcile,
  initial,
  engine_ready,
  warm,
  scrape,
  publish,
  outage,
  job_done,
  job_started,
  job_restarted,
  job_arrival,
  queueing,
};

struct Event {
  Instant at;
  EventKind kind{};
  std::uint64_t sequence = 0;  ///< number of the schedule() call; orders events of one moment and kind
  std::uint32_t id = 0;        ///< id of the object; its type follows from the kind
  friend auto operator<=>(const Event&, const Event&) = default;
};

/// The simulated clock of a cluster, and the events that are still to come.
class EventQueue {
 public:
  Instant now() const { return now_; }
  void set_now(Instant now) {
    CAPSTAN_ASSERT(now >= now_);
    now_ = now;
  }

  void schedule(Instant at, EventKind kind, std::uint32_t id = 0) { events_.insert({at, kind, sequence_++, id}); }
  Instant next() const { return events_.empty() ? Instant::never() : events_.begin()->at; }
  /// Removes the first event and returns it. There must be one.
  Event take() { return events_.extract(events_.begin()).value(); }

  /// Adds the time and all events to the hash, except for their sequence numbers.
  void add_to(StateHash& hash) const {
    hash.add(static_cast<std::uint64_t>(now_.since_start.count()));
    for (const Event& event : events_) {
      hash.add(static_cast<std::uint64_t>(event.at.since_start.count()));
      hash.add(static_cast<std::uint64_t>(event.kind));
      hash.add(event.id);
    }
  }

 private:
  Instant now_;
  std::uint64_t sequence_ = 0;
  std::set<Event> events_;
};

}  // namespace capstan::sim
