#include "sim/cluster/scraper.h"

#include <algorithm>

#include "base/known_row.h"
#include "model/signal_names.h"

namespace capstan::sim {
namespace {

std::int64_t percent(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return 0;
  return static_cast<std::int64_t>(static_cast<__int128>(part) * 100 / whole);
}

}  // namespace

Scraper::Scraper(Basics& basics, std::uint64_t seed, ServingHook& hook)
    : Component(basics), hook_(hook), draws_(seed, "cluster.scrape") {
  CAPSTAN_ASSERT(config_.scrape.interval.count() > 0 && config_.scrape.delay < config_.scrape.interval);
}

void Scraper::begin(model::GangId id) {
  Target& target = targets_[id];
  target.is_read = true;
  target.scraped_at = now();
  target.scraped_busy = {};
}

void Scraper::pause(model::GangId id) {
  Target& target = known_row(targets_, id);
  target.is_read = false;
  target.has_reading = false;
  api_.set(id, model::ReplicaSignals{});
}

/// Reads all targets unless the monitoring system is down. The readings become visible after the delay.
void Scraper::scrape() {
  if (!config_.scrape.is_blackout(now())) read_targets();
  events_.schedule(now() + config_.scrape.delay, EventKind::publish);
  events_.schedule(now() + config_.scrape.interval, EventKind::scrape);
}

void Scraper::read_targets() {
  for (auto& [id, target] : targets_) {
    if (!target.is_read || draws_.chance_ppm(config_.scrape.loss_ppm)) continue;
    read(id, target);
  }
  for (std::uint32_t s = 0; s < catalog().services.size(); ++s) {
    if (draws_.chance_ppm(config_.scrape.loss_ppm)) continue;
    gateways_[{s}] = {now(), hook_.gateway_waiting({s}, now())};
  }
}

void Scraper::read(model::GangId id, Target& target) {
  const EngineReading raw = hook_.sample(id, now(), true);
  const std::int64_t duty =
      percent((raw.busy_total - target.scraped_busy).count(), (now() - target.scraped_at).count());
  target.reading = raw.signals;
  target.reading.duty_cycle_percent = model::Signal::measured(std::clamp<std::int64_t>(duty, 0, 100));
  target.reading.memory_used_percent = model::Signal::measured(config_.memory_used_percent);
  target.scraped_busy = raw.busy_total;
  target.scraped_at = now();
  target.reading_at = now();
  target.has_reading = true;
}

model::Signal Scraper::aged(model::Signal signal, Instant measured) const {
  if (signal.state == model::Signal::State::missing) return signal;
  signal.age = now() - measured;
  if (signal.age > config_.scrape.missing_after) {
    signal.state = model::Signal::State::missing;
    signal.value = 0;
  } else if (signal.age > config_.scrape.stale_after) {
    signal.state = model::Signal::State::stale;
  }
  return signal;
}

void Scraper::publish() {
  for (const auto& [id, target] : targets_) {
    if (!target.has_reading) continue;
    model::ReplicaSignals signals = target.reading;
    for (const model::ReplicaSignal& signal : model::kReplicaSignals) {
      signals.*signal.field = aged(signals.*signal.field, target.reading_at);
    }
    if (rows().signals_of(id) != signals) api_.set(id, signals);
  }
  for (const auto& [id, gateway] : gateways_) {
    model::ServiceState state = rows().services.at(id);
    state.gateway_waiting = aged(model::Signal::measured(gateway.waiting), gateway.reading_at);
    if (!(state == rows().services.at(id))) api_.set(id, state);
  }
}

}  // namespace capstan::sim
