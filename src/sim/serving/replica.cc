#include "sim/serving/replica.h"

#include <algorithm>
#include <functional>

#include "base/assert.h"
#include "base/known_row.h"
#include "base/quantity.h"

namespace capstan::sim {

using engine::kKvBlockTokens;
using engine::Picoseconds;
using engine::WidePicoseconds;

Replica::Replica(const ReplicaConfig& config, const engine::StepModel& model, Instant started)
    : origin_(started),
      model_(&model),
      free_blocks_(config.kv_blocks),
      max_seqs_(static_cast<std::int32_t>(std::min<std::int64_t>(config.max_seqs, INT32_MAX))),
      config_(config),
      cache_(config.kv_blocks / kPrefixGroupBlocks) {
  CAPSTAN_ASSERT(config.max_seqs >= 1 && config.max_batched_tokens >= config.max_seqs && config.kv_blocks >= 1);
  CAPSTAN_ASSERT(config.max_waiting >= 1);
}

// --- calls from outside ---

OfferOutcome Replica::offer(const EngineRequest& request, Instant now) {
  CAPSTAN_ASSERT(request.input_tokens >= 1 && request.output_tokens >= 1);
  CAPSTAN_ASSERT(!request.kv_present || request.output_tokens >= 2);
  const Picoseconds now_ps = since_origin(now);
  CAPSTAN_ASSERT(event_ps_ > now_ps);
  if (!accepting_) return {OfferResult::draining};
  if (waiting() >= config_.max_waiting) return {OfferResult::queue_full};
  if (blocks_for(std::int64_t{request.input_tokens} + request.output_tokens) > config_.kv_blocks) {
    return {OfferResult::too_long};
  }
  // A request that can be admitted joins the next step, so the glide must end with the step under way.
  if (mode_ == Mode::gliding && queue_.empty() && running_ < max_seqs_) break_glide(now_ps);

  const std::uint32_t slot = allocate_slot();
  Slot& s = slots_[slot];
  s = {.id = request.id, .input = request.input_tokens, .output = request.output_tokens};
  s.generated = request.kv_present ? 1 : 0;
  s.kv_present = request.kv_present;
  s.state = State::waiting;
  tokens_.received += s.generated;
  if (config_.prefix_cache && !request.prefix_hashes.empty()) {
    s.has_prefix = true;
    if (prefixes_.size() < slots_.size()) prefixes_.resize(slots_.size());
    prefixes_[slot] = {request.prefix_hashes.data(), static_cast<std::uint32_t>(request.prefix_hashes.size())};
  }
  queue_.push_back(slot);
  if (mode_ == Mode::idle) {
    start_clock(std::max(origin_, now));
    Emissions none;
    begin_step(none);  // no request runs, so none can be preempted
  }
  return {OfferResult::accepted, slot};
}

bool Replica::cancel(std::uint32_t slot, std::uint32_t id, Instant now) {
  const Picoseconds now_ps = since_origin(now);
  CAPSTAN_ASSERT(event_ps_ > now_ps);
  if (slot >= slots_.size() || slots_[slot].id != id || slots_[slot].cancelled) return false;
  Slot& s = slots_[slot];
  switch (s.state) {
    case State::free:
      return false;
    case State::waiting: {
      const bool first = queue_.front() == slot;
      queue_.erase(slot);
      tokens_.discarded += s.generated;
      free_slot(slot);
      if (first) {
        head_blocked_ = false;
        if (mode_ == Mode::gliding && may_admit()) break_glide(now_ps);
      }
      return true;
    }
    case State::prefilling:
      s.cancelled = true;
      return true;
    case State::decoding:
      if (mode_ == Mode::gliding) break_glide(now_ps);
      s.cancelled = true;
      s.output = s.generated + static_cast<std::int32_t>(step_index() + 1 - s.anchor_step);
      push_finish(slot);
      return true;
  }
  return false;
}

void Replica::kill(std::vector<HeldRequest>& held, Instant now) {
  CAPSTAN_ASSERT(event_ps_ > since_origin(now));
  settle(since_origin(now));
  list_batch(scratch_);
  for (const std::uint32_t slot : scratch_) {
    const Slot& s = slots_[slot];
    const std::int64_t tokens = tokens_of(s);
    (s.cancelled ? tokens_.discarded : tokens_.cut) += tokens;
    if (!s.cancelled) held.push_back({s.id, static_cast<std::int32_t>(tokens)});
  }
  for (std::uint32_t i = 0; i < queue_.size(); ++i) {
    const Slot& s = slots_[queue_.at(i)];
    held.push_back({s.id, s.generated});
    tokens_.cut += s.generated;
  }
  accepting_ = false;
  mode_ = Mode::idle;
  event_ps_ = kNeverPs;
  queue_ = {};
  running_ = decoding_ = 0;
  decode_tokens_ = 0;
  partial_slot_ = first_free_ = kNone;
  free_blocks_ = config_.kv_blocks;
  cache_ = PrefixCache(config_.kv_blocks / kPrefixGroupBlocks);
  block_phase_ = {};
  slots_.clear();
  prefixes_.clear();
  finishes_.clear();
  chunks_.clear();
}

ReplicaSample Replica::sample(Instant now) {
  CAPSTAN_ASSERT(event_ps_ > since_origin(now));
  settle(since_origin(now));
  ReplicaSample sample;
  sample.waiting = waiting();
  sample.running = running_;
  sample.kv_blocks = config_.kv_blocks;
  // The step under way already uses its blocks, though a glide allocates them only when the step ends.
  const std::int64_t step_blocks = mode_ == Mode::gliding ? block_phase_[step_index() & 15] : 0;
  sample.kv_blocks_used = config_.kv_blocks - available_blocks() + step_blocks;
  sample.prompt_tokens_total = prompt_tokens_;
  sample.generation_tokens_total = inter_token_count_ + prefilled_tokens_;
  sample.preemptions_total = preemptions_;
  sample.prefix_queried_tokens_total = prefix_queried_tokens_;
  sample.prefix_hit_tokens_total = prefix_hit_tokens_;
  sample.steps_total = earlier_steps_ + steps_;
  sample.busy_total = Duration{static_cast<std::int64_t>(busy_ps_ / engine::kPicosecondsPerNanosecond)};
  sample.inter_token_total = Duration{static_cast<std::int64_t>(inter_token_ps_ / engine::kPicosecondsPerNanosecond)};
  sample.inter_token_count = inter_token_count_;
  return sample;
}

Instant Replica::step_end(Instant now) {
  settle(since_origin(now));
  if (mode_ != Mode::gliding) return next_event();
  return instant(clock_ps_ + model_->decode_step_ps(decoding_, decode_tokens_ + decoding_));
}

std::int32_t Replica::generated(std::uint32_t slot, Instant now) {
  CAPSTAN_ASSERT(event_ps_ > since_origin(now));
  settle(since_origin(now));
  return static_cast<std::int32_t>(tokens_of(known_row(slots_, slot)));
}

TokenAccount Replica::token_account(Instant now) {
  CAPSTAN_ASSERT(event_ps_ > since_origin(now));
  settle(since_origin(now));
  TokenAccount account = tokens_;
  account.generated = inter_token_count_ + prefilled_tokens_;
  for (const Slot& slot : slots_) {
    if (slot.state != State::free) account.held += tokens_of(slot);
  }
  return account;
}

// --- time ---

/// Sets the clock of an idle replica.
void Replica::start_clock(Instant at) {
  origin_ = at;
  clock_ps_ = 0;
  rebase_steps();
}

/// Moves the origin of the clock to the present. The clock of a replica that is never idle would otherwise exceed 64
/// bits, because it counts picoseconds.
void Replica::move_origin() {
  const std::int64_t passed_ns = clock_ps_ / engine::kPicosecondsPerNanosecond;
  const Picoseconds passed_ps = passed_ns * engine::kPicosecondsPerNanosecond;
  origin_ = origin_ + Duration{passed_ns};
  clock_ps_ -= passed_ps;
  if (event_ps_ != kNeverPs) event_ps_ -= passed_ps;
  if (partial_slot_ != kNone) partial_admitted_ps_ -= passed_ps;
  // Only the chunks of a step under way have a valid admission time.
  if (mode_ != Mode::stepping) chunks_.clear();
  for (Chunk& chunk : chunks_) chunk.admitted_ps -= passed_ps;
  rebase_steps();
}

/// Lowers the step counter and every step index that refers to it. Slots hold the low 32 bits of a step's index, which
/// a year of short steps would exhaust. The counter falls by a multiple of 16, so that `block_phase_` stays valid.
void Replica::rebase_steps() {
  const std::int64_t passed = steps_ / 16 * 16;
  if (passed == 0) return;
  earlier_steps_ += passed;
  steps_ -= passed;
  finishes_.clear();
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot].state != State::decoding) continue;
    slots_[slot].anchor_step -= static_cast<std::uint32_t>(passed);  // modulo 2^32, like all arithmetic on step indices
    push_finish(slot);
  }
}

