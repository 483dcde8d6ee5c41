#include "sim/serving/replica.h"

#include <algorithm>
#include <functional>

#include "base/assert.h"
#include "base/quantity.h"

namespace capstan::sim {

using engine::instant_not_before;
using engine::kKvBlockTokens;
using engine::Picoseconds;
using engine::picoseconds;

namespace {

constexpr std::int64_t blocks_for(std::int64_t tokens) { return ceil_div(tokens, kKvBlockTokens); }

}  // namespace

Replica::Replica(const ReplicaConfig& config, const engine::StepModel& model, Instant started)
    : config_(config),
      model_(&model),
      clock_ps_(picoseconds(started)),
      free_blocks_(config.kv_blocks),
      cache_(config.kv_blocks / kPrefixGroupBlocks) {
  CAPSTAN_ASSERT(config.max_seqs >= 1 && config.max_batched_tokens >= config.max_seqs && config.kv_blocks >= 1);
  CAPSTAN_ASSERT(config.max_waiting >= 1);
}

// --- lists ---

void Replica::push_back(List& list, std::uint32_t slot) {
  slots_[slot].previous = list.last;
  slots_[slot].next = kNone;
  (list.last == kNone ? list.first : slots_[list.last].next) = slot;
  list.last = slot;
}

void Replica::push_front(List& list, std::uint32_t slot) {
  slots_[slot].previous = kNone;
  slots_[slot].next = list.first;
  (list.first == kNone ? list.last : slots_[list.first].previous) = slot;
  list.first = slot;
}

void Replica::remove(List& list, std::uint32_t slot) {
  const Slot& s = slots_[slot];
  (s.previous == kNone ? list.first : slots_[s.previous].next) = s.next;
  (s.next == kNone ? list.last : slots_[s.next].previous) = s.previous;
}

// --- callers' side ---

OfferOutcome Replica::offer(const EngineRequest& request, Instant now) {
  CAPSTAN_ASSERT(request.input_tokens >= 1 && request.output_tokens >= 1);
  CAPSTAN_ASSERT(!request.kv_present || request.output_tokens >= 2);
  const Picoseconds now_ps = picoseconds(now);
  CAPSTAN_ASSERT(event_ps_ > now_ps);
  if (!accepting_) return {OfferResult::draining};
  if (waiting_ >= config_.max_waiting) return {OfferResult::queue_full};
  if (blocks_for(std::int64_t{request.input_tokens} + request.output_tokens) > config_.kv_blocks) {
    return {OfferResult::too_long};
  }
  // A step of the glide is under way; the request joins the one after it, if it can join at all.
  if (mode_ == Mode::gliding && waiting_ == 0 && running_ < config_.max_seqs) break_glide(now_ps);

  std::uint32_t slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  Slot& s = slots_[slot];
  s = {.id = request.id, .input = request.input_tokens, .output = request.output_tokens};
  s.generated = request.kv_present ? 1 : 0;
  s.kv_present = request.kv_present;
  s.hashes = request.prefix_hashes.data();
  s.hash_count = static_cast<std::uint32_t>(request.prefix_hashes.size());
  s.state = State::waiting;
  tokens_.received += s.generated;
  push_back(queue_, slot);
  ++waiting_;
  if (mode_ == Mode::idle) {
    clock_ps_ = std::max(clock_ps_, now_ps);
    Emissions none;
    begin_step(none);  // nothing runs, so nothing can be preempted
  }
  return {OfferResult::accepted, slot};
}

bool Replica::cancel(std::uint32_t slot, std::uint32_t id, Instant now) {
  const Picoseconds now_ps = picoseconds(now);
  CAPSTAN_ASSERT(event_ps_ > now_ps);
  if (slot >= slots_.size() || slots_[slot].id != id || slots_[slot].cancelled) return false;
  Slot& s = slots_[slot];
  switch (s.state) {
    case State::free:
      return false;
    case State::waiting: {
      const bool first = queue_.first == slot;
      remove(queue_, slot);
      --waiting_;
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
      s.finish_step = step_index() + 1;
      push_finish(slot);
      return true;
  }
  return false;
}

void Replica::kill(std::vector<HeldRequest>& held, Instant now) {
  CAPSTAN_ASSERT(event_ps_ > picoseconds(now));
  settle(picoseconds(now));
  for (std::uint32_t slot = batch_.first; slot != kNone; slot = slots_[slot].next) {
    const Slot& s = slots_[slot];
    const std::int64_t tokens = tokens_of(s);
    (s.cancelled ? tokens_.discarded : tokens_.cut) += tokens;
    if (!s.cancelled) held.push_back({s.id, static_cast<std::int32_t>(tokens)});
  }
  for (std::uint32_t slot = queue_.first; slot != kNone; slot = slots_[slot].next) {
    held.push_back({slots_[slot].id, slots_[slot].generated});
    tokens_.cut += slots_[slot].generated;
  }
  accepting_ = false;
  mode_ = Mode::idle;
  event_ps_ = kNeverPs;
  batch_ = queue_ = {};
  running_ = waiting_ = decoding_ = decode_tokens_ = 0;
  partial_ = kNone;
  free_blocks_ = config_.kv_blocks;
  cache_ = PrefixCache(config_.kv_blocks / kPrefixGroupBlocks);
  block_phase_ = {};
  slots_.clear();
  free_slots_.clear();
  finishes_.clear();
  chunks_.clear();
}

ReplicaSample Replica::sample(Instant now) {
  CAPSTAN_ASSERT(event_ps_ > picoseconds(now));
  settle(picoseconds(now));
  ReplicaSample sample;
  sample.waiting = waiting_;
  sample.running = running_;
  sample.kv_blocks = config_.kv_blocks;
  // The blocks of the step under way belong to it already.
  const std::int64_t under_way = mode_ == Mode::gliding ? block_phase_[step_index() & 15] : 0;
  sample.kv_blocks_used = config_.kv_blocks - available_blocks() + under_way;
  sample.prompt_tokens_total = prompt_tokens_;
  sample.generation_tokens_total = generation_tokens_;
  sample.preemptions_total = preemptions_;
  sample.prefix_queried_tokens_total = prefix_queried_tokens_;
  sample.prefix_hit_tokens_total = prefix_hit_tokens_;
  sample.steps_total = steps_;
  sample.busy_total = Duration{busy_ps_ / engine::kPicosecondsPerNanosecond};
  sample.inter_token_total = Duration{static_cast<std::int64_t>(inter_token_ps_ / engine::kPicosecondsPerNanosecond)};
  sample.inter_token_count = inter_token_count_;
  return sample;
}

Instant Replica::step_end(Instant now) {
  settle(picoseconds(now));
  if (mode_ != Mode::gliding) return next_event();
  return instant_not_before(clock_ps_ + model_->decode_step_ps(decoding_, decode_tokens_ + decoding_));
}

std::int32_t Replica::generated(std::uint32_t slot, Instant now) {
  CAPSTAN_ASSERT(event_ps_ > picoseconds(now));
  settle(picoseconds(now));
  return static_cast<std::int32_t>(tokens_of(slots_.at(slot)));
}

TokenAccount Replica::token_account(Instant now) {
  CAPSTAN_ASSERT(event_ps_ > picoseconds(now));
  settle(picoseconds(now));
  TokenAccount account = tokens_;
  account.generated = generation_tokens_;
  for (const List& list : {batch_, queue_}) {
    for (std::uint32_t slot = list.first; slot != kNone; slot = slots_[slot].next) {
      account.held += tokens_of(slots_[slot]);
    }
  }
  return account;
}

// --- time ---

void Replica::run_until(Picoseconds to, Emissions& out) {
  while (event_ps_ <= to) {
    if (mode_ == Mode::gliding) {
      pass_steps(glide_steps_, event_ps_ - clock_ps_);
      finish_decodes(out);
    } else {
      end_step(out);
    }
    plan(out);
  }
}

/// At a boundary between steps: what comes next.
void Replica::plan(Emissions& out) {
  if (idle()) {
    mode_ = Mode::idle;
    event_ps_ = kNeverPs;
    return;
  }
  if (partial_ != kNone || may_admit()) return begin_step(out);
  CAPSTAN_ASSERT(decoding_ > 0);
  glide_steps_ = steps_with_blocks(steps_until_finish());
  if (glide_steps_ == 0) return begin_step(out);
  mode_ = Mode::gliding;
  event_ps_ = clock_ps_ + model_->decode_steps_ps(decoding_, decode_tokens_ + decoding_, glide_steps_);
}

/// Completed steps of the glide that end by `now` are booked; it goes on.
void Replica::settle(Picoseconds now) {
  if (mode_ != Mode::gliding) return;
  const std::int64_t kv_tokens = decode_tokens_ + decoding_;
  const std::int64_t steps = model_->decode_steps_within(decoding_, kv_tokens, now - clock_ps_);
  if (steps == 0) return;
  glide_steps_ -= steps;
  pass_steps(steps, model_->decode_steps_ps(decoding_, kv_tokens, steps));
}

/// Ends the glide with the step under way at `now`.
void Replica::break_glide(Picoseconds now) {
  settle(now);
  take_blocks(block_phase_[step_index() & 15]);
  mode_ = Mode::stepping;
  preempted_in_step_ = false;
  chunks_.clear();
  event_ps_ = clock_ps_ + model_->decode_step_ps(decoding_, decode_tokens_ + decoding_);
}

/// Books decode-only steps of the whole batch, their blocks included.
void Replica::pass_steps(std::int64_t steps, Picoseconds took) {
  std::int64_t blocks = steps / 16 * decoding_;
  for (std::int64_t i = 0; i < steps % 16; ++i) blocks += block_phase_[(step_index() + i) & 15];
  take_blocks(blocks);
  clock_ps_ += took;
  busy_ps_ += took;
  inter_token_ps_ += static_cast<__int128>(took) * decoding_;
  inter_token_count_ += steps * decoding_;
  generation_tokens_ += steps * decoding_;
  decode_tokens_ += steps * decoding_;
  steps_ += steps;
}

// --- one step ---

void Replica::begin_step(Emissions& out) {
  mode_ = Mode::stepping;
  preempted_in_step_ = false;
  chunks_.clear();
  std::int64_t budget = config_.max_batched_tokens - decoding_;
  std::int32_t partial_tokens = 0;
  std::int64_t need = block_phase_[step_index() & 15];
  if (partial_ != kNone) {
    const Slot& s = slots_[partial_];
    partial_tokens = static_cast<std::int32_t>(std::min<std::int64_t>(s.input + s.generated - s.computed, budget));
    need += blocks_for(s.computed + partial_tokens) - blocks_for(s.computed);
  }
  make_room(need, partial_tokens, out);
  if (partial_ != kNone) {
    chunks_.push_back({partial_, partial_tokens});
    register_groups(slots_[partial_], slots_[partial_].computed + partial_tokens);
    budget -= partial_tokens;
  }
  if (!preempted_in_step_) admit(budget);

  std::int64_t tokens = 0;
  std::int64_t pairs = 0;
  for (const Chunk& chunk : chunks_) {
    tokens += chunk.tokens;
    pairs += engine::doubled_pairs({chunk.tokens, slots_[chunk.slot].computed});
  }
  CAPSTAN_ASSERT(decoding_ > 0 || tokens > 0);
  event_ps_ = clock_ps_ + model_->step_ps(decoding_, decode_tokens_ + decoding_, tokens, pairs,
                                          static_cast<std::int64_t>(chunks_.size()));
}

/// Takes the blocks that the running sequences need in this step; while there are too few, preempts the last. That is
/// what serving them in order and preempting from the tail at each failure comes to: both stop at the first state in
/// which all that is left fits.
void Replica::make_room(std::int64_t need, std::int32_t partial_tokens, Emissions& out) {
  while (need > available_blocks()) {
    const std::uint32_t last = batch_.last;
    const Slot& s = slots_[last];
    if (s.state == State::prefilling) {
      need -= blocks_for(s.computed + partial_tokens) - blocks_for(s.computed);
    } else {
      need -= decode_length(s) % kKvBlockTokens == 0 ? 1 : 0;
    }
    preempt_last(out);
  }
  take_blocks(need);
}

void Replica::preempt_last(Emissions& out) {
  const std::uint32_t slot = batch_.last;
  Slot& s = slots_[slot];
  leave_batch(slot);
  if (s.state == State::decoding) s.generated += static_cast<std::int32_t>(step_index() - s.anchor_step);
  s.state = State::waiting;
  s.computed = 0;
  s.kv_present = false;
  push_front(queue_, slot);
  ++waiting_;
  ++preemptions_;
  preempted_in_step_ = true;
  out.push_back({instant_not_before(clock_ps_), s.id, slot, EmissionKind::preempted, 0});
}

void Replica::admit(std::int64_t budget) {
  while (budget > 0 && may_admit()) {
    if (!admit_first(budget)) head_blocked_ = true;
  }
}

bool Replica::admit_first(std::int64_t& budget) {
  const std::uint32_t slot = queue_.first;
  Slot& s = slots_[slot];
  const std::int64_t total = s.input + s.generated;
  if (s.kv_present) {
    const std::int64_t need = blocks_for(total);
    if (need > available_blocks()) return false;
    take_blocks(need);
    --budget;
    s.cached = 0;  // its prompt was computed elsewhere
  } else {
    // Whole groups of the prompt that are cached, leaving at least one token to compute.
    std::uint32_t hits = 0;
    std::int64_t revived = 0;
    if (config_.prefix_cache) {
      const auto most = static_cast<std::uint32_t>(
          std::min<std::int64_t>({s.hash_count, s.input / kPrefixGroupTokens, (total - 1) / kPrefixGroupTokens}));
      for (; hits < most; ++hits) {
        const std::uint32_t group = cache_.find(s.hashes[hits]);
        if (group == PrefixCache::kNone) break;
        revived += cache_.used(group) ? 0 : 1;
      }
    }
    const std::int64_t cached = std::int64_t{hits} * kPrefixGroupTokens;
    const std::int64_t tokens = std::min(total - cached, budget);
    const std::int64_t need = blocks_for(cached + tokens) - std::int64_t{hits} * kPrefixGroupBlocks;
    if (need > available_blocks() - revived * kPrefixGroupBlocks) return false;
    for (std::uint32_t i = 0; i < hits; ++i) cache_.use(cache_.find(s.hashes[i]));
    take_blocks(need);
    s.groups = hits;
    s.computed = static_cast<std::int32_t>(cached);
    if (s.cached < 0) s.cached = s.computed;
    if (config_.prefix_cache) {
      prefix_queried_tokens_ += total;
      prefix_hit_tokens_ += cached;
    }
    register_groups(s, cached + tokens);
    chunks_.push_back({slot, static_cast<std::int32_t>(tokens)});
    budget -= tokens;
  }
  remove(queue_, slot);
  --waiting_;
  push_back(batch_, slot);
  ++running_;
  s.sequence = next_sequence_++;
  if (s.kv_present) {
    s.computed = s.input;
    start_decoding(slot);
  } else {
    s.state = State::prefilling;
    // It has the rest of the budget if that was too little, so nothing comes behind it until it is done.
    if (s.computed + chunks_.back().tokens < total) partial_ = slot;
  }
  return true;
}

/// From the step with the present index on, the sequence decodes; `computed` and `generated` are as of now.
void Replica::start_decoding(std::uint32_t slot) {
  Slot& s = slots_[slot];
  s.state = State::decoding;
  s.anchor_step = step_index();
  s.finish_step = s.anchor_step + static_cast<std::uint32_t>(s.output - s.generated);
  ++block_phase_[(s.anchor_step - static_cast<std::uint32_t>(s.computed)) & 15];
  ++decoding_;
  decode_tokens_ += s.computed;
  push_finish(slot);
}

void Replica::end_step(Emissions& out) {
  const Picoseconds took = event_ps_ - clock_ps_;
  clock_ps_ = event_ps_;
  busy_ps_ += took;
  inter_token_ps_ += static_cast<__int128>(took) * decoding_;
  inter_token_count_ += decoding_;
  generation_tokens_ += decoding_;
  decode_tokens_ += decoding_;
  ++steps_;
  finish_decodes(out);
  partial_ = kNone;
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
    partial_ = chunk.slot;
    return;
  }
  const bool first = s.generated == 0;
  if (first) prompt_tokens_ += s.input;
  ++s.generated;
  ++generation_tokens_;
  const bool last = s.generated == s.output;
  if (last || (first && config_.role == EngineRole::prefill)) {
    emit(out, chunk.slot, last ? EmissionKind::finished : EmissionKind::handed_over);
    tokens_.delivered += s.generated;
    leave_batch(chunk.slot);
    free_slot(chunk.slot);
    return;
  }
  if (first) emit(out, chunk.slot, EmissionKind::first_token);
  start_decoding(chunk.slot);
}

void Replica::emit(Emissions& out, std::uint32_t slot, EmissionKind kind) const {
  const Slot& s = slots_[slot];
  out.push_back({instant_not_before(clock_ps_), s.id, slot, kind, std::max(s.cached, 0)});
}

/// Lets go the decoding sequences whose last token came with the step just completed, in the order of the batch.
void Replica::finish_decodes(Emissions& out) {
  finishing_.clear();
  std::uint64_t previous = ~std::uint64_t{0};
  while (!finishes_.empty() && finishes_.front() >> 32 <= static_cast<std::uint64_t>(steps_)) {
    const std::uint64_t key = finishes_.front();
    std::pop_heap(finishes_.begin(), finishes_.end(), std::greater<>{});
    finishes_.pop_back();
    const auto slot = static_cast<std::uint32_t>(key);
    if (key == previous || slot >= slots_.size()) continue;
    previous = key;
    if (slots_[slot].state == State::decoding && slots_[slot].finish_step == key >> 32) finishing_.push_back(slot);
  }
  if (finishing_.size() > 1) {
    std::sort(finishing_.begin(), finishing_.end(),
              [&](std::uint32_t a, std::uint32_t b) { return slots_[a].sequence < slots_[b].sequence; });
  }
  for (const std::uint32_t slot : finishing_) {
    const Slot& s = slots_[slot];
    (s.cancelled ? tokens_.discarded : tokens_.delivered) += tokens_of(s);
    if (!s.cancelled) emit(out, slot, EmissionKind::finished);
    leave_batch(slot);
    free_slot(slot);
  }
}

// --- how far the batch stays as it is ---

std::int64_t Replica::steps_until_finish() {
  for (;;) {
    CAPSTAN_ASSERT(!finishes_.empty());
    const std::uint64_t key = finishes_.front();
    const Slot& s = slots_[static_cast<std::uint32_t>(key)];
    if (s.state == State::decoding && s.finish_step == key >> 32) return static_cast<std::int64_t>(key >> 32) - steps_;
    std::pop_heap(finishes_.begin(), finishes_.end(), std::greater<>{});
    finishes_.pop_back();
  }
}

/// The most steps, up to `limit`, for which there are blocks. A request that waits for blocks may need fewer once a
/// cached group that it would have used is evicted, so then only steps that evict nothing count.
std::int64_t Replica::steps_with_blocks(std::int64_t limit) const {
  const std::int64_t available = head_blocked_ ? free_blocks_ : available_blocks();
  if ((limit / 16 + 1) * decoding_ <= available) return limit;
  std::int64_t steps = available / decoding_ * 16;
  std::int64_t left = available % decoding_;
  while (steps < limit) {
    left -= block_phase_[(step_index() + steps) & 15];
    if (left < 0) break;
    ++steps;
  }
  return std::min(steps, limit);
}

void Replica::push_finish(std::uint32_t slot) {
  CAPSTAN_ASSERT(slots_[slot].finish_step > step_index());
  finishes_.push_back(std::uint64_t{slots_[slot].finish_step} << 32 | slot);
  std::push_heap(finishes_.begin(), finishes_.end(), std::greater<>{});
}

// --- memory ---

std::int64_t Replica::held_blocks(const Slot& slot, std::int64_t computed) const {
  return blocks_for(computed) - std::int64_t{slot.groups} * kPrefixGroupBlocks;
}

void Replica::take_blocks(std::int64_t blocks) {
  while (free_blocks_ < blocks) {
    cache_.evict_oldest();
    head_blocked_ = false;
    free_blocks_ += kPrefixGroupBlocks;
  }
  free_blocks_ -= blocks;
}

/// Whole groups of the prompt become shareable as soon as a step computes them. A group that another request registered
/// meanwhile stays a private copy, and so do those behind it.
void Replica::register_groups(Slot& slot, std::int64_t computed) {
  if (!config_.prefix_cache) return;
  const std::int64_t whole = std::min<std::int64_t>(computed, slot.input) / kPrefixGroupTokens;
  while (slot.groups < std::min<std::int64_t>(slot.hash_count, whole)) {
    if (cache_.find(slot.hashes[slot.groups]) != PrefixCache::kNone) return;
    cache_.insert(slot.hashes[slot.groups]);
    ++slot.groups;
  }
}

/// Out of the batch, its blocks given back: groups to the cache, the end of the prefix first, so that it goes first.
void Replica::leave_batch(std::uint32_t slot) {
  Slot& s = slots_[slot];
  remove(batch_, slot);
  --running_;
  if (slot == partial_) partial_ = kNone;
  std::int64_t computed = s.computed;
  if (s.state == State::decoding) {
    computed = decode_length(s);
    --decoding_;
    decode_tokens_ -= computed;
    --block_phase_[(s.anchor_step - static_cast<std::uint32_t>(s.computed)) & 15];
  }
  free_blocks_ += held_blocks(s, computed);
  while (s.groups > 0) cache_.release(cache_.find(s.hashes[--s.groups]));
  head_blocked_ = false;
}

void Replica::free_slot(std::uint32_t slot) {
  slots_[slot].state = State::free;
  free_slots_.push_back(slot);
}

Duration kv_transfer_time(std::int64_t tokens, std::int64_t kv_bytes_per_token, std::int64_t link_bytes_per_s,
                          Duration setup) {
  CAPSTAN_ASSERT(tokens >= 0 && kv_bytes_per_token >= 0 && link_bytes_per_s > 0);
  const auto bytes = static_cast<__int128>(tokens) * kv_bytes_per_token;
  return setup + Duration{static_cast<std::int64_t>((bytes * 1'000'000'000 + link_bytes_per_s - 1) / link_bytes_per_s)};
}

}  // namespace capstan::sim
