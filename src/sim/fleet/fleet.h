#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>
#include "base/known_row.h"

#include "base/hash.h"
#include "base/ids.h"
#include "base/quantity.h"
#include "base/time.h"
#include "engine/step_model.h"
#include "engine/work.h"
#include "model/slo.h"
#include "sim/fleet/attempt_ring.h"
#include "sim/fleet/latency_buckets.h"
#include "sim/fleet/min_tree.h"
#include "sim/fleet/request_meter.h"
#include "sim/fleet/router.h"
#include "sim/serving/replica.h"
#include "workload/closed_loop.h"
#include "workload/source.h"

namespace capstan::sim {

/// Time-outs and retries of the clients. A time-out of 0 means none. The waits between attempts follow the OpenAI
/// client libraries: they double from `backoff` up to `backoff_max`, and each is shortened by a random share of up to a
/// quarter.
struct ClientConfig {
  Duration first_token_timeout{};  ///< most time from the start of an attempt to its first token
  Duration total_timeout{};        ///< most time from the start of an attempt to its last token
  std::int32_t max_retries = 0;    ///< attempts after the first; 0..100
  bool retry_timed_out = true;     ///< false: only refused and cut attempts are retried
  Duration backoff = std::chrono::milliseconds(500);
  Duration backoff_max = std::chrono::seconds(8);
};

struct FleetConfig {
  RouterConfig router{};
  ClientConfig client{};
  /// Most requests that the gateway holds while no replica can take them; they are served in order of arrival. The
  /// queue between prefill and decode has the same limit. With 0, such requests are refused at once.
  RequestCount gateway_max_waiting = 1024;
  std::uint64_t seed = 0;
};

/// Properties shared by all replicas of a variant. `model` and `work` must outlive the fleet.
struct FleetVariant {
  const engine::StepModel* model = nullptr;
  ReplicaConfig replica;
  /// Time between client and engine, added to TTFT and end-to-end time (`alpha0` of the simulator BLIS, measured on
  /// vLLM).
  Duration front_end = std::chrono::milliseconds(15);
  /// KV size, link speed and fixed time of a KV transfer from a prefill replica of this variant to a decode replica.
  std::int64_t kv_bytes_per_token = 131'072;
  std::int64_t kv_link_bytes_per_s = 40'000'000'000;
  Duration kv_setup = std::chrono::milliseconds(1);
  /// Computes the useful work of the requests that meet the SLO. Null: the useful work is 0.
  const engine::RequestWork* work = nullptr;
  /// Capacity relative to other variants, by which a router divides the load: a replica of weight 200 with 40 requests
  /// is as loaded as one of weight 100 with 20. 1..10'000.
  std::int64_t weight = 1;
};

/// A replica of a fleet. The number is reused after remove() or kill().
using ReplicaHandle = Id<struct FleetReplicaTag>;

/// The metrics of one engine.
struct ReplicaReading {
  ReplicaSample engine;
  TtftBuckets ttft;                    ///< TTFT of the first tokens since the last scrape
  QueueTimeBuckets queue_time;         ///< queue times of the requests that ended since the last scrape
  TpotBuckets tpot;                    ///< mean time per token after the first, of the same requests
  std::optional<Duration> ttft_p99{};  ///< computed from `ttft`; empty without first tokens
  std::int64_t finished_total = 0;     ///< requests that the replica has computed to their end or handed over
  PhaseTimes phases{};                 ///< sums since the replica started; the gateway is not part of them
  std::int64_t transfers_total = 0;    ///< answers for which the KV came from a prefill replica
};

/// Simulates everything between a client and a GPU for one service: clients with time-outs and retries, the gateway,
/// the router and the replicas. A fleet does not know nodes or pods; the simulated cluster adds, drains and kills
/// replicas.
///
/// Events have a total order. Events run in order of time, and events at the same time in this order: replicas (by
/// handle), the gateway's queue, time-outs (first tokens, then whole answers), retries and KV transfers, arrivals.
/// Within a group, they run in the order in which they were scheduled.
///
/// The number of requests in flight bounds the memory. Once the tables have grown, a request needs no allocation.
class Fleet {
 public:
  /// `source` and `clients` must outlive the fleet.
  Fleet(const FleetConfig& config, std::vector<FleetVariant> variants, const model::Slo& slo, workload::Source& source);
  Fleet(const FleetConfig& config, std::vector<FleetVariant> variants, const model::Slo& slo,
        workload::ClosedLoop& clients);
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  // Replicas. Each call first advances the fleet to its `now`. The call takes effect after the replicas' events at that
  // time and before all other events, so that a replica added at time 0 can serve a request that arrives at time 0.