/// Runs the steps that end at or before `to`, which counts from the origin of the clock. Returns false if the origin
/// moved before all of them had run.
bool Replica::run_until(Picoseconds to, Emissions& out) {
  while (event_ps_ <= to) {
    if (mode_ == Mode::gliding) {
      record_steps(glide_steps_, event_ps_ - clock_ps_);
      finish_decodes(out);
    } else {
      end_step(out);
    }
    plan(out);
    if (clock_ps_ < kOriginReachPs) continue;
    move_origin();
    return false;
  }
  return true;
}

/// Chooses what follows at a boundary between steps: idling, one step or a glide.
void Replica::plan(Emissions& out) {
  if (idle()) {
    mode_ = Mode::idle;
    event_ps_ = kNeverPs;
    return;
  }
  if (partial_slot_ != kNone || may_admit()) return begin_step(out);
  CAPSTAN_ASSERT(decoding_ > 0);
  glide_steps_ = steps_with_blocks(std::min(steps_until_finish(), kGlideStepsMax));
  if (glide_steps_ == 0) return begin_step(out);
  mode_ = Mode::gliding;
  event_ps_ = clock_ps_ + model_->decode_steps_ps(decoding_, decode_tokens_ + decoding_, glide_steps_);
}

/// Records the steps of the glide that end by `now`; the glide continues.
void Replica::settle(Picoseconds now) {
  if (mode_ != Mode::gliding) return;
  const std::int64_t kv_tokens = decode_tokens_ + decoding_;
  const std::int64_t steps = model_->decode_steps_within(decoding_, kv_tokens, now - clock_ps_);
  if (steps == 0) return;
  glide_steps_ -= steps;
  record_steps(steps, model_->decode_steps_ps(decoding_, kv_tokens, steps));
}

