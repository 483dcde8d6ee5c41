#include "experiment/run/fleet_hook.h"

#include <algorithm>

#include "base/assert.h"
#include "base/known_row.h"

namespace capstan::experiment {
namespace {

model::Signal value_or_missing(const std::optional<std::int64_t>& value) {
  return value ? model::Signal::measured(*value) : model::Signal{};
}

/// Returns the share of times above the bound of the SLO, in ppm. It is missing without a bound or without times.
model::Signal late(const auto& times, Duration bound) {
  return value_or_missing(bound > Duration{} ? times.share_above_ppm(bound) : std::nullopt);
}

/// Returns a time in microseconds.
model::Signal in_microseconds(Duration sum) { return model::Signal::measured(sum / std::chrono::microseconds(1)); }

/// Returns the signals that the engine of a replica reports.
model::ReplicaSignals signals_of(const sim::ReplicaReading& reading, const model::Slo& slo) {
  const sim::ReplicaSample& engine = reading.engine;
  model::ReplicaSignals signals;
  signals.waiting = model::Signal::measured(engine.waiting);
  signals.running = model::Signal::measured(engine.running);
  signals.kv_usage_ppm =
      model::Signal::measured(engine.kv_blocks > 0 ? engine.kv_blocks_used * 1'000'000 / engine.kv_blocks : 0);
  if (reading.ttft_p99) signals.ttft_p99_us = model::Signal::measured(*reading.ttft_p99 / std::chrono::microseconds(1));
  signals.ttft_late_ppm = late(reading.ttft, slo.ttft);
  signals.queue_late_ppm = late(reading.queue_time, slo.max_queue_time());
  signals.tpot_late_ppm = late(reading.tpot, slo.tpot);
  signals.prompt_tokens_total = model::Signal::measured(engine.prompt_tokens_total);
  signals.generated_tokens_total = model::Signal::measured(engine.generation_tokens_total);
  if (const auto tpot = reading.tpot.percentile(990'000)) {
    signals.tpot_p99_us = model::Signal::measured(*tpot / std::chrono::microseconds(1));
  }
  signals.finished_total = model::Signal::measured(reading.finished_total);
  signals.queue_us_total = in_microseconds(reading.phases.queue);
  signals.prefill_us_total = in_microseconds(reading.phases.prefill);
  signals.decode_us_total = in_microseconds(reading.phases.decode);
  if (reading.transfers_total > 0) {
    signals.transfer_us_total = in_microseconds(reading.phases.transfer);
    signals.transfers_total = model::Signal::measured(reading.transfers_total);
  }
  return signals;
}

}  // namespace

void FleetHook::ready(const sim::ReplicaStart& replica, Instant at) {
  const sim::ReplicaHandle handle = fleet_of(replica.service).add_replica(routes_[replica.service.value].variant, at);
  const bool fresh = replicas_.emplace(replica.gang, Replica{handle, replica.service, replica.weights}).second;
  CAPSTAN_ASSERT(fresh);
  scraped_.begin(replica.gang, at);
  serving_peak_ = std::max(serving_peak_, ++serving_);
}

void FleetHook::drain(model::GangId gang, Instant at) {
  const Replica& replica = known_row(replicas_, gang);
  fleet_of(replica.service).drain(replica.handle, at);
  draining_.insert(gang);
  --serving_;
}

bool FleetHook::drained(model::GangId gang) {
  const Replica& replica = known_row(replicas_, gang);
  sim::Fleet& fleet = fleet_of(replica.service);
  if (!fleet.drained(replica.handle)) return false;
  fleet.remove(replica.handle, fleet.now());
  forget(gang);
  return true;
}

void FleetHook::killed(model::GangId gang, Instant at, sim::Interruption why) {
  const Replica& replica = known_row(replicas_, gang);
  sim::Fleet& fleet = fleet_of(replica.service);
  const RequestCount before = fleet.meter().counts.cut;
  fleet.kill(replica.handle, at);
  cut_[static_cast<std::size_t>(why)] += fleet.meter().counts.cut - before;
  serving_ -= draining_.contains(gang) ? 0 : 1;
  forget(gang);
}

void FleetHook::forget(model::GangId gang) {
  if (ScrapedSeries* series = series_of(known_row(replicas_, gang).service)) series->forget(gang);
  replicas_.erase(gang);
  draining_.erase(gang);
  scraped_.forget(gang);
}

sim::EngineReading FleetHook::sample(model::GangId gang, Instant at, bool scrape) {
  const Replica& replica = known_row(replicas_, gang);
  const sim::ReplicaReading reading = fleet_of(replica.service).sample(replica.handle, at, scrape);
  sim::EngineReading engine_reading = {.signals = signals_of(reading, services_[replica.service.value].slo),
                                       .busy_total = reading.engine.busy_total};
  if (replica.weights > Duration{}) engine_reading.signals.weights_us = in_microseconds(replica.weights);
  if (scrape) scraped_.add(gang, at, engine_reading);
  if (ScrapedSeries* series = series_of(replica.service); scrape && series != nullptr) {
    series->add(gang, at, {reading, (*scraped_.find(gang))[1].reading.duty_cycle_percent.value});
  }
  return engine_reading;
}

RequestCount FleetHook::gateway_waiting(model::ServiceId service, Instant at) {
  const RequestCount waiting = fleet_of(service).gateway_waiting(routes_[service.value].variant);
  scraped_.add(service, at, waiting);
  if (ScrapedSeries* series = series_of(service)) series->add(at, waiting);
  return waiting;
}

}  // namespace capstan::experiment
