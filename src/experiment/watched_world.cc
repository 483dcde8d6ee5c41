#include "experiment/watched_world.h"

#include <algorithm>

namespace capstan::experiment {
namespace {

bool same(const model::Signal& signal, std::int64_t value) {
  return signal.state == model::Signal::State::missing || signal.value == value;
}

bool copies(const model::ReplicaSignals& signals, const sim::EngineReading& reading) {
  return same(signals.waiting, reading.waiting) && same(signals.running, reading.running) &&
         same(signals.prompt_tokens_total, reading.prompt_tokens_total) &&
         same(signals.generated_tokens_total, reading.generated_tokens_total);
}

bool copies(const model::Signal& signal, RequestCount waiting) { return same(signal, waiting); }

/// Ages are as of the publication, which is at least `delay` after the scrape and not later than now.
bool honest_age(const model::Signal& signal, Duration since_scrape, Duration delay) {
  return since_scrape >= delay && signal.age >= delay && signal.age <= since_scrape;
}

/// Is it what one of the scrapes took, and visible no sooner than that one may be?
template <typename Signals, typename Readings>
bool known(const Signals& signals, const model::Signal& any, const Readings* readings, Instant now, Duration delay) {
  if (any.state == model::Signal::State::missing) return true;
  return readings != nullptr && std::ranges::any_of(*readings, [&](const auto& taken) {
           return !taken.at.is_never() && honest_age(any, now - taken.at, delay) && copies(signals, taken.reading);
         });
}

bool later(Instant event, Instant now) { return !event.is_never() && event > now; }

}  // namespace

std::int64_t oracle_rows(const ports::Observation& seen, const ScrapeLog& scraped, Duration delay) {
  const model::Snapshot& snapshot = seen.snapshot;
  const Instant now = snapshot.at;
  std::int64_t rows = 0;
  const auto count = [&](const auto& ids, const auto& table, auto&& knows_too_much) {
    for (const auto id : ids) {
      const auto* row = table.find(id);
      rows += row != nullptr && knows_too_much(id, *row) ? 1 : 0;
    }
  };
  count(seen.delta.services, snapshot.services, [&](model::ServiceId id, const model::ServiceState& state) {
    return !known(state.gateway_waiting, state.gateway_waiting, scraped.of(id), now, delay);
  });
  count(seen.delta.gangs, snapshot.gangs, [&](model::GangId id, const model::Gang& gang) {
    return later(gang.created_at, now) || !known(gang.signals, gang.signals.waiting, scraped.of(id), now, delay);
  });
  count(seen.delta.pods, snapshot.pods,
        [&](model::PodId, const model::Pod& pod) { return later(pod.created_at, now); });
  count(seen.delta.nodes, snapshot.nodes,
        [&](model::NodeId, const model::Node& node) { return later(node.ready_at, now); });
  count(seen.delta.claims, snapshot.claims,
        [&](model::ClaimId, const model::Claim& claim) { return later(claim.requested_at, now); });
  return rows;
}

}  // namespace capstan::experiment