  ReplicaHandle add_replica(std::size_t variant, Instant now);  ///< adds a replica that serves at once
  void drain(ReplicaHandle handle, Instant now);                ///< sends no more requests to the replica
  bool drained(ReplicaHandle handle) const;                     ///< true if it was drained and holds no more requests
  void remove(ReplicaHandle handle, Instant now);               ///< removes a drained replica
  void kill(ReplicaHandle handle, Instant now);                 ///< ends the replica; clients may retry its requests

  /// Reads the metrics of a replica. `scrape` starts a new interval for the histograms.
  ReplicaReading sample(ReplicaHandle handle, Instant now, bool scrape);
  RequestCount load(ReplicaHandle handle) const;  ///< returns the number of requests inside the replica

  // Time.

  Instant now() const { return now_; }
  /// Returns the time of the next event; never() if there is none. Nothing happens before it.
  Instant next_event() const { return std::min(next_replica(), next_fleet_event()); }
  void advance(Instant to);  ///< runs all events up to and including `to`
  void finish(Instant end);  ///< ends the run: advances to `end` and closes the last minute
  bool arrivals_over() const { return next_arrival_.is_never(); }  ///< true if no arrival is scheduled
  /// Returns true if all requests have arrived and ended.
  bool is_over() const { return live_count_ == 0 && arrivals_over(); }

  // Results.

  RequestCount gateway_waiting() const { return gateway_.live + decode_gateway_.live; }
  /// Returns the number of requests at the gateway that wait for a replica of the variant's role.
  RequestCount gateway_waiting(std::size_t variant) const {
    return known_row(variants_, variant).replica.role == EngineRole::decode ? decode_gateway_.live : gateway_.live;
  }
  RequestCount waiting() const {
    return waiting_ + gateway_waiting();
  }  ///< returns the requests at the gateway and in engines' queues
  const RequestMeter& meter();  ///< returns the measurements up to now
  /// Returns a hash over the number, kind and time of every emission, retry and end of a request.
  std::uint64_t state_hash() const { return hash_.value(); }
  TokenFigures tokens();  ///< returns the token counts up to now; visits every request in flight
  /// Recounts all requests in flight and returns true if every counter equals its recount.
  bool check();

 private:
  enum class State : std::uint8_t { free, held, held_decode, in_engine, in_transfer, backing_off };
  enum class Cause : std::uint8_t { none, refused, cut, timed_out };
  enum class Mark : std::uint8_t {
    first_token,
    finished,
    handed_over,
    preempted,
    rejected,
    failed,
    timed_out,
    retried
  };

  /// A request from its arrival to its end; one cache line. Engines know the request by its index in `requests_`.
  struct alignas(64) LiveRequest {
    Instant arrived;
    Instant
        phase_start;  ///< time at which the engine accepted the attempt; after the first token, the time of that token
    const std::uint64_t* hashes = nullptr;
    std::int32_t input = 0;
    std::int32_t output = 0;
    std::uint32_t number = 0;    ///< index in the order of arrival
    std::int32_t queued_us = 0;  ///< time in the queue of the engine that computed the prompt, microseconds
    std::int32_t cached = 0;     ///< prompt tokens of the current attempt that an engine's prefix cache held
    std::uint32_t server = 0;
    std::uint32_t engine_slot = 0;
    std::uint32_t hash_count = 0;
    std::uint32_t hash_buffer = kNone;
    std::uint8_t attempts = 0;
    State state = State::free;
    Cause cause = Cause::none;  ///< why the latest attempt ended; a refusal does not replace another cause
  };
  static_assert(sizeof(LiveRequest) == 64);

  struct alignas(64) Server {
    Server(const FleetVariant& v, std::uint32_t variant_index, Instant now)
        : variant(static_cast<std::uint16_t>(variant_index)), role(v.replica.role), replica(v.replica, *v.model, now) {}
    std::uint16_t variant;
    EngineRole role;
    bool routed = true;
    std::uint32_t holds = 0;    ///< requests in the replica, without cancelled ones, which it drops when its step ends
    std::uint32_t waiting = 0;  ///< waiting requests as last added to Fleet::waiting_
    std::int64_t finished = 0;  ///< requests computed to their end or handed over
    Replica replica;
    TtftBuckets ttft;
    QueueTimeBuckets queue_time;
    TpotBuckets tpot;
    PhaseTimes phases;           ///< without the gateway
    std::int64_t transfers = 0;  ///< completed answers for which the KV came from a prefill replica
  };

