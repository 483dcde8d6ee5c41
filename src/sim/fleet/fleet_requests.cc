#include <algorithm>
#include <functional>

#include "base/assert.h"
#include "sim/fleet/fleet.h"

// The part of Fleet that handles a request from its arrival through its attempts to its end.
namespace capstan::sim {
namespace {

/// A ring is compacted when it holds more entries than this plus a multiple of the live requests. A small ring is
/// therefore never compacted.
constexpr std::size_t kRingSlack = 4096;
/// Upper limit of a recorded queue time, so that it fits 32 bits of microseconds. The limit changes an engine's
/// histogram only for times above 128 minutes, because all times from 32 to 128 minutes fall into one bucket.
constexpr Duration kQueuedMax = std::chrono::minutes(35);

}  // namespace

// --- arrivals ---

void Fleet::refill() {
  batch_size_ = source_->fill(batch_);
  batch_next_ = 0;
  next_arrival_ = batch_size_ == 0 ? Instant::never() : batch_[0].arrival;
}

void Fleet::next_client(Instant ended) {
  const std::optional<workload::Request> request = clients_->make(ended);
  if (!request) return;
  pending_arrivals_.push_back({*request, sequence_++});
  std::push_heap(pending_arrivals_.begin(), pending_arrivals_.end(), std::greater<>{});
  next_arrival_ = pending_arrivals_.front().request.arrival;
}

void Fleet::arrive_next() {
  if (source_ != nullptr) {
    arrive(batch_[batch_next_++]);
    if (batch_next_ == batch_size_) {
      refill();
    } else {
      next_arrival_ = batch_[batch_next_].arrival;
    }
    CAPSTAN_ASSERT(next_arrival_ >= now_);
    return;
  }
  const workload::Request request = pending_arrivals_.front().request;
  std::pop_heap(pending_arrivals_.begin(), pending_arrivals_.end(), std::greater<>{});
  pending_arrivals_.pop_back();
  next_arrival_ = pending_arrivals_.empty() ? Instant::never() : pending_arrivals_.front().request.arrival;
  arrive(request);
}

void Fleet::arrive(const workload::Request& request) {
  std::uint32_t id = 0;
  if (free_requests_.empty()) {
    id = static_cast<std::uint32_t>(requests_.size());
    requests_.emplace_back();
    stamps_.push_back(0);
  } else {
    id = free_requests_.back();
    free_requests_.pop_back();
  }
  LiveRequest& live = requests_[id];
  live = {};
  live.arrived = now_;
  live.input = request.input_tokens;
  live.output = request.output_tokens;
  live.number = static_cast<std::uint32_t>(meter_.counts.arrived);
  if (needs_hashes_ && !request.prefix_hashes.empty()) assign_hashes(live, request);
  ++meter_.counts.arrived;
  ++minute_of_now().arrived;
  ++live_count_;
  start_attempt(id);
}

/// Points the request to its prefix hashes. The copies of a superposed trace have hashes of their own, which the source
/// does not store, so the fleet stores them.
void Fleet::assign_hashes(LiveRequest& live, const workload::Request& request) {
  live.hash_count = static_cast<std::uint32_t>(request.prefix_hashes.size());
  if (request.prefix_salt == 0) {
    live.hashes = request.prefix_hashes.data();
    return;
  }
  if (free_hash_buffers_.empty()) {
    std::erase_if(lingering_hash_buffers_, [&](std::uint32_t buffer) {
      if (hash_buffers_[buffer].read_until > now_) return false;
      free_hash_buffers_.push_back(buffer);
      return true;
    });
  }
  if (free_hash_buffers_.empty()) {
    free_hash_buffers_.push_back(static_cast<std::uint32_t>(hash_buffers_.size()));
    hash_buffers_.emplace_back();
  }
  live.hash_buffer = free_hash_buffers_.back();
  free_hash_buffers_.pop_back();
  HashBuffer& buffer = hash_buffers_[live.hash_buffer];
  buffer.read_until = {};
  buffer.hashes.resize(request.prefix_hashes.size());
  for (std::size_t i = 0; i < buffer.hashes.size(); ++i) buffer.hashes[i] = request.block(i);
  live.hashes = buffer.hashes.data();
}

void Fleet::release_hashes(LiveRequest& live) {
  if (live.hash_buffer == kNone) return;
  const bool is_in_use = hash_buffers_[live.hash_buffer].read_until > now_;
  (is_in_use ? lingering_hash_buffers_ : free_hash_buffers_).push_back(live.hash_buffer);
}

// --- attempts ---

template <typename Waits>
void Fleet::add_deadline(AttemptRing& ring, Duration timeout, std::uint32_t id, Waits waits) {
  if (timeout.count() <= 0) return;
  if (ring.size() > 4 * static_cast<std::size_t>(live_count_) + kRingSlack) ring.compact(waits);
  ring.push_back(now_ + timeout, attempt_of(id));
}

void Fleet::start_attempt(std::uint32_t id) {
  ++requests_[id].attempts;
  add_deadline(first_token_deadlines_, config_.client.first_token_timeout, id,
               [&](Attempt attempt) { return awaits_first_token(attempt); });
  add_deadline(total_deadlines_, config_.client.total_timeout, id, [&](Attempt attempt) { return is_valid(attempt); });
  route(id);
}

/// Sends the request to a replica, or holds it at the gateway if no replica can take a request. The request never
/// overtakes a held one, because requests are held only while no replica can take one.
void Fleet::route(std::uint32_t id) {
  const std::uint32_t server = router_.pick(hashes_of(requests_[id]));
  if (server == Router::kNone) return hold(id, gateway_, State::held);
  if (offer(id, server, false)) {
    router_.note(hashes_of(requests_[id]), server);
  } else {
    route_where_it_fits(id, false);
  }
}

void Fleet::route_decode(std::uint32_t id) {
  const std::uint32_t server = decode_router_.pick({});
  if (server == Router::kNone) return hold(id, decode_gateway_, State::held_decode);
  if (!offer(id, server, true)) route_where_it_fits(id, true);
}

bool Fleet::offer(std::uint32_t id, std::uint32_t number, bool kv_present) {
  LiveRequest& live = requests_[id];
  Server& server = *servers_[number];
  const OfferOutcome outcome = server.replica.offer({.id = id,
                                                     .input_tokens = live.input,
                                                     .output_tokens = live.output,
                                                     .prefix_hashes = hashes_of(live),
                                                     .kv_present = kv_present},
                                                    now_);
  if (outcome.result == OfferResult::too_long) return false;
  CAPSTAN_ASSERT(outcome.result == OfferResult::accepted);
  live.state = State::in_engine;
  live.server = number;
  live.engine_slot = outcome.slot;
  if (!kv_present) live.phase_start = now_;
  ++server.holds;
  refresh(number);
  return true;
}

/// Looks for another replica if the router's choice has too little KV memory for the request. It may check every
/// replica, because requests of this length are rare.
void Fleet::route_where_it_fits(std::uint32_t id, bool kv_present) {
  const std::int64_t blocks =
      ceil_div(std::int64_t{requests_[id].input} + requests_[id].output, engine::kKvBlockTokens);
  std::uint32_t best = Router::kNone;
  bool fits_somewhere = false;
  if (variants_.size() > 1) {
    for (std::uint32_t i = 0; i < servers_.size(); ++i) {
      const Server* server = servers_[i].get();
      if (server == nullptr || !server->routed || (server->role == EngineRole::decode) != kv_present) continue;
      if (server->replica.config().kv_blocks < blocks) continue;
      fits_somewhere = true;
      if (server->replica.waiting() >= engine_queue_limit(*server)) continue;
      if (best == Router::kNone || weighted_load(*server) < weighted_load(*servers_[best])) best = i;
    }
  }
  if (best != Router::kNone) {
    CAPSTAN_ASSERT(offer(id, best, kv_present));
    return;
  }
  if (!fits_somewhere) ++meter_.counts.too_long;
  ++meter_.counts.refused_attempts;
  attempt_ended(id, Cause::refused, fits_somewhere);
}

void Fleet::hold(std::uint32_t id, GatewayQueue& queue, State state) {
  if (queue.live >= config_.gateway_max_waiting) {
    ++meter_.counts.refused_attempts;
    return attempt_ended(id, Cause::refused, true);
  }
  if (queue.ring.size() > 2 * static_cast<std::size_t>(queue.live) + kRingSlack) {
    queue.ring.compact([&](Attempt attempt) { return is_valid(attempt); });
  }
  queue.ring.push_back(now_, attempt_of(id));
  ++queue.live;
  requests_[id].state = state;
  update_waiting_max();
}

void Fleet::serve_gateway(GatewayQueue& queue, Router& router) {
  while (queue.live > 0 && router.has_able_replica()) {
    const Attempt attempt = queue.ring.front().attempt;
    queue.ring.pop_front();
    if (!is_valid(attempt)) continue;
    --queue.live;
    if (&queue == &gateway_) {
      route(attempt.id);
    } else {
      route_decode(attempt.id);
    }
  }
}

void Fleet::set_timer(Instant at, std::uint32_t id) {
  timers_.push_back({at, sequence_++, attempt_of(id)});
  std::push_heap(timers_.begin(), timers_.end(), std::greater<>{});
}

/// Ends an attempt on which the client gave up, and cancels it where it is held.
void Fleet::time_out(std::uint32_t id) {
  LiveRequest& live = requests_[id];
  switch (live.state) {
    case State::held:
      --gateway_.live;
      break;
    case State::held_decode:
      --decode_gateway_.live;
      break;
    case State::in_transfer:
      --in_transfer_;
      break;
    case State::in_engine: {
      Server& server = *servers_[live.server];
      const bool cancelled = server.replica.cancel(live.engine_slot, id, now_);
      CAPSTAN_ASSERT(cancelled);
      const Instant step_end = server.replica.next_event();
      if (live.hash_buffer != kNone && !step_end.is_never()) {
        Instant& until = hash_buffers_[live.hash_buffer].read_until;
        until = std::max(until, step_end);
      }
      --server.holds;
      refresh(live.server);
      break;
    }
    case State::free:
    case State::backing_off:
      CAPSTAN_ASSERT(false);
  }
  attempt_ended(id, Cause::timed_out, config_.client.retry_timed_out);
}

void Fleet::attempt_ended(std::uint32_t id, Cause cause, bool may_retry) {
  LiveRequest& live = requests_[id];
  stamps_[id] = (stamps_[id] | 1) + 1;
  const bool between_engines = live.state == State::in_transfer || live.state == State::held_decode;
  meter_.orphaned_tokens += between_engines ? 1 : 0;
  if (cause != Cause::refused || live.cause == Cause::none) live.cause = cause;
  const ClientConfig& client = config_.client;
  if (!may_retry || live.attempts > client.max_retries) {
    return end(id, live.cause == Cause::cut         ? Mark::failed
                   : live.cause == Cause::timed_out ? Mark::timed_out
                                                    : Mark::rejected);
  }
  Duration wait = client.backoff;
  for (int i = 1; i < live.attempts && wait < client.backoff_max; ++i) wait *= 2;
  wait = std::min(wait, client.backoff_max);
  const std::uint64_t draw = mix64(config_.seed ^ mix64(std::uint64_t{live.number} << 8 | live.attempts));
  wait -= Duration{static_cast<std::int64_t>(static_cast<__int128>(wait.count() / 4) * (draw >> 44) >> 20)};
  live.state = State::backing_off;
  ++backing_off_;
  set_timer(now_ + wait, id);
}

void Fleet::end(std::uint32_t id, Mark how) {
  LiveRequest& live = requests_[id];
  switch (how) {
    case Mark::finished:
      ++meter_.counts.completed;
      break;
    case Mark::rejected:
      ++meter_.counts.rejected;
      break;
    case Mark::failed:
      ++meter_.counts.failed;
      break;
    case Mark::timed_out:
      ++meter_.counts.timed_out;
      break;
    case Mark::first_token:
    case Mark::handed_over:
    case Mark::preempted:
    case Mark::retried:
      CAPSTAN_ASSERT(false);
  }
  mark(how, live.number);
  release_hashes(live);
  stamps_[id] = (stamps_[id] | 1) + 1;
  live.state = State::free;
  free_requests_.push_back(id);
  --live_count_;
  if (clients_ != nullptr) next_client(now_);
}

// --- emissions of engines ---

void Fleet::on_emission(Server& server, const Emission& emission) {
  LiveRequest& live = requests_[emission.id];
  switch (emission.kind) {
    case EmissionKind::first_token:
      mark(Mark::first_token, live.number);
      on_first_token(server, emission);
      break;
    case EmissionKind::finished:
      --server.holds;
      ++server.finished;
      if (!is_answering(emission.id)) on_first_token(server, emission);
      if (server.role != EngineRole::decode) server.queue_time.add(std::chrono::microseconds(live.queued_us));
      on_completed(server, emission.id);
      break;
    case EmissionKind::handed_over: {
      --server.holds;
      ++server.finished;
      ++meter_.counts.handed_over;
      mark(Mark::handed_over, live.number);
      on_first_token(server, emission);
      server.queue_time.add(std::chrono::microseconds(live.queued_us));
      const FleetVariant& variant = variants_[server.variant];
      live.state = State::in_transfer;
      ++in_transfer_;
      set_timer(now_ + kv_transfer_time(live.input, variant.kv_bytes_per_token, variant.kv_link_bytes_per_s,
                                        variant.kv_setup),
                emission.id);
      break;
    }
    case EmissionKind::preempted:
      ++meter_.counts.preempted;
      mark(Mark::preempted, live.number);
      break;
  }
}

void Fleet::on_first_token(Server& server, const Emission& emission) {
  LiveRequest& live = requests_[emission.id];
  live.cached = emission.cached_tokens;
  server.ttft.add(now_ - live.phase_start);
  const Duration queued = std::clamp<Duration>(now_ - live.phase_start - emission.computed, {}, kQueuedMax);
  live.queued_us = static_cast<std::int32_t>(queued / std::chrono::microseconds(1));
  const Duration front_end = variants_[server.variant].front_end;
  minute_ttft_.add(now_ - live.arrived + front_end);
  PhaseTimes& phases = minute_of_now().phases;
  phases.gateway += live.phase_start - live.arrived + front_end;
  const Duration prefill = now_ - live.phase_start - queued;
  phases.add_first_token(queued, prefill);
  server.phases.add_first_token(queued, prefill);
  live.phase_start = now_;
  stamps_[emission.id] |= 1;
}

bool Fleet::meets_ttft_slo(const LiveRequest& live, Duration ttft) const {
  if (slo_.ttft.count() == 0 || ttft <= slo_.ttft) return true;
  if (!slo_.scales_with_prompt()) return false;
  // The first variant is the reference for all requests, so that the SLO does not depend on the replica that served a
  // request. Decode replicas compute no prompts.
  const FleetVariant& reference = variants_.front();
  const engine::Picoseconds prefill_ps =
      reference.model->prefill_alone_ps(live.input, 0, reference.replica.max_batched_tokens);
  return ttft <= slo_.ttft_of(Duration{prefill_ps / engine::kPicosecondsPerNanosecond});
}

/// Returns the time to copy the KV of a request that a decode replica answers. All prefill variants are assumed to have
/// the link of the first one.
Duration Fleet::transfer_time(const LiveRequest& live) const {
  const auto prefill = std::ranges::find(variants_, EngineRole::prefill,
                                         [](const FleetVariant& variant) { return variant.replica.role; });
  if (prefill == variants_.end()) return {};
  return kv_transfer_time(live.input, prefill->kv_bytes_per_token, prefill->kv_link_bytes_per_s, prefill->kv_setup);
}

void Fleet::on_completed(Server& server, std::uint32_t id) {
  const LiveRequest& live = requests_[id];
  const FleetVariant& variant = variants_[server.variant];
  const Duration ttft = live.phase_start - live.arrived + variant.front_end;
  const Duration e2e = now_ - live.arrived + variant.front_end;
  const Duration after_first = now_ - live.phase_start;
  const std::int64_t later_tokens = live.output - 1;
  meter_.input_tokens += live.input;
  meter_.output_tokens += live.output;
  meter_.cached_tokens += live.cached;
  meter_.ttft.add(ttft);
  meter_.e2e.add(e2e);
  const Duration tpot = after_first / std::max<std::int64_t>(later_tokens, 1);
  if (later_tokens > 0) LatencyHistogram::add_to_both(meter_.tpot, minute_tpot_, tpot);
  server.tpot.add(tpot);  // 0 for an answer of one token, as vLLM counts it
  const bool met = meets_ttft_slo(live, ttft) && (slo_.e2e.count() == 0 || e2e <= slo_.e2e) &&
                   (slo_.tpot.count() == 0 || after_first <= slo_.tpot * later_tokens);
  const Duration transfer = server.role == EngineRole::decode ? std::min(transfer_time(live), after_first) : Duration{};
  minute_of_now().phases.add_completed(transfer, after_first - transfer);
  server.phases.add_completed(transfer, after_first - transfer);
  if (transfer > Duration{}) ++server.transfers;
  RequestMinute& arrival_minute = minute_of(live.arrived);
  ++arrival_minute.completed;
  if (met) {
    ++meter_.counts.met;
    ++arrival_minute.met;
    if (variant.work != nullptr) meter_.useful_gpu_ps += variant.work->gpu_ps(live.input, live.output, live.cached);
  }
  end(id, Mark::finished);
}

}  // namespace capstan::sim
