#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "engine/step_model.h"
#include "sim/serving/prefix_cache.h"
#include "sim/serving/request.h"
#include "sim/serving/slot_queue.h"

namespace capstan::sim {

/// One engine instance with the iteration-exact continuous batching of vLLM v1. Every step first serves the running
/// requests: one token for each decoding sequence and the next chunk of a started prompt. It preempts from the tail of
/// the batch when KV blocks run out. Then it admits from the waiting queue while tokens, sequences and blocks allow,
/// unless the step preempted a request.
///
/// The cost of a run grows with the number of requests, not of tokens: while the batch stays the same, the times of its
/// steps form an exact arithmetic series, and the replica jumps to the step in which something changes. Such a jump is
/// called a glide. StepwiseReplica simulates the same rules one step at a time; tests check that both give equal
/// results.
///
/// Rules of time. A step begins the instant the previous one ended. A request offered at `now` joins the first step
/// that begins after `now`; an idle replica begins a step at once. Callers advance the replica to `now` before any
/// other call with that `now`, and `now` never goes back.
class Replica {
 public:
  /// `model` must outlive the replica; replicas may share it. `started` is when the replica begins to serve.
  Replica(const ReplicaConfig& config, const engine::StepModel& model, Instant started = {});

  OfferOutcome offer(const EngineRequest& request, Instant now);

  /// Returns the time of the next emission or change of the batch; never() when idle. Nothing visible happens before.
  Instant next_event() const { return event_ps_ == kNeverPs ? Instant::never() : instant(event_ps_); }

  /// Prefetches the memory outside the replica object that the next event is likely to touch. Returns the id of the
  /// request that the event is likely to concern, so that the caller can prefetch its own data; the id is only a guess.
  std::uint32_t prefetch_event() const {
    __builtin_prefetch(finishes_.data());
    __builtin_prefetch(slots_.data() + likely_slot_);
    return likely_id_;
  }

  /// Runs every step that ends at or before `to` and appends its emissions in order of time. Within a step, decoding
  /// sequences come first, then prompts, each in the order of the batch.
  void advance(Instant to, Emissions& out) {
    while (event_ps_ <= since_origin(to) && !run_until(since_origin(to), out)) {
    }
  }

  /// Cancels a request whose client went away. A waiting request leaves at once, a running one at the end of the step
  /// under way; no emission follows. Returns false if the slot does not hold that request any more.
  bool cancel(std::uint32_t slot, std::uint32_t id, Instant now);

  void drain() { accepting_ = false; }  ///< stops accepting requests; those inside are finished

  /// Ends the replica at once. Appends the requests it held: first the running ones, then the waiting ones, in order.
  void kill(std::vector<HeldRequest>& held, Instant now);

  bool idle() const { return running_ == 0 && queue_.empty(); }
  std::int64_t waiting() const { return queue_.size(); }
  std::int64_t running() const { return running_; }
  std::int64_t load() const { return waiting() + running_; }  ///< requests inside; exact at any time, for routers

  ReplicaSample sample(Instant now);
  TokenAccount token_account(Instant now);  ///< counts the output tokens; visits every request inside

  /// Returns when the step under way at `now` ends, which is when every decoding sequence gets its next token; never()
  /// when idle.
  Instant step_end(Instant now);
  /// Returns the output tokens that a request has by `now`, the first included. The slot must still hold the request.
  std::int32_t generated(std::uint32_t slot, Instant now);

  const ReplicaConfig& config() const { return config_; }

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  static constexpr engine::Picoseconds kNeverPs = INT64_MAX;
  /// When the clock is this far from its origin (26 days), the origin moves to the clock. No step or glide is longer.
  static constexpr engine::Picoseconds kOriginReachPs = INT64_MAX / 4;
  static constexpr std::int64_t kGlideStepsMax = 1 << 20;

  enum class State : std::uint8_t { free, waiting, prefilling, decoding };
  enum class Mode : std::uint8_t {
    idle,
    stepping,  ///< one step is under way and ends at event_ps_
    gliding,   ///< glide_steps_ decode-only steps are under way and end at event_ps_
  };