  /// Writes the percentiles of the latencies of a minute.
  void note_latencies(RequestMinute& minute) const;
  /// Prefetches the part of a replica's `Server` that an event touches first. In a large fleet most replicas are not in
  /// the nearest caches when their event comes. With 512 replicas this saves 10 % of the time of a run.
  void prefetch(std::uint32_t number) const {
    if (number >= servers_.size()) return;
    const Server* server = servers_[number].get();
    if (server == nullptr) return;
    for (std::size_t at = 0; at < 320; at += 64) __builtin_prefetch(reinterpret_cast<const char*>(server) + at);
    __builtin_prefetch(&server->tpot);
    __builtin_prefetch(&server->phases);
  }

  /// Requests that wait at the gateway, in order.
  struct GatewayQueue {
    AttemptRing ring;
    RequestCount live = 0;
  };

  /// A retry or the end of a KV transfer.
  struct Timer {
    Instant at;
    std::uint64_t sequence = 0;
    Attempt attempt;
    friend bool operator>(const Timer& a, const Timer& b) {
      return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
    }
  };

  struct PendingArrival {
    workload::Request request;
    std::uint64_t sequence = 0;
    friend bool operator>(const PendingArrival& a, const PendingArrival& b) {
      return a.request.arrival != b.request.arrival ? a.request.arrival > b.request.arrival : a.sequence > b.sequence;
    }
  };

  /// The prefix hashes of one request, which the source does not store.
  struct HashBuffer {
    std::vector<std::uint64_t> hashes;
    Instant read_until;  ///< an engine may read the hashes until then: it drops a cancelled request when its step ends
  };

  static constexpr std::uint32_t kNone = 0xffff'ffff;

  Fleet(const FleetConfig& config, std::vector<FleetVariant> variants, const model::Slo& slo);

  // Arrivals.
  void refill();
  void next_client(Instant ended);
  void arrive_next();
  void arrive(const workload::Request& request);
  void assign_hashes(LiveRequest& live, const workload::Request& request);
  void release_hashes(LiveRequest& live);

  // Attempts.
  void start_attempt(std::uint32_t id);
  void route(std::uint32_t id);
  void route_decode(std::uint32_t id);
  bool offer(std::uint32_t id, std::uint32_t server, bool kv_present);
  void route_where_it_fits(std::uint32_t id, bool kv_present);
  void hold(std::uint32_t id, GatewayQueue& queue, State state);
  void serve_gateway() {
    if (gateway_.live > 0 && router_.has_able_replica()) serve_gateway(gateway_, router_);
    if (decode_gateway_.live > 0 && decode_router_.has_able_replica()) serve_gateway(decode_gateway_, decode_router_);
  }
  void serve_gateway(GatewayQueue& queue, Router& router);
  void attempt_ended(std::uint32_t id, Cause cause, bool may_retry);
  void time_out(std::uint32_t id);
  void end(std::uint32_t id, Mark mark);
  bool is_valid(Attempt attempt) const { return (stamps_[attempt.id] | 1) == (attempt.stamp | 1); }
  bool awaits_first_token(Attempt attempt) const { return stamps_[attempt.id] == (attempt.stamp & ~1U); }
  bool is_answering(std::uint32_t id) const { return (stamps_[id] & 1) != 0; }
  Attempt attempt_of(std::uint32_t id) const { return {id, stamps_[id]}; }
  void set_timer(Instant at, std::uint32_t id);