/// Ends a glide, which is a run of decode-only steps, after the step under way at `now`.
void Replica::break_glide(Picoseconds now) {
  settle(now);
  allocate_blocks(block_phase_[step_index() & 15]);
  mode_ = Mode::stepping;
  has_preempted_ = false;
  chunks_.clear();
  event_ps_ = clock_ps_ + model_->decode_step_ps(decoding_, decode_tokens_ + decoding_);
}

/// Records decode-only steps of the whole batch and allocates their blocks.
void Replica::record_steps(std::int64_t steps, Picoseconds took) {
  std::int64_t blocks = steps / 16 * decoding_;
  for (std::int64_t i = 0; i < steps % 16; ++i) blocks += block_phase_[(step_index() + i) & 15];
  allocate_blocks(blocks);
  clock_ps_ += took;
  busy_ps_ += took;
  inter_token_ps_ += static_cast<WidePicoseconds>(took) * decoding_;
  inter_token_count_ += steps * decoding_;
  decode_tokens_ += steps * decoding_;
  steps_ += steps;
}

// --- one step ---

void Replica::begin_step(Emissions& out) {
  mode_ = Mode::stepping;
  has_preempted_ = false;
  chunks_.clear();
  std::int64_t budget = config_.max_batched_tokens - decoding_;
  std::int32_t partial_tokens = 0;
  std::int64_t needed = block_phase_[step_index() & 15];
  if (partial_slot_ != kNone) {
    const Slot& s = slots_[partial_slot_];
    partial_tokens = static_cast<std::int32_t>(std::min<std::int64_t>(s.input + s.generated - s.computed, budget));
    needed += blocks_for(s.computed + partial_tokens) - blocks_for(s.computed);
  }
  allocate_or_preempt(needed, partial_tokens, out);
  if (partial_slot_ != kNone) {
    chunks_.push_back({partial_slot_, partial_tokens, partial_admitted_ps_});
    register_groups(partial_slot_, slots_[partial_slot_].computed + partial_tokens);
    budget -= partial_tokens;
  }
  if (!has_preempted_) admit(budget);

  std::int64_t tokens = 0;
  std::int64_t pairs = 0;
  for (const Chunk& chunk : chunks_) {
    tokens += chunk.tokens;
    pairs += engine::doubled_pairs({chunk.tokens, slots_[chunk.slot].computed});
  }
  CAPSTAN_ASSERT(decoding_ > 0 || tokens > 0);
  if (!chunks_.empty()) predict_event_of(chunks_.front().slot);
  event_ps_ = clock_ps_ + model_->step_ps(decoding_, decode_tokens_ + decoding_, tokens, pairs,
                                          static_cast<std::int64_t>(chunks_.size()));
}