  /// A request inside the replica; half a cache line. While the request decodes, `generated` and `computed` keep their
  /// values of step `anchor_step`, so that a step does not have to write to every slot. The present lengths are larger
  /// by one for each step since then.
  struct alignas(32) Slot {
    std::uint32_t id = 0;
    std::int32_t input = 0;
    std::int32_t output = 0;        ///< tokens at which the request leaves; lowered when it is cancelled
    std::int32_t generated = 0;     ///< tokens generated, at the anchor
    std::int32_t computed = 0;      ///< tokens whose KV is held, at the anchor
    std::uint32_t anchor_step = 0;  ///< value of steps_ when decoding began
    std::uint32_t sequence = 0;     ///< position in the order of the batch; in a free slot, the next free slot
    State state = State::free;
    bool cancelled = false;
    bool kv_present = false;
    bool has_prefix = false;  ///< its hashes are in prefixes_

    /// Returns the value of steps_ after the last token; valid while the request decodes.
    std::uint32_t finish_step() const { return anchor_step + static_cast<std::uint32_t>(output - generated); }
  };
  static_assert(sizeof(Slot) == 32);

  struct Prefix {
    const std::uint64_t* hashes = nullptr;
    std::uint32_t count = 0;
    std::uint32_t groups = 0;  ///< leading groups whose cached KV the request uses
    std::int32_t cached = -1;  ///< prompt tokens found in the cache at the first admission; -1 before
  };

  struct Chunk {
    std::uint32_t slot = 0;
    std::int32_t tokens = 0;
    engine::Picoseconds admitted_ps = 0;  ///< time of the last admission of the prompt
  };

  /// Returns the time from the origin to `at`, limited to the longest time below kNeverPs (106 days).
  engine::Picoseconds since_origin(Instant at) const {
    const std::int64_t ns = (at - origin_).count();
    return ns < kNeverPs / engine::kPicosecondsPerNanosecond ? ns * engine::kPicosecondsPerNanosecond : kNeverPs - 1;
  }
  /// Returns the earliest Instant that is at least `ps` after the origin.
  Instant instant(engine::Picoseconds ps) const { return origin_ + engine::duration_not_below(ps); }

  void start_clock(Instant at);
  void move_origin();
  void rebase_steps();
  bool run_until(engine::Picoseconds to, Emissions& out);
  void plan(Emissions& out);
  void begin_step(Emissions& out);
  void allocate_or_preempt(std::int64_t needed, std::int32_t partial_tokens, Emissions& out);
  void admit(std::int64_t budget);
  bool admit_first(std::int64_t& budget);
  void start_decoding(std::uint32_t slot);
  void end_step(Emissions& out);
  void end_chunk(const Chunk& chunk, Emissions& out);
  void finish_decodes(Emissions& out);
  std::uint32_t pop_finished_slot();
  void finish(std::uint32_t slot, Emissions& out);
  void record_steps(std::int64_t steps, engine::Picoseconds took);
  void settle(engine::Picoseconds now);
  void break_glide(engine::Picoseconds now);
  std::int64_t steps_until_finish();
  std::int64_t steps_with_blocks(std::int64_t limit) const;
  void push_finish(std::uint32_t slot);
  void predict_event_of(std::uint32_t slot) {
    likely_slot_ = slot;
    likely_id_ = slots_[slot].id;
  }
  void register_groups(std::uint32_t slot, std::int64_t computed);
  void release_groups(std::uint32_t slot);
  std::uint32_t allocate_slot();
  void list_batch(std::vector<std::uint32_t>& slots) const;
  void sort_as_batch(std::vector<std::uint32_t>& slots) const;
  bool in_batch(const Slot& slot) const { return slot.state == State::prefilling || slot.state == State::decoding; }
  void leave_batch(std::uint32_t slot);
  void free_slot(std::uint32_t slot);
  static constexpr std::int64_t blocks_for(std::int64_t tokens) { return ceil_div(tokens, engine::kKvBlockTokens); }
  std::int64_t blocks_of_step(const Slot& s, std::int32_t partial_tokens) const;
  void preempt(std::uint32_t slot, Emissions& out);
  std::int64_t tokens_of(const Slot& slot) const {  ///< output tokens generated so far
    return slot.generated + (slot.state == State::decoding ? step_index() - slot.anchor_step : 0);
  }
  void emit(Emissions& out, std::uint32_t slot, EmissionKind kind, Duration computed = {}) const;
  std::int64_t decode_length(const Slot& slot) const { return slot.computed + (step_index() - slot.anchor_step); }
  std::uint32_t step_index() const { return static_cast<std::uint32_t>(steps_); }
  std::int64_t available_blocks() const { return free_blocks_ + kPrefixGroupBlocks * cache_.evictable(); }
  void allocate_blocks(std::int64_t blocks);
  bool may_admit() const { return !queue_.empty() && !head_blocked_ && running_ < max_seqs_; }