  // Events.
  void catch_up(Instant now);
  void run_replica(std::uint32_t server);
  void on_emission(Server& server, const Emission& emission);
  void on_first_token(Server& server, const Emission& emission);
  void on_completed(Server& server, std::uint32_t id);
  Duration transfer_time(const LiveRequest& live) const;
  bool meets_ttft_slo(const LiveRequest& live, Duration ttft) const;
  void run_timeouts();
  void run_timers();
  Instant next_fleet_event() const {
    Instant next = next_arrival_;
    if (!first_token_deadlines_.empty()) next = std::min(next, first_token_deadlines_.front().at);
    if (!total_deadlines_.empty()) next = std::min(next, total_deadlines_.front().at);
    if (!timers_.empty()) next = std::min(next, timers_.front().at);
    return next;
  }
  static std::uint64_t rank_of(Instant at) { return static_cast<std::uint64_t>(at.since_start.count()); }
  Instant next_replica() const { return {Duration{static_cast<std::int64_t>(events_.top_rank())}}; }
  void refresh(std::uint32_t server);
  void update_waiting_max() {
    if (waiting() > minute_waiting_max_) minute_waiting_max_ = waiting();
  }
  void close_minutes(Instant now);
  RequestMinute& minute_at(std::size_t index) {
    if (index >= meter_.minutes.size()) meter_.minutes.resize(index + 1);
    return meter_.minutes[index];
  }
  RequestMinute& minute_of(Instant at);
  RequestMinute& minute_of_now() { return minute_at(minute_); }  ///< as minute_of(now_), without its division
  RequestCount engine_queue_limit(const Server& server) const { return server.replica.config().max_waiting; }
  std::span<const std::uint64_t> hashes_of(const LiveRequest& live) const { return {live.hashes, live.hash_count}; }
  template <typename Waits>
  void add_deadline(AttemptRing& ring, Duration timeout, std::uint32_t id, Waits waits);
  /// Returns the load of a replica, scaled to the variant with the largest weight.
  RequestCount weighted_load(const Server& server) const {
    const RequestCount load = server.replica.load();
    const std::int64_t weight = variants_[server.variant].weight;
    const RequestCount weighted = weight == max_weight_ ? load : load * max_weight_ / weight;
    return std::min<RequestCount>(weighted, kNone - 1);
  }
  Router& router_of(const Server& server) { return server.role == EngineRole::decode ? decode_router_ : router_; }
  Server& server_of(ReplicaHandle handle) const;
  void leave_router(std::uint32_t server);
  void free_server(std::uint32_t server);
  void mark(Mark mark, std::uint32_t number) {
    hash_.add(static_cast<std::uint64_t>(now_.since_start.count()));
    hash_.add(static_cast<std::uint64_t>(mark) << 32 | number);
  }

  FleetConfig config_;
  std::vector<FleetVariant> variants_;
  model::Slo slo_;
  std::int64_t max_weight_ = 1;  ///< largest weight of a variant
  workload::Source* source_ = nullptr;
  workload::ClosedLoop* clients_ = nullptr;
  bool needs_hashes_ = false;

  Instant now_{};
  Instant next_arrival_ = Instant::never();

  std::vector<workload::Request> batch_;
  std::size_t batch_next_ = 0;
  std::size_t batch_size_ = 0;
  std::vector<PendingArrival> pending_arrivals_;  ///< min-heap; only for a closed loop
  std::uint64_t sequence_ = 0;

  std::vector<LiveRequest> requests_;
  /// Identifies the current attempt of each request. The number is even until the first token and odd from then on; the
  /// next attempt gets the next even number. The array is separate because the rings check the stamps of many requests.
  std::vector<std::uint32_t> stamps_;
  std::vector<std::uint32_t> free_requests_;
  RequestCount live_count_ = 0;
  RequestCount backing_off_ = 0;
  RequestCount in_transfer_ = 0;

  std::vector<std::unique_ptr<Server>> servers_;
  std::vector<std::uint32_t> free_servers_;
  MinTree<unsigned __int128> events_{rank_of(Instant::never())};  ///< next event of each server
  Router router_;                                                 ///< router of prefill and mixed replicas
  Router decode_router_;
  GatewayQueue gateway_;
  GatewayQueue decode_gateway_;
  AttemptRing first_token_deadlines_;
  AttemptRing total_deadlines_;
  std::vector<Timer> timers_;  ///< min-heap

  std::vector<HashBuffer> hash_buffers_;
  std::vector<std::uint32_t> free_hash_buffers_;
  std::vector<std::uint32_t> lingering_hash_buffers_;  ///< buffers of ended requests that an engine may still read

  Emissions emissions_;
  std::vector<HeldRequest> cut_;
  RequestCount waiting_ = 0;  ///< requests in engines' queues
  RequestCount minute_waiting_max_ = 0;
  Instant minute_end_;
  std::size_t minute_ = 0;  ///< the minute of `now_`, which ends at minute_end_
  LatencyHistogram minute_ttft_;
  LatencyHistogram minute_tpot_;
  RequestMeter meter_;
  TokenAccount removed_tokens_;  ///< token accounts of removed replicas
  StateHash hash_;
};

}  // namespace capstan::sim
