#include "sim/fleet/fleet.h"

#include <functional>
#include <utility>

#include "base/assert.h"

namespace capstan::sim {
namespace {

constexpr Duration kMinute = std::chrono::minutes(1);
constexpr std::size_t kArrivalBatch = 512;

}  // namespace

Fleet::Fleet(const FleetConfig& config, std::vector<FleetVariant> variants, const model::Slo& slo)
    : config_(config),
      variants_(std::move(variants)),
      slo_(slo),
      router_(config.router),
      decode_router_(RouterConfig{.kind = RouterKind::least_loaded}),
      minute_end_{kMinute} {
  CAPSTAN_ASSERT(config.client.max_retries >= 0 && config.client.max_retries <= 100);
  CAPSTAN_ASSERT(config.client.backoff.count() >= 0 && config.client.backoff <= config.client.backoff_max);
  CAPSTAN_ASSERT(config.gateway_max_waiting >= 0);
  needs_hashes_ = config.router.kind == RouterKind::prefix_affine;
  for (const FleetVariant& variant : variants_) {
    CAPSTAN_ASSERT(variant.weight >= 1 && variant.weight <= 10'000);
    needs_hashes_ |= variant.replica.prefix_cache;
    max_weight_ = std::max(max_weight_, variant.weight);
  }
}

Fleet::Fleet(const FleetConfig& config, std::vector<FleetVariant> variants, const model::Slo& slo,
             workload::Source& source)
    : Fleet(config, std::move(variants), slo) {
  source_ = &source;
  batch_.resize(kArrivalBatch);
  refill();
}

Fleet::Fleet(const FleetConfig& config, std::vector<FleetVariant> variants, const model::Slo& slo,
             workload::ClosedLoop& clients)
    : Fleet(config, std::move(variants), slo) {
  clients_ = &clients;
  for (std::int64_t i = 0; i < clients.concurrency(); ++i) next_client(Instant{});
}

Fleet::~Fleet() = default;

// --- replicas ---

Fleet::Server& Fleet::server_of(ReplicaHandle handle) const {
  CAPSTAN_ASSERT(handle.value < servers_.size() && servers_[handle.value] != nullptr);
  return *servers_[handle.value];
}

ReplicaHandle Fleet::add_replica(std::size_t variant, Instant now) {
  CAPSTAN_ASSERT(variant < variants_.size());
  catch_up(now);
  std::uint32_t number = 0;
  if (free_servers_.empty()) {
    number = static_cast<std::uint32_t>(servers_.size());
    servers_.emplace_back();
  } else {
    number = free_servers_.back();
    free_servers_.pop_back();
  }
  servers_[number] = std::make_unique<Server>(variants_[variant], static_cast<std::uint32_t>(variant), now);
  router_of(*servers_[number]).join(number);
  refresh(number);
  serve_gateway();
  return {number};
}

void Fleet::leave_router(std::uint32_t number) {
  Server& server = *servers_[number];
  if (!server.routed) return;
  server.routed = false;
  router_of(server).leave(number);
}

void Fleet::free_server(std::uint32_t number) {
  leave_router(number);
  waiting_ -= servers_[number]->waiting;
  removed_tokens_ += servers_[number]->replica.token_account(now_);
  events_.set(number, rank_of(Instant::never()));
  servers_[number].reset();
  free_servers_.push_back(number);
}

void Fleet::drain(ReplicaHandle handle, Instant now) {
  catch_up(now);
  server_of(handle).replica.drain();
  leave_router(handle.value);
}

bool Fleet::drained(ReplicaHandle handle) const {
  const Server& server = server_of(handle);
  return !server.routed && server.replica.idle();
}

void Fleet::remove(ReplicaHandle handle, Instant now) {
  catch_up(now);
  CAPSTAN_ASSERT(drained(handle));
  free_server(handle.value);
}

void Fleet::kill(ReplicaHandle handle, Instant now) {
  catch_up(now);
  Server& server = server_of(handle);
  cut_.clear();
  server.replica.kill(cut_, now);
  CAPSTAN_ASSERT(static_cast<RequestCount>(cut_.size()) == server.holds);
  free_server(handle.value);
  for (const HeldRequest& held : cut_) {
    ++meter_.counts.cut;
    meter_.lost_tokens += held.generated_tokens;
    attempt_ended(held.id, Cause::cut, true);
  }
}

ReplicaReading Fleet::sample(ReplicaHandle handle, Instant now, bool scrape) {
  catch_up(now);
  Server& server = server_of(handle);
  ReplicaReading reading;
  reading.engine = server.replica.sample(now);
  reading.ttft = server.ttft;
  reading.ttft_p99 = server.ttft.percentile(990'000);
  reading.queue_time = server.queue_time;
  reading.tpot = server.tpot;
  reading.finished_total = server.finished;
  reading.phases = server.phases;
  reading.transfers_total = server.transfers;
  if (scrape) server.ttft = {}, server.queue_time = {}, server.tpot = {};
  return reading;
}

RequestCount Fleet::load(ReplicaHandle handle) const { return server_of(handle).replica.load(); }

// --- time ---

/// Runs all events before `now` and the replicas' events at `now`, but not the time-outs, retries and arrivals at
/// `now`.
void Fleet::catch_up(Instant now) {
  if (now > now_) {
    advance(now - Duration{1});
    now_ = now;
    close_minutes(now);
  }
  CAPSTAN_ASSERT(now == now_);
  while (next_replica() <= now) run_replica(events_.top());
}

void Fleet::advance(Instant to) {
  CAPSTAN_ASSERT(to >= now_ && !to.is_never());
  for (;;) {
    const Instant other = next_fleet_event();
    const Instant next = std::min(next_replica(), other);
    if (next > to) break;
    now_ = next;
    if (next >= minute_end_) close_minutes(next);
    while (next_replica() == next) run_replica(events_.top());
    serve_gateway();
    if (other > next) continue;
    run_timeouts();
    run_timers();
    while (next_arrival_ == next) arrive_next();
  }
  now_ = to;
  close_minutes(to);
}

void Fleet::finish(Instant end) {
  advance(end);
  RequestMinute& last = minute_of(end);
  last.waiting = waiting();
  last.waiting_max = std::max(minute_waiting_max_, waiting());
  note_latencies(last);
}

void Fleet::note_latencies(RequestMinute& minute) const {
  minute.ttft_p99_us = minute_ttft_.percentile_us(990'000);
  minute.tpot_p99_us = minute_tpot_.percentile_us(990'000);
}

void Fleet::close_minutes(Instant now) {
  while (now >= minute_end_) {
    RequestMinute& minute = minute_of_now();
    minute.waiting = waiting();
    minute.waiting_max = std::max(minute_waiting_max_, waiting());
    note_latencies(minute);
    for (LatencyHistogram* histogram : {&minute_ttft_, &minute_tpot_}) {
      if (histogram->count() > 0) histogram->clear();
    }
    minute_waiting_max_ = waiting();
    minute_end_ = minute_end_ + kMinute;
    ++minute_;
  }
}

RequestMinute& Fleet::minute_of(Instant at) { return minute_at(static_cast<std::size_t>(at.since_start / kMinute)); }

void Fleet::run_replica(std::uint32_t number) {
  Server& server = *servers_[number];
  prefetch(events_.runner_up());
  const std::uint32_t likely_id = server.replica.prefetch_event();
  __builtin_prefetch(requests_.data() + likely_id);
  __builtin_prefetch(stamps_.data() + likely_id);
  emissions_.clear();
  server.replica.advance(now_, emissions_);
  for (const Emission& emission : emissions_) on_emission(server, emission);
  refresh(number);
}

/// Updates the next event, the load and the router's entry of a replica that may have changed.
void Fleet::refresh(std::uint32_t number) {
  Server& server = *servers_[number];
  events_.set(number, rank_of(server.replica.next_event()));
  const RequestCount queued = server.replica.waiting();
  if (queued != server.waiting) {
    waiting_ += queued - server.waiting;
    server.waiting = static_cast<std::uint32_t>(queued);
    update_waiting_max();
  }
  if (server.routed) router_of(server).update(number, weighted_load(server), queued < engine_queue_limit(server));
}

void Fleet::run_timeouts() {
  while (!first_token_deadlines_.empty() && first_token_deadlines_.front().at <= now_) {
    const Attempt attempt = first_token_deadlines_.front().attempt;
    first_token_deadlines_.pop_front();
    if (awaits_first_token(attempt)) time_out(attempt.id);
  }
  while (!total_deadlines_.empty() && total_deadlines_.front().at <= now_) {
    const Attempt attempt = total_deadlines_.front().attempt;
    total_deadlines_.pop_front();
    if (is_valid(attempt)) time_out(attempt.id);
  }
  serve_gateway();
}

void Fleet::run_timers() {
  while (!timers_.empty() && timers_.front().at <= now_) {
    const Attempt attempt = timers_.front().attempt;
    std::pop_heap(timers_.begin(), timers_.end(), std::greater<>{});
    timers_.pop_back();
    if (!is_valid(attempt)) continue;
    if (requests_[attempt.id].state == State::backing_off) {
      --backing_off_;
      ++meter_.counts.retries;
      mark(Mark::retried, requests_[attempt.id].number);
      start_attempt(attempt.id);
    } else {
      --in_transfer_;
      route_decode(attempt.id);
    }
  }
}

// --- account ---

const RequestMeter& Fleet::meter() {
  meter_.counts.queued = waiting() + backing_off_;
  meter_.counts.in_flight = live_count_ - meter_.counts.queued;
  return meter_;
}

TokenFigures Fleet::tokens() {
  TokenAccount engines = removed_tokens_;
  for (const std::unique_ptr<Server>& server : servers_) {
    if (server != nullptr) engines += server->replica.token_account(now_);
  }
  return {.generated = engines.generated,
          .delivered = meter_.output_tokens,
          .cut = meter_.lost_tokens,
          .abandoned = engines.discarded + meter_.orphaned_tokens,
          .held = engines.held + in_transfer_ + decode_gateway_.live};
}

bool Fleet::check() {
  std::vector<RequestCount> holds(servers_.size());
  RequestCount live_requests = 0, held = 0, held_decode = 0, backing_off = 0, in_transfer = 0;
  for (const LiveRequest& live : requests_) {
    live_requests += live.state != State::free ? 1 : 0;
    held += live.state == State::held ? 1 : 0;
    held_decode += live.state == State::held_decode ? 1 : 0;
    backing_off += live.state == State::backing_off ? 1 : 0;
    in_transfer += live.state == State::in_transfer ? 1 : 0;
    if (live.state == State::in_engine) ++holds[live.server];
  }
  RequestCount queued_in_engines = 0;
  bool engines_agree = true;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    if (servers_[i] == nullptr) {
      engines_agree &= holds[i] == 0;
      continue;
    }
    const Server& server = *servers_[i];
    queued_in_engines += server.replica.waiting();
    // The replica may also hold cancelled requests until its step ends.
    engines_agree &=
        holds[i] == server.holds && server.holds <= server.replica.load() && server.replica.waiting() <= server.holds;
  }
  const RequestCounts& counts = meter_.counts;
  return engines_agree && live_requests == live_count_ && held == gateway_.live &&
         held_decode == decode_gateway_.live && backing_off == backing_off_ && in_transfer == in_transfer_ &&
         queued_in_engines == waiting_ &&
         static_cast<std::size_t>(live_requests) + free_requests_.size() == requests_.size() &&
         counts.arrived == counts.completed + counts.rejected + counts.failed + counts.timed_out + live_requests &&
         counts.met <= counts.completed && tokens().conserved();
}

}  // namespace capstan::sim
