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

/// One engine instance with the iteration-exact continuous batching of vLLM v1: every step first serves what runs (one
/// token a decoding sequence, the next chunk of a started prompt), preempting from the tail when KV blocks run out,
/// then admits from the waiting queue while tokens, sequences and blocks allow, unless it preempted.
///
/// Cost is by request, not by token: while the batch stays the same, its steps are an exact arithmetic series, and the
/// replica jumps to the step in which something changes. StepwiseReplica does the same one step at a time; tests hold
/// both equal.
///
/// Rules of time. A step begins the instant the one before it ended. What is offered at `now` joins the first step that
/// begins after `now`; an idle replica begins one at once. Callers advance the replica to `now` before any other call
/// with that `now`, and `now` never goes back.
class Replica {
 public:
  /// `model` outlives the replica and may be shared by many. `started` is when it begins to serve.
  Replica(const ReplicaConfig& config, const engine::StepModel& model, Instant started = {});

  OfferOutcome offer(const EngineRequest& request, Instant now);

  /// When advance() next has something to do: an emission or a change of the batch. never() when idle.
  /// Nothing visible happens before it.
  Instant next_event() const { return event_ps_ == kNeverPs ? Instant::never() : instant(event_ps_); }

  /// Asks for the memory, beyond the replica itself, that the next event is likely to touch. Says nothing of meaning:
  /// the id of the request that it is likely to be about, for the same use.
  std::uint32_t prefetch_event() const {
    __builtin_prefetch(finishes_.data());
    __builtin_prefetch(slots_.data() + likely_slot_);
    return likely_id_;
  }

  /// Runs every step that ends at or before `to` and appends what happened, in order of time. Within a step, decoding
  /// sequences come first, then prompts, each in the order of the batch.
  void advance(Instant to, Emissions& out) {
    if (event_ps_ <= since_origin(to)) run_until(to, out);
  }

  /// The client went away. A waiting request leaves at once, a running one at the end of the step under way; no
  /// emission follows. False if the slot does not hold that request any more.
  bool cancel(std::uint32_t slot, std::uint32_t id, Instant now);

  void drain() { accepting_ = false; }  ///< accepts nothing more, finishes what it holds

  /// Ends at once; appends what it held, running first, then waiting, in their order.
  void kill(std::vector<HeldRequest>& held, Instant now);

  bool idle() const { return running_ == 0 && queue_.empty(); }
  std::int64_t waiting() const { return queue_.size(); }
  std::int64_t running() const { return running_; }
  std::int64_t load() const { return waiting() + running_; }  ///< for routers; exact at any time

  ReplicaSample sample(Instant now);
  TokenAccount token_account(Instant now);  ///< costs a walk over all that it holds

  /// When the step under way at `now` ends, and with it the next token of every decoding sequence; never() when idle.
  Instant step_end(Instant now);
  /// Tokens that a request inside has by `now`, its first included. Its slot must still be its own.
  std::int32_t generated(std::uint32_t slot, Instant now);

  const ReplicaConfig& config() const { return config_; }

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  static constexpr engine::Picoseconds kNeverPs = INT64_MAX;
  /// How far the clock may be from its origin before the origin follows: 26 days. No step or glide takes longer.
  static constexpr engine::Picoseconds kOriginReachPs = INT64_MAX / 4;
  static constexpr std::int64_t kGlideStepsMax = 1 << 20;

  enum class State : std::uint8_t { free, waiting, prefilling, decoding };
  enum class Mode : std::uint8_t {
    idle,
    stepping,  ///< one step under way that ends at event_ps_
    gliding,   ///< decode-only steps, glide_steps_ of them, until event_ps_
  };

  /// A request inside the replica; half a cache line. While decoding, lengths are as of `anchor_step` and grow by one
  /// each step after it, so that nothing needs to be touched in between.
  struct alignas(32) Slot {
    std::uint32_t id = 0;
    std::int32_t input = 0;
    std::int32_t output = 0;        ///< tokens with which it leaves; a cancelled one leaves early
    std::int32_t generated = 0;     ///< tokens generated, at the anchor
    std::int32_t computed = 0;      ///< tokens whose KV is held, at the anchor
    std::uint32_t anchor_step = 0;  ///< steps_ when decoding began
    std::uint32_t sequence = 0;     ///< place in the order of the batch; of a free slot, the next free one
    State state = State::free;
    bool cancelled = false;
    bool kv_present = false;
    bool prefixed = false;  ///< has hashes, in prefixes_

    /// steps_ after its last token, once it decodes.
    std::uint32_t finish_step() const { return anchor_step + static_cast<std::uint32_t>(output - generated); }
  };
  static_assert(sizeof(Slot) == 32);

  struct Prefix {
    const std::uint64_t* hashes = nullptr;
    std::uint32_t count = 0;
    std::uint32_t groups = 0;  ///< leading groups of them that it uses
    std::int32_t cached = -1;  ///< prompt tokens found in the cache at the first admission; -1 before
  };

  struct Chunk {
    std::uint32_t slot = 0;
    std::int32_t tokens = 0;
    engine::Picoseconds admitted_ps = 0;  ///< its prompt, for the last time
  };

  /// Returns the time from the origin to `at`; beyond 106 days, the longest time before never.
  engine::Picoseconds since_origin(Instant at) const {
    const std::int64_t ns = (at - origin_).count();
    return ns < kNeverPs / engine::kPicosecondsPerNanosecond ? ns * engine::kPicosecondsPerNanosecond : kNeverPs - 1;
  }
  /// Returns the earliest Instant not before `ps` after the origin.
  Instant instant(engine::Picoseconds ps) const { return origin_ + engine::instant_not_before(ps).since_start; }