  // The fields that every event touches come first and share as few cache lines as possible: in a fleet of many
  // replicas, most of them are not in the nearest caches when they are advanced.
  engine::Picoseconds event_ps_ = kNeverPs;
  Instant origin_;                    ///< zero of every `_ps` time below
  engine::Picoseconds clock_ps_ = 0;  ///< begin of the step or glide under way
  const engine::StepModel* model_;
  std::int64_t glide_steps_ = 0;
  std::int64_t steps_ = 0;          ///< completed steps, without `earlier_steps_`
  std::int64_t decode_tokens_ = 0;  ///< KV tokens held by decoding sequences, at the beginning of the step
  std::int64_t free_blocks_ = 0;
  std::int32_t decoding_ = 0;
  std::int32_t running_ = 0;

  std::uint32_t likely_slot_ = 0;  ///< slot that the event under way is likely to concern, for prefetching
  std::uint32_t likely_id_ = 0;
  std::int32_t max_seqs_;
  Mode mode_ = Mode::idle;
  bool accepting_ = true;
  bool head_blocked_ = false;  ///< the first waiting request did not fit, and no block was freed since
  bool has_preempted_ = false;
  std::uint32_t partial_slot_ = kNone;  ///< running prompt that is partly computed; always the last of the batch
  std::uint32_t first_free_ = kNone;
  SlotQueue queue_;
  std::vector<Slot> slots_;
  std::vector<std::uint64_t> finishes_;  ///< min-heap of finish_step << 32 | slot; entries may be out of date
  engine::WidePicoseconds inter_token_ps_ = 0;
  engine::WidePicoseconds busy_ps_ = 0;
  std::int64_t inter_token_count_ = 0;
  std::array<std::int32_t, 16> block_phase_{};  ///< decoding sequences by (step at which they need a block) mod 16

  std::vector<Chunk> chunks_;  ///< prompt chunks of the step under way
  engine::Picoseconds partial_admitted_ps_ = 0;
  std::uint32_t next_sequence_ = 0;

  std::int64_t earlier_steps_ = 0;  ///< completed steps that `steps_` no longer counts; a multiple of 16
  std::int64_t prompt_tokens_ = 0;
  /// Tokens generated at the end of a prefill; inter_token_count_ does not count them.
  std::int64_t prefilled_tokens_ = 0;
  ReplicaConfig config_;
  PrefixCache cache_;

  TokenAccount tokens_;           ///< account without `generated` and `held`, which token_account() computes
  std::vector<Prefix> prefixes_;  ///< prefixes by slot; long enough for every slot with hashes
  std::vector<std::uint32_t> scratch_;
  std::int64_t preemptions_ = 0;
  std::int64_t prefix_queried_tokens_ = 0;
  std::int64_t prefix_hit_tokens_ = 0;
};

/// Returns the time to move the KV of `tokens` over a link.
Duration kv_transfer_time(std::int64_t tokens, std::int64_t kv_bytes_per_token, std::int64_t link_bytes_per_s,
                          Duration setup);

}  // namespace capstan::sim