/// Allocates the blocks that the running sequences need in this step. If there are too few, the sequences allocate in
/// the order of the batch, which may evict cached groups. As long as there are too few blocks for a sequence, the last
/// sequence of the batch is preempted.
void Replica::allocate_or_preempt(std::int64_t needed, std::int32_t partial_tokens, Emissions& out) {
  if (needed <= available_blocks()) return allocate_blocks(needed);
  list_batch(scratch_);
  for (std::size_t i = 0; i < scratch_.size(); ++i) {
    const std::int64_t own_blocks = blocks_of_step(slots_[scratch_[i]], partial_tokens);
    while (own_blocks > available_blocks()) {
      preempt(scratch_.back(), out);
      scratch_.pop_back();
      if (scratch_.size() == i) return;
    }
    allocate_blocks(own_blocks);
  }
}

std::int64_t Replica::blocks_of_step(const Slot& s, std::int32_t partial_tokens) const {
  if (s.state == State::decoding) return decode_length(s) % kKvBlockTokens == 0 ? 1 : 0;
  return blocks_for(s.computed + partial_tokens) - blocks_for(s.computed);
}

void Replica::preempt(std::uint32_t slot, Emissions& out) {
  Slot& s = slots_[slot];
  leave_batch(slot);
  if (s.state == State::decoding) s.generated += static_cast<std::int32_t>(step_index() - s.anchor_step);
  s.state = State::waiting;
  s.computed = 0;
  s.kv_present = false;
  queue_.push_front(slot);
  ++preemptions_;
  has_preempted_ = true;
  out.push_back({instant(clock_ps_), s.id, slot, EmissionKind::preempted, 0, {}});
}

void Replica::admit(std::int64_t budget) {
  while (budget > 0 && may_admit()) {
    if (!admit_first(budget)) head_blocked_ = true;
  }
}

