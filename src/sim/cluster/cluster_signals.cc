// Scraping: what controllers get to know, how old it is, and what is lost on the way.
#include <algorithm>

#include "model/signal_names.h"
#include "sim/cluster/cluster.h"

namespace capstan::sim {
namespace {

std::int64_t ratio(std::int64_t part, std::int64_t whole, std::int64_t scale) {
  if (whole <= 0) return 0;
  return static_cast<std::int64_t>(static_cast<__int128>(part) * scale / whole);
}

model::Signal said_or_missing(const std::optional<std::int64_t>& value) {
  return value ? model::Signal::of(*value) : model::Signal{};
}

}  // namespace

/// Reads every replica that serves or drains, and the gateways. What was read becomes visible `delay` later.
void Cluster::scrape() {
  if (!config_.scrape.dark(now_)) read_targets();
  schedule(now_ + config_.scrape.delay, EventKind::publish);
  schedule(now_ + config_.scrape.interval, EventKind::scrape);
}

void Cluster::read_targets() {
  for (auto& [id, record] : gangs_) {
    if (record.stage != Stage::ready && record.stage != Stage::draining) continue;
    if (scrape_draws_.chance_ppm(config_.scrape.loss_ppm)) continue;
    const EngineReading raw = hook_.sample(id, now_, true);
    const std::int64_t duty =
        ratio((raw.busy_total - record.scraped_busy).count(), (now_ - record.scraped_at).count(), 100);
    model::ReplicaSignals& signals = record.reading;
    signals.waiting = model::Signal::of(raw.waiting);
    signals.running = model::Signal::of(raw.running);
    signals.kv_usage_ppm = model::Signal::of(ratio(raw.kv_blocks_used, raw.kv_blocks_total, 1'000'000));
    signals.duty_cycle_percent = model::Signal::of(std::clamp<std::int64_t>(duty, 0, 100));
    signals.memory_used_percent = model::Signal::of(config_.memory_used_percent);
    signals.ttft_p99_us =
        raw.ttft_p99 ? model::Signal::of(*raw.ttft_p99 / std::chrono::microseconds(1)) : model::Signal{};
    signals.ttft_late_ppm = said_or_missing(raw.ttft_late_ppm);
    signals.queue_late_ppm = said_or_missing(raw.queue_late_ppm);
    signals.tpot_late_ppm = said_or_missing(raw.tpot_late_ppm);
    signals.prompt_tokens_total = model::Signal::of(raw.prompt_tokens_total);
    signals.generated_tokens_total = model::Signal::of(raw.generated_tokens_total);
    record.scraped_busy = raw.busy_total;
    record.scraped_at = now_;
    record.reading_at = now_;
    record.has_reading = true;
  }
  for (std::uint32_t s = 0; s < catalog().services.size(); ++s) {
    if (scrape_draws_.chance_ppm(config_.scrape.loss_ppm)) continue;
    gateways_[{s}] = {now_, hook_.gateway_waiting({s}, now_)};
  }
}

model::Signal Cluster::aged(model::Signal signal, Instant measured) const {
  if (signal.state == model::Signal::State::missing) return signal;
  signal.age = now_ - measured;
  if (signal.age > config_.scrape.missing_after) {
    signal.state = model::Signal::State::missing;
    signal.value = 0;
  } else if (signal.age > config_.scrape.stale_after) {
    signal.state = model::Signal::State::stale;
  }
  return signal;
}

/// What it said until now is not what it will say next.
void Cluster::forget_readings(model::GangId id) {
  GangRecord& record = gangs_.at(id);
  record.has_reading = false;
  set(id, model::ReplicaSignals{});
}

void Cluster::publish() {
  for (const auto& [id, record] : gangs_) {
    if (!record.has_reading) continue;
    model::ReplicaSignals signals = record.reading;
    for (const model::ReplicaSignal& each : model::kReplicaSignals) {
      signals.*each.field = aged(signals.*each.field, record.reading_at);
    }
    if (seen_.signals_of(id) != signals) set(id, signals);
  }
  for (const auto& [id, gateway] : gateways_) {
    model::ServiceState state = seen_.services.at(id);
    state.gateway_waiting = aged(model::Signal::of(gateway.waiting), gateway.reading_at);
    if (!(state == seen_.services.at(id))) set(id, state);
  }
}

}  // namespace capstan::sim
