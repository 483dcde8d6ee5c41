#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

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

/// How clients behave. A bound of 0 is none. The waits between attempts are those of the OpenAI client libraries: they
/// double from `backoff` up to `backoff_max`, and each is cut by up to a quarter, drawn from the seed.
struct ClientConfig {
  Duration first_token_timeout{};  ///< from the start of an attempt to its first token
  Duration total_timeout{};        ///< from the start of an attempt to its last token
  std::int32_t max_retries = 0;    ///< attempts after the first; 0..100
  bool retry_timed_out = true;     ///< otherwise only refused and cut attempts are tried again
  Duration backoff = std::chrono::milliseconds(500);
  Duration backoff_max = std::chrono::seconds(8);
};

struct FleetConfig {
  RouterConfig router{};
  ClientConfig client{};
  /// Requests that the gateway holds while no replica can take them, first come first served; the same number again
  /// between prefill and decode. 0: refused at once.
  RequestCount gateway_max_waiting = 1024;
  std::uint64_t seed = 0;
};

/// What every replica of a variant is. `model` and `work` outlive the fleet.
struct FleetVariant {
  const engine::StepModel* model = nullptr;
  ReplicaConfig replica;
  /// Between client and engine, added to TTFT and end-to-end time (alpha0 in BLIS, measured on vLLM).
  Duration front_end = std::chrono::milliseconds(15);
  /// From a prefill replica of this variant to a decode replica.
  std::int64_t kv_bytes_per_token = 131'072;
  std::int64_t kv_link_bytes_per_s = 40'000'000'000;
  Duration kv_setup = std::chrono::milliseconds(1);
  const engine::RequestWork* work = nullptr;  ///< prices the useful work of met requests; none: they count nothing
  /// What a router that looks at loads holds its requests against, beside other variants: 200 of one and 100 of the
  /// other are as loaded with 40 and 20 requests. 1..10'000.
  std::int64_t weight = 1;
};

/// A replica of a fleet. Used again after remove() or kill().
using ReplicaHandle = Id<struct FleetReplicaTag>;

/// What an engine says of itself.
struct ReplicaReading {
  ReplicaSample engine;
  TtftBuckets ttft;                    ///< first tokens since the last scrape
  QueueTimeBuckets queue_time;         ///< how long those that ended since then had waited in the engine's queue
  TpotBuckets tpot;                    ///< what a token after the first took them on average
  std::optional<Duration> ttft_p99{};  ///< read from `ttft`; none if there were none
};

/// Everything between a client and a GPU, for one service: clients with time-outs and retries, the gateway, the router
/// and the replicas. Nothing here knows nodes or pods; whoever does adds, drains and kills replicas.
///
/// Events happen in a total order: by time; at one time replicas first (by handle), then the gateway's queue, time-outs
/// (of first tokens, of whole answers), retries and KV transfers, arrivals, each in the order in which they were set.
/// Memory is bounded by the requests in flight, nothing is allocated for a request once the tables have grown.
class Fleet {
 public:
  /// `source` outlives the fleet.
  Fleet(const FleetConfig& config, std::vector<FleetVariant> variants, const model::Slo& slo, workload::Source& source);
  Fleet(const FleetConfig& config, std::vector<FleetVariant> variants, const model::Slo& slo,
        workload::ClosedLoop& clients);
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  // Replicas. Each call first advances to its `now`: at one time these come after what replicas do, before all else
  // that has not happened yet, so that a replica added at 0 is there for what arrives at 0.

  ReplicaHandle add_replica(std::size_t variant, Instant now);  ///< serves from now on
  void drain(ReplicaHandle handle, Instant now);                ///< gets no more requests, finishes what it holds
  bool drained(ReplicaHandle handle) const;                     ///< told to drain, and holds nothing more
  void remove(ReplicaHandle handle, Instant now);               ///< must be drained
  void kill(ReplicaHandle handle, Instant now);                 ///< ends; what it holds is cut, clients may try again

  /// `scrape` begins a new interval for the first tokens.
  ReplicaReading sample(ReplicaHandle handle, Instant now, bool scrape);
  RequestCount load(ReplicaHandle handle) const;  ///< requests that it holds

  // Time.

  Instant now() const { return now_; }
  /// When advance() next has something to do; never() when nothing will happen by itself. Nothing happens before it.
  Instant next_event() const { return std::min(next_replica(), next_other()); }
  void advance(Instant to);  ///< everything up to and including `to`
  void finish(Instant end);  ///< end of the run: advances and closes the last minute
  bool arrivals_over() const { return next_arrival_.is_never(); }  ///< no request is to come by itself
  /// All requests have arrived and ended.
  bool over() const { return live_ == 0 && arrivals_over(); }