bool Replica::admit_first(std::int64_t& budget) {
  const std::uint32_t slot = queue_.front();
  Slot& s = slots_[slot];
  const std::int64_t total = s.input + s.generated;
  if (s.kv_present) {
    const std::int64_t needed = blocks_for(total);
    if (needed > available_blocks()) return false;
    allocate_blocks(needed);
    --budget;
    if (s.has_prefix) prefixes_[slot].cached = 0;  // a prefill replica computed the prompt
  } else {
    // Only whole cached groups are used, and at least one token is left to compute.
    std::uint32_t hits = 0;
    std::int64_t revived = 0;
    const Prefix prefix = s.has_prefix ? prefixes_[slot] : Prefix{};
    const auto max_hits = static_cast<std::uint32_t>(
        std::min<std::int64_t>({prefix.count, s.input / kPrefixGroupTokens, (total - 1) / kPrefixGroupTokens}));
    for (; hits < max_hits; ++hits) {
      const std::uint32_t group = cache_.find(prefix.hashes[hits]);
      if (group == PrefixCache::kNone) break;
      revived += cache_.used(group) ? 0 : 1;
    }
    const std::int64_t cached = std::int64_t{hits} * kPrefixGroupTokens;
    const std::int64_t tokens = std::min(total - cached, budget);
    // The whole sequence must fit, but only the blocks of the chunk are allocated (vLLM's scheduler_reserve_full_isl,
    // the default since March 2026). Otherwise a long prompt is admitted and preempted again and again while another
    // request decodes.
    const std::int64_t shared = std::int64_t{hits} * kPrefixGroupBlocks;
    if (blocks_for(total) - shared > available_blocks() - revived * kPrefixGroupBlocks) return false;
    for (std::uint32_t i = 0; i < hits; ++i) cache_.use(cache_.find(prefix.hashes[i]));
    allocate_blocks(blocks_for(cached + tokens) - shared);
    s.computed = static_cast<std::int32_t>(cached);
    if (s.has_prefix) {
      prefixes_[slot].groups = hits;
      if (prefixes_[slot].cached < 0) prefixes_[slot].cached = s.computed;
    }
    if (config_.prefix_cache) {
      prefix_queried_tokens_ += total;
      prefix_hit_tokens_ += cached;
    }
    register_groups(slot, cached + tokens);
    chunks_.push_back({slot, static_cast<std::int32_t>(tokens), clock_ps_});
    budget -= tokens;
  }
  queue_.pop_front();
  ++running_;
  s.sequence = next_sequence_++;
  if (s.kv_present) {
    s.computed = s.input;
    start_decoding(slot);
  } else {
    s.state = State::prefilling;
    // If a prompt is computed only in part, it has used up the token budget of the step. No request is admitted after
    // it until the whole prompt is computed.
    if (s.computed + chunks_.back().tokens < total) {
      partial_slot_ = slot;
      partial_admitted_ps_ = clock_ps_;
    }
  }
  return true;
}

/// Marks the sequence as decoding from the current step on; `computed` and `generated` are the current lengths.
void Replica::start_decoding(std::uint32_t slot) {
  Slot& s = slots_[slot];
  s.state = State::decoding;
  s.anchor_step = step_index();
  ++block_phase_[(s.anchor_step - static_cast<std::uint32_t>(s.computed)) & 15];
  ++decoding_;
  decode_tokens_ += s.computed;
  push_finish(slot);
}

void Replica::end_step(Emissions& out) {
  const Picoseconds took = event_ps_ - clock_ps_;
  clock_ps_ = event_ps_;
  busy_ps_ += took;
  inter_token_ps_ += static_cast<WidePicoseconds>(took) * decoding_;
  inter_token_count_ += decoding_;
  decode_tokens_ += decoding_;
  ++steps_;
  finish_decodes(out);
  partial_slot_ = kNone;
  for (const Chunk& chunk : chunks_) end_chunk(chunk, out);
}

void Replica::end_chunk(const Chunk& chunk, Emissions& out) {
  Slot& s = slots_[chunk.slot];
  s.computed += chunk.tokens;
  if (s.cancelled) {
    tokens_.discarded += s.generated;
    leave_batch(chunk.slot);
    free_slot(chunk.slot);
    return;
  }
  if (s.computed < s.input + s.generated) {
    partial_slot_ = chunk.slot;
    return;
  }
  const bool first = s.generated == 0;
  if (first) prompt_tokens_ += s.input;
  ++s.generated;
  ++prefilled_tokens_;
  const bool last = s.generated == s.output;
  const Duration computed =
      first ? Duration{(clock_ps_ - chunk.admitted_ps) / engine::kPicosecondsPerNanosecond} : Duration{};
  if (last || (first && config_.role == EngineRole::prefill)) {
    emit(out, chunk.slot, last ? EmissionKind::finished : EmissionKind::handed_over, computed);
    tokens_.delivered += s.generated;
    leave_batch(chunk.slot);
    free_slot(chunk.slot);
    return;
  }
  if (first) emit(out, chunk.slot, EmissionKind::first_token, computed);
  start_decoding(chunk.slot);
}

void Replica::emit(Emissions& out, std::uint32_t slot, EmissionKind kind, Duration computed) const {
  const Slot& s = slots_[slot];
  const std::int32_t cached = s.has_prefix ? std::max(prefixes_[slot].cached, 0) : 0;
  out.push_back({instant(clock_ps_), s.id, slot, kind, cached, computed});
}