  void begin_clock(Instant at);
  void move_origin();
  void count_steps_anew();
  void run_until(Instant to, Emissions& out);
  void plan(Emissions& out);
  void begin_step(Emissions& out);
  void make_room(std::int64_t need, std::int32_t partial_tokens, Emissions& out);
  void admit(std::int64_t budget);
  bool admit_first(std::int64_t& budget);
  void start_decoding(std::uint32_t slot);
  void end_step(Emissions& out);
  void end_chunk(const Chunk& chunk, Emissions& out);
  void finish_decodes(Emissions& out);
  std::uint32_t pop_finish();
  void finish(std::uint32_t slot, Emissions& out);
  void pass_steps(std::int64_t steps, engine::Picoseconds took);
  void settle(engine::Picoseconds now);
  void break_glide(engine::Picoseconds now);
  std::int64_t steps_until_finish();
  std::int64_t steps_with_blocks(std::int64_t limit) const;
  void push_finish(std::uint32_t slot);
  void expect_event_of(std::uint32_t slot) {
    likely_slot_ = slot;
    likely_id_ = slots_[slot].id;
  }
  void register_groups(std::uint32_t slot, std::int64_t computed);
  void release_groups(std::uint32_t slot);
  std::uint32_t take_slot();
  void list_batch(std::vector<std::uint32_t>& slots) const;
  void sort_as_batch(std::vector<std::uint32_t>& slots) const;
  bool in_batch(const Slot& slot) const { return slot.state == State::prefilling || slot.state == State::decoding; }
  void leave_batch(std::uint32_t slot);
  void free_slot(std::uint32_t slot);
  static constexpr std::int64_t blocks_for(std::int64_t tokens) { return ceil_div(tokens, engine::kKvBlockTokens); }
  std::int64_t blocks_of_step(const Slot& s, std::int32_t partial_tokens) const;
  void preempt(std::uint32_t slot, Emissions& out);
  std::int64_t tokens_of(const Slot& slot) const {  ///< of its answer, so far
    return slot.generated + (slot.state == State::decoding ? step_index() - slot.anchor_step : 0);
  }
  void emit(Emissions& out, std::uint32_t slot, EmissionKind kind, Duration computed = {}) const;
  std::int64_t decode_length(const Slot& slot) const { return slot.computed + (step_index() - slot.anchor_step); }
  std::uint32_t step_index() const { return static_cast<std::uint32_t>(steps_); }
  std::int64_t available_blocks() const { return free_blocks_ + kPrefixGroupBlocks * cache_.evictable(); }
  void take_blocks(std::int64_t blocks);
  bool may_admit() const { return !queue_.empty() && !head_blocked_ && running_ < max_seqs_; }

  // What every event touches comes first, in as few cache lines as it takes: a fleet has many replicas, and most of
  // them are out of the nearest caches when their turn comes.
  engine::Picoseconds event_ps_ = kNeverPs;
  Instant origin_;                    ///< what every `_ps` time below counts from
  engine::Picoseconds clock_ps_ = 0;  ///< when the step or glide under way began
  const engine::StepModel* model_;
  std::int64_t glide_steps_ = 0;
  std::int64_t steps_ = 0;          ///< completed since the steps were last counted anew
  std::int64_t decode_tokens_ = 0;  ///< KV tokens held by decoding sequences, at the beginning of the step
  std::int64_t free_blocks_ = 0;
  std::int32_t decoding_ = 0;
  std::int32_t running_ = 0;

  std::uint32_t likely_slot_ = 0;  ///< whom the event under way is likely to be about
  std::uint32_t likely_id_ = 0;
  std::int32_t max_seqs_;
  Mode mode_ = Mode::idle;
  bool accepting_ = true;
  bool head_blocked_ = false;  ///< the first waiting request did not fit, and nothing was freed since
  bool preempted_in_step_ = false;
  std::uint32_t partial_ = kNone;  ///< the running prompt that is not finished; always the last of the batch
  std::uint32_t first_free_ = kNone;
  std::vector<Slot> slots_;
  std::vector<std::uint64_t> finishes_;  ///< min-heap of finish_step << 32 | slot; entries may be out of date

  std::array<std::int32_t, 16> block_phase_{};  ///< decoding sequences by (step at which they need a block) mod 16

  std::vector<Chunk> chunks_;  ///< of the step under way
  engine::Picoseconds partial_admitted_ps_ = 0;
  SlotQueue queue_;
  std::uint32_t next_sequence_ = 0;

  engine::WidePicoseconds inter_token_ps_ = 0;
  engine::WidePicoseconds busy_ps_ = 0;
  std::int64_t earlier_steps_ = 0;  ///< completed before those of `steps_`; a multiple of 16
  std::int64_t inter_token_count_ = 0;
  std::int64_t prompt_tokens_ = 0;
  std::int64_t prefilled_tokens_ = 0;  ///< generated by steps that ended a prefill; the others are between tokens
  ReplicaConfig config_;
  PrefixCache cache_;

  TokenAccount tokens_;           ///< all but what is generated and held
  std::vector<Prefix> prefixes_;  ///< by slot, as far as one has hashes
  std::vector<std::uint32_t> scratch_;
  std::int64_t preemptions_ = 0;
  std::int64_t prefix_queried_tokens_ = 0;
  std::int64_t prefix_hit_tokens_ = 0;
};

/// Time to move the KV of `tokens` over a link.
Duration kv_transfer_time(std::int64_t tokens, std::int64_t kv_bytes_per_token, std::int64_t link_bytes_per_s,
                          Duration setup);

}  // namespace capstan::sim