  // What came of it.

  RequestCount gateway_waiting() const { return gateway_.live + decode_gateway_.live; }
  /// Of those, the ones that wait for a replica of the variant's role.
  RequestCount gateway_waiting(std::size_t variant) const {
    return variants_.at(variant).replica.role == EngineRole::decode ? decode_gateway_.live : gateway_.live;
  }
  RequestCount waiting() const { return waiting_ + gateway_waiting(); }  ///< there and in engines' queues
  const RequestMeter& meter();                                           ///< up to now
  std::uint64_t state_hash() const { return hash_.value(); }  ///< over every emission and end: number, kind, time
  TokenFigures tokens();                                      ///< up to now; costs as much as there is in flight
  /// Compares every counter with a walk over all that lives (invariant 8). Costs as much as there is in flight.
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

  /// A request from its arrival to its end; one cache line. Its index is its id inside engines.
  struct alignas(64) Live {
    Instant arrived;
    Instant turn;  ///< when the engine got the attempt under way; once it is answering, when its first token came
    const std::uint64_t* hashes = nullptr;
    std::int32_t input = 0;
    std::int32_t output = 0;
    std::uint32_t number = 0;    ///< order of arrival
    std::int32_t queued_us = 0;  ///< in the queue of the engine that computed its prompt, which tells it at the end
    std::int32_t cached = 0;     ///< prompt tokens of the attempt under way that an engine's prefix cache held
    std::uint32_t server = 0;
    std::uint32_t engine_slot = 0;
    std::uint32_t hash_count = 0;
    std::uint32_t hash_buffer = kNone;
    std::uint8_t attempts = 0;
    State state = State::free;
    Cause cause = Cause::none;  ///< of what ended its earlier attempts, what says most
  };
  static_assert(sizeof(Live) == 64);

  struct alignas(64) Server {
    Server(const FleetVariant& v, std::uint32_t variant_index, Instant now)
        : variant(static_cast<std::uint16_t>(variant_index)), role(v.replica.role), replica(v.replica, *v.model, now) {}
    std::uint16_t variant;
    EngineRole role;
    bool routed = true;
    std::uint32_t holds = 0;  ///< requests of ours inside; a cancelled one may stay in the replica until its step ends
    std::uint32_t waiting = 0;  ///< as last added to Fleet::waiting_
    Replica replica;
    TtftBuckets ttft;
    QueueTimeBuckets queue_time;
    TpotBuckets tpot;
  };

  /// Asks for what an event touches first in a server: of many replicas, most are out of the nearest caches when their
  /// turn comes. Measured on 512: a tenth less time.
  void prefetch(std::uint32_t number) const {
    if (number >= servers_.size()) return;
    const Server* server = servers_[number].get();
    if (server == nullptr) return;
    for (std::size_t at = 0; at < 256; at += 64) __builtin_prefetch(reinterpret_cast<const char*>(server) + at);
  }

  /// Requests that wait in order.
  struct Held {
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

  struct LaterArrival {
    workload::Request request;
    std::uint64_t sequence = 0;
    friend bool operator>(const LaterArrival& a, const LaterArrival& b) {
      return a.request.arrival != b.request.arrival ? a.request.arrival > b.request.arrival : a.sequence > b.sequence;
    }
  };

  /// Hashes of a request, where they are not the source's own memory.
  struct HashBuffer {
    std::vector<std::uint64_t> hashes;
    Instant read_until;  ///< an engine drops a cancelled request only at the end of the step under way
  };

  static constexpr std::uint32_t kNone = 0xffff'ffff;

  Fleet(const FleetConfig& config, std::vector<FleetVariant> variants, const model::Slo& slo);

  // Arrivals.
  void refill();
  void next_client(Instant ended);
  void arrive_next();
  void arrive(const workload::Request& request);
  void take_hashes(Live& live, const workload::Request& request);
  void give_back_hashes(Live& live);