/// Removes from the heap the next decoding sequence that ends with the step just completed, and returns it; kNone if
/// there is none left.
std::uint32_t Replica::pop_finished_slot() {
  while (!finishes_.empty() && finishes_.front() >> 32 <= static_cast<std::uint64_t>(steps_)) {
    const std::uint64_t key = finishes_.front();
    std::pop_heap(finishes_.begin(), finishes_.end(), std::greater<>{});
    finishes_.pop_back();
    const auto slot = static_cast<std::uint32_t>(key);
    const bool duplicate = !finishes_.empty() && finishes_.front() == key;
    if (!duplicate && slots_[slot].state == State::decoding && slots_[slot].finish_step() == key >> 32) return slot;
  }
  return kNone;
}

/// Finishes the decoding sequences whose last token came with the step just completed, in the order of the batch.
void Replica::finish_decodes(Emissions& out) {
  const std::uint32_t first = pop_finished_slot();
  if (first == kNone) return;
  std::uint32_t next = pop_finished_slot();
  if (next == kNone) return finish(first, out);
  scratch_ = {first};
  for (; next != kNone; next = pop_finished_slot()) scratch_.push_back(next);
  sort_as_batch(scratch_);
  for (const std::uint32_t slot : scratch_) finish(slot, out);
}

/// Lists the batch in its order. The list is built only when memory has run out or the replica ends; keeping the batch
/// sorted would cost time for every request.
void Replica::list_batch(std::vector<std::uint32_t>& slots) const {
  slots.clear();
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (in_batch(slots_[slot])) slots.push_back(slot);
  }
  sort_as_batch(slots);
}

void Replica::sort_as_batch(std::vector<std::uint32_t>& slots) const {
  std::ranges::sort(slots, {}, [&](std::uint32_t slot) { return slots_[slot].sequence; });
}

void Replica::finish(std::uint32_t slot, Emissions& out) {
  const Slot& s = slots_[slot];
  (s.cancelled ? tokens_.discarded : tokens_.delivered) += tokens_of(s);
  if (!s.cancelled) emit(out, slot, EmissionKind::finished);
  leave_batch(slot);
  free_slot(slot);
}

// --- how many steps leave the batch unchanged ---

std::int64_t Replica::steps_until_finish() {
  for (;;) {
    CAPSTAN_ASSERT(!finishes_.empty());
    const std::uint64_t key = finishes_.front();
    const Slot& s = slots_[static_cast<std::uint32_t>(key)];
    if (s.state == State::decoding && s.finish_step() == key >> 32) {
      predict_event_of(static_cast<std::uint32_t>(key));
      return static_cast<std::int64_t>(key >> 32) - steps_;
    }
    std::pop_heap(finishes_.begin(), finishes_.end(), std::greater<>{});
    finishes_.pop_back();
  }
}

/// Returns the largest number of steps, up to `limit`, for which there are blocks. While the first waiting request is
/// blocked, it counts only steps that evict nothing, because an eviction changes how many blocks that request needs.
std::int64_t Replica::steps_with_blocks(std::int64_t limit) const {
  const std::int64_t available = head_blocked_ ? free_blocks_ : available_blocks();
  if ((limit / 16 + 1) * decoding_ <= available) return limit;
  std::int64_t steps = available / decoding_ * 16;
  std::int64_t remaining = available % decoding_;
  while (steps < limit) {
    remaining -= block_phase_[(step_index() + steps) & 15];
    if (remaining < 0) break;
    ++steps;
  }
  return std::min(steps, limit);
}

void Replica::push_finish(std::uint32_t slot) {
  CAPSTAN_ASSERT(slots_[slot].finish_step() > step_index());
  finishes_.push_back(std::uint64_t{slots_[slot].finish_step()} << 32 | slot);
  std::push_heap(finishes_.begin(), finishes_.end(), std::greater<>{});
}

Duration kv_transfer_time(std::int64_t tokens, std::int64_t kv_bytes_per_token, std::int64_t link_bytes_per_s,
                          Duration setup) {
  CAPSTAN_ASSERT(tokens >= 0 && kv_bytes_per_token >= 0 && link_bytes_per_s > 0);
  const auto bytes = static_cast<__int128>(tokens) * kv_bytes_per_token;
  return setup + Duration{static_cast<std::int64_t>((bytes * 1'000'000'000 + link_bytes_per_s - 1) / link_bytes_per_s)};
}

}  // namespace capstan::sim
