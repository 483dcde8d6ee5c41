#include "experiment/run/watched_world.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace capstan::experiment {
namespace {

using Signals = model::ReplicaSignals;
using Scrape = ScrapeLog::Taken<ScrapeLog::ReplicaReading>;
using Reading = const ScrapeLog::ReplicaReading&;
using Config = const sim::ClusterConfig&;
using Said = std::optional<std::int64_t>;

/// Returns every signal of a replica with the value of a reading; none if the engine reported no value.
struct Field {
  model::Signal Signals::* signal;
  Said (*said)(Reading, Config);
};

constexpr Field kFields[] = {
    {&Signals::waiting, [](Reading r, Config) -> Said { return r.engine.waiting; }},
    {&Signals::running, [](Reading r, Config) -> Said { return r.engine.running; }},
    {&Signals::kv_usage_ppm,
     [](Reading r, Config) -> Said {
       const std::int64_t blocks = r.engine.kv_blocks_total;
       return blocks > 0 ? r.engine.kv_blocks_used * 1'000'000 / blocks : 0;
     }},
    {&Signals::duty_cycle_percent, [](Reading r, Config) -> Said { return r.duty_cycle_percent; }},
    {&Signals::memory_used_percent, [](Reading, Config config) -> Said { return config.memory_used_percent; }},
    {&Signals::ttft_p99_us,
     [](Reading r, Config) -> Said {
       return r.engine.ttft_p99 ? Said(*r.engine.ttft_p99 / std::chrono::microseconds(1)) : std::nullopt;
     }},
    {&Signals::ttft_late_ppm, [](Reading r, Config) -> Said { return r.engine.ttft_late_ppm; }},
    {&Signals::queue_late_ppm, [](Reading r, Config) -> Said { return r.engine.queue_late_ppm; }},
    {&Signals::tpot_late_ppm, [](Reading r, Config) -> Said { return r.engine.tpot_late_ppm; }},
    {&Signals::prompt_tokens_total, [](Reading r, Config) -> Said { return r.engine.prompt_tokens_total; }},
    {&Signals::generated_tokens_total, [](Reading r, Config) -> Said { return r.engine.generated_tokens_total; }},
};
static_assert(std::size(kFields) * sizeof(model::Signal) == sizeof(Signals), "a signal without a comparison");

/// Returns true if the signal has the scraped value and the right age, or is missing. Ages count up to the publication,
/// which is at least the delay after the scrape and not later than now.
bool copies(const model::Signal& signal, Said said, Duration since_scrape, Duration delay) {
  if (signal.state == model::Signal::State::missing) return true;
  return signal.value == said && since_scrape >= delay && signal.age >= delay && signal.age <= since_scrape;
}

bool known(const Signals& signals, const ScrapeLog::LastTwo<ScrapeLog::ReplicaReading>* readings, Instant now,
           Config config) {
  const auto all_of = [&](const auto& holds) { return std::ranges::all_of(kFields, holds); };
  if (all_of([&](const Field& f) { return (signals.*f.signal).state == model::Signal::State::missing; })) return true;
  return readings != nullptr && std::ranges::any_of(*readings, [&](const Scrape& scrape) {
           return !scrape.at.is_never() && all_of([&](const Field& f) {
             return copies(signals.*f.signal, f.said(scrape.reading, config), now - scrape.at, config.scrape.delay);
           });
         });
}

bool known(const model::Signal& waiting, const ScrapeLog::LastTwo<RequestCount>* readings, Instant now, Config config) {
  if (waiting.state == model::Signal::State::missing) return true;
  return readings != nullptr && std::ranges::any_of(*readings, [&](const ScrapeLog::Taken<RequestCount>& scrape) {
           return !scrape.at.is_never() && copies(waiting, scrape.reading, now - scrape.at, config.scrape.delay);
         });
}

bool later(Instant event, Instant now) { return !event.is_never() && event > now; }

}  // namespace

std::int64_t oracle_rows(const ports::Observation& seen, const ScrapeLog& scraped, const sim::ClusterConfig& config) {
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
    return !known(state.gateway_waiting, scraped.of(id), now, config);
  });
  count(seen.delta.gangs, snapshot.gangs,
        [&](model::GangId, const model::Gang& gang) { return later(gang.created_at, now); });
  count(seen.delta.signals, snapshot.signals, [&](model::GangId id, const model::ReplicaSignals& signals) {
    return !known(signals, scraped.of(id), now, config);
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
