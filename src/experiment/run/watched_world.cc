#include "experiment/run/watched_world.h"

#include <algorithm>

#include "model/signal_names.h"

namespace capstan::experiment {
namespace {

using Signals = model::ReplicaSignals;
using Scrape = ScrapeLog::TakenReading<Signals>;
using Config = const sim::ClusterConfig&;

bool is_missing(const model::Signal& signal) { return signal.state == model::Signal::State::missing; }

/// Returns true if the signal is missing, or has the scraped value and a possible age. The age is the time from the
/// scrape to the publication, so it is at least the delay and at most the time since the scrape.
bool copies(const model::Signal& signal, const model::Signal& scraped, Duration since_scrape, Duration delay) {
  if (is_missing(signal)) return true;
  return !is_missing(scraped) && signal.value == scraped.value && since_scrape >= delay && signal.age >= delay &&
         signal.age <= since_scrape;
}

/// Returns true if each signal of a replica is missing or copies this scrape.
bool copies(const Signals& signals, Scrape scrape, Instant now, Config config) {
  scrape.reading.memory_used_percent = model::Signal::measured(config.memory_used_percent);
  return !scrape.at.is_never() && std::ranges::all_of(model::kReplicaSignals, [&](const model::ReplicaSignal& s) {
    return copies(signals.*s.field, scrape.reading.*s.field, now - scrape.at, config.scrape.delay);
  });
}

bool known(const Signals& signals, const ScrapeLog::LastTwo<Signals>* readings, Instant now, Config config) {
  const auto missing = [&](const model::ReplicaSignal& s) { return is_missing(signals.*s.field); };
  if (std::ranges::all_of(model::kReplicaSignals, missing)) return true;
  return readings != nullptr &&
         std::ranges::any_of(*readings, [&](const Scrape& scrape) { return copies(signals, scrape, now, config); });
}

bool known(const model::Signal& waiting, const ScrapeLog::LastTwo<RequestCount>* readings, Instant now, Config config) {
  if (is_missing(waiting)) return true;
  return readings != nullptr &&
         std::ranges::any_of(*readings, [&](const ScrapeLog::TakenReading<RequestCount>& scrape) {
           return !scrape.at.is_never() &&
                  copies(waiting, model::Signal::measured(scrape.reading), now - scrape.at, config.scrape.delay);
         });
}

bool later(Instant event, Instant now) { return !event.is_never() && event > now; }

}  // namespace

std::int64_t unobservable_rows(const ports::Observation& seen, const ScrapeLog& scraped,
                               const sim::ClusterConfig& config) {
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
    return !known(state.gateway_waiting, scraped.find(id), now, config);
  });
  count(seen.delta.gangs, snapshot.gangs,
        [&](model::GangId, const model::Gang& gang) { return later(gang.created_at, now); });
  count(seen.delta.signals, snapshot.signals, [&](model::GangId id, const model::ReplicaSignals& signals) {
    return !known(signals, scraped.find(id), now, config);
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