  // Attempts.
  void start_attempt(std::uint32_t id);
  void route(std::uint32_t id);
  void route_decode(std::uint32_t id);
  bool offer(std::uint32_t id, std::uint32_t server, bool kv_present);
  void route_where_it_fits(std::uint32_t id, bool kv_present);
  void hold(std::uint32_t id, Held& queue, State state);
  void serve_held() {
    if (gateway_.live > 0 && router_.any()) serve_held(gateway_, router_);
    if (decode_gateway_.live > 0 && decode_router_.any()) serve_held(decode_gateway_, decode_router_);
  }
  void serve_held(Held& queue, Router& router);
  void attempt_ended(std::uint32_t id, Cause cause, bool may_retry);
  void time_out(std::uint32_t id);
  void end(std::uint32_t id, Mark mark);
  bool alive(Attempt attempt) const { return (stamps_[attempt.id] | 1) == (attempt.stamp | 1); }
  bool awaits_first_token(Attempt attempt) const { return stamps_[attempt.id] == (attempt.stamp & ~1U); }
  bool answering(std::uint32_t id) const { return (stamps_[id] & 1) != 0; }
  Attempt attempt_of(std::uint32_t id) const { return {id, stamps_[id]}; }
  void set_timer(Instant at, std::uint32_t id);

  // Events.
  void catch_up(Instant now);
  void run_replica(std::uint32_t server);
  void on_emission(Server& server, const Emission& emission);
  void began(Server& server, const Emission& emission);
  void completed(Server& server, std::uint32_t id);
  bool in_time(const Live& live, Duration ttft) const;  ///< of its first token
  void run_timeouts();
  void run_timers();
  Instant next_other() const {
    Instant next = next_arrival_;
    if (!first_token_deadlines_.empty()) next = std::min(next, first_token_deadlines_.front().at);
    if (!total_deadlines_.empty()) next = std::min(next, total_deadlines_.front().at);
    if (!timers_.empty()) next = std::min(next, timers_.front().at);
    return next;
  }
  static std::uint64_t rank_of(Instant at) { return static_cast<std::uint64_t>(at.since_start.count()); }
  Instant next_replica() const { return {Duration{static_cast<std::int64_t>(events_.top_rank())}}; }
  void refresh(std::uint32_t server);
  void waiting_changed() {
    if (waiting() > minute_waiting_max_) minute_waiting_max_ = waiting();
  }
  void close_minutes(Instant now);
  RequestMinute& minute_of(Instant at);
  RequestCount engine_queue_limit(const Server& server) const { return server.replica.config().max_waiting; }
  std::span<const std::uint64_t> hashes_of(const Live& live) const { return {live.hashes, live.hash_count}; }
  template <typename Waits>
  void add_deadline(AttemptRing& ring, Duration timeout, std::uint32_t id, Waits waits);
  /// What a replica holds, in requests of one of the heaviest variant.
  RequestCount weighed_load(const Server& server) const {
    return std::min<RequestCount>(server.replica.load() * heaviest_ / variants_[server.variant].weight, kNone - 1);
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
  std::int64_t heaviest_ = 1;  ///< of the variants' weights
  workload::Source* source_ = nullptr;
  workload::ClosedLoop* clients_ = nullptr;
  bool hashes_wanted_ = false;

  Instant now_{};
  Instant next_arrival_ = Instant::never();

  std::vector<workload::Request> batch_;
  std::size_t batch_next_ = 0;
  std::size_t batch_size_ = 0;
  std::vector<LaterArrival> later_;  ///< min-heap, of a closed loop
  std::uint64_t sequence_ = 0;

  std::vector<Live> lives_;
  /// Names the attempt under way of each of lives_: even until its first token, odd from then on, the next even number
  /// for the next attempt. Apart from them, since rings look at many.
  std::vector<std::uint32_t> stamps_;
  std::vector<std::uint32_t> free_lives_;
  RequestCount live_ = 0;
  RequestCount backing_off_ = 0;
  RequestCount in_transfer_ = 0;

  std::vector<std::unique_ptr<Server>> servers_;
  std::vector<std::uint32_t> free_servers_;
  MinTree<unsigned __int128> events_{rank_of(Instant::never())};  ///< servers by their next event
  Router router_;                                                 ///< prefill and mixed replicas
  Router decode_router_;
  Held gateway_;
  Held decode_gateway_;
  AttemptRing first_token_deadlines_;
  AttemptRing total_deadlines_;
  std::vector<Timer> timers_;  ///< min-heap

  std::vector<HashBuffer> hash_buffers_;
  std::vector<std::uint32_t> free_hash_buffers_;
  std::vector<std::uint32_t> lingering_hash_buffers_;  ///< of no request, but an engine may still read them

  Emissions emissions_;
  std::vector<HeldRequest> cut_;
  RequestCount waiting_ = 0;  ///< in engines' queues
  RequestCount minute_waiting_max_ = 0;
  Instant minute_end_;
  LatencyHistogram minute_ttft_;
  RequestMeter meter_;
  TokenAccount gone_;  ///< of replicas that are gone
  StateHash hash_;
};

}  // namespace capstan::sim
