#include "sim/serving/stepwise_replica.h"

#include <algorithm>

#include "base/assert.h"
#include "base/known_row.h"
#include "base/quantity.h"

namespace capstan::sim {

using engine::instant_not_before;
using engine::picoseconds;

StepwiseReplica::StepwiseReplica(const ReplicaConfig& config, const engine::StepModel& model)
    : config_(config), model_(&model) {}

OfferResult StepwiseReplica::offer(const EngineRequest& request, Instant now) {
  if (!accepting_) return OfferResult::draining;
  if (static_cast<std::int64_t>(waiting_.size()) >= config_.max_waiting) return OfferResult::queue_full;
  if (ceil_div(std::int64_t{request.input_tokens} + request.output_tokens, 16) > config_.kv_blocks) {
    return OfferResult::too_long;
  }
  Request r;
  r.request = request;
  r.generated = request.kv_present ? 1 : 0;
  waiting_.push_back(r);
  if (!in_step_) {
    start_ps_ = std::max(end_ps_, picoseconds(now));
    Emissions none;
    schedule(none);
    CAPSTAN_ASSERT(none.empty());
  }
  return OfferResult::accepted;
}

void StepwiseReplica::advance(Instant to, Emissions& out) {
  while (in_step_ && end_ps_ <= picoseconds(to)) {
    complete_step(out);
    start_ps_ = end_ps_;
    in_step_ = false;
    if (!idle()) schedule(out);
  }
}

bool StepwiseReplica::cancel(std::uint32_t id, Instant) {
  for (Request& r : running_) {
    if (r.request.id == id) return r.cancelled ? false : (r.cancelled = true);
  }
  const auto found =
      std::find_if(waiting_.begin(), waiting_.end(), [&](const Request& r) { return r.request.id == id; });
  if (found == waiting_.end()) return false;
  waiting_.erase(found);
  return true;
}

void StepwiseReplica::kill(std::vector<HeldRequest>& held) {
  for (const Request& r : running_) {
    if (!r.cancelled) held.push_back({r.request.id, static_cast<std::int32_t>(r.generated)});
  }
  for (const Request& r : waiting_) held.push_back({r.request.id, static_cast<std::int32_t>(r.generated)});
  running_.clear();
  waiting_.clear();
  accepting_ = in_step_ = false;
}

// --- memory ---

std::int64_t StepwiseReplica::private_blocks(const Request& r) const {
  return ceil_div(r.computed + r.scheduled, 16) - 32 * r.groups;
}

/// Returns the blocks that are not free: private blocks and all cached groups.
std::int64_t StepwiseReplica::used_blocks() const {
  std::int64_t used = 32 * static_cast<std::int64_t>(cache_.size());
  for (const Request& r : running_) used += private_blocks(r);
  return used;
}

void StepwiseReplica::make_free(std::int64_t blocks) {
  while (config_.kv_blocks - used_blocks() < blocks) {
    cache_.erase(unused_.front());
    unused_.pop_front();
  }
}

/// Returns true if `tokens` more of a running request fit; evicts unused cached groups to make room for them.
bool StepwiseReplica::allocate(const Request& r, std::int64_t tokens) {
  const std::int64_t more = ceil_div(r.computed + tokens, 16) - ceil_div(r.computed, 16);
  if (more > config_.kv_blocks - used_blocks() + 32 * static_cast<std::int64_t>(unused_.size())) return false;
  make_free(more);
  return true;
}

void StepwiseReplica::share_groups(Request& r) {
  if (!config_.prefix_cache) return;
  const auto hashes = r.request.prefix_hashes;
  while (r.groups < static_cast<std::int64_t>(hashes.size()) && 512 * (r.groups + 1) <= r.request.input_tokens &&
         512 * (r.groups + 1) <= r.computed + r.scheduled) {
    const std::uint64_t hash = hashes[static_cast<std::size_t>(r.groups)];
    if (cache_.contains(hash)) return;
    cache_[hash].users = 1;
    ++r.groups;
  }
}

void StepwiseReplica::release_kv(Request& r) {
  while (r.groups > 0) {
    const std::uint64_t hash = r.request.prefix_hashes[static_cast<std::size_t>(--r.groups)];
    if (--known_row(cache_, hash).users == 0) unused_.push_back(hash);
  }
  r.computed = 0;
  r.decoding = false;
}

// --- one step ---

void StepwiseReplica::schedule(Emissions& out) {
  std::int64_t budget = config_.max_batched_tokens;
  bool preempted = false;
  for (std::size_t i = 0; i < running_.size(); ++i) {
    const std::int64_t tokens = std::min(total(running_[i]) - running_[i].computed, budget);
    bool fits = false;
    while (!(fits = allocate(running_[i], tokens))) {
      Request last = running_.back();
      running_.pop_back();
      release_kv(last);
      last.request.kv_present = false;
      preempted = true;
      ++preemptions_;
      out.push_back({instant_not_before(start_ps_), last.request.id, 0, EmissionKind::preempted, 0, {}});
      waiting_.push_front(last);
      if (running_.size() == i) break;
    }
    if (!fits) break;
    running_[i].scheduled = tokens;
    budget -= tokens;
    if (!running_[i].decoding) share_groups(running_[i]);
  }
  while (!preempted && budget > 0 && !waiting_.empty() &&
         static_cast<std::int64_t>(running_.size()) < config_.max_seqs) {
    if (!admit_first(budget)) break;
  }

  std::int64_t decoding = 0;
  std::int64_t kv_tokens = 0;
  std::vector<engine::PrefillChunk> chunks;
  for (const Request& r : running_) {
    if (r.decoding) {
      ++decoding;
      kv_tokens += r.computed + 1;
    } else {
      chunks.push_back({r.scheduled, r.computed});
    }
  }
  end_ps_ = start_ps_ + model_->step_ps(decoding, kv_tokens, chunks);
  in_step_ = true;
}

bool StepwiseReplica::admit_first(std::int64_t& budget) {
  Request r = waiting_.front();
  std::int64_t revived = 0;
  if (r.request.kv_present) {
    r.computed = r.request.input_tokens;
    r.decoding = true;
  } else if (config_.prefix_cache) {
    for (const std::uint64_t hash : r.request.prefix_hashes) {
      const std::int64_t end = 512 * (r.groups + 1);
      if (end > r.request.input_tokens || end >= total(r) || !cache_.contains(hash)) break;
      revived += known_row(cache_, hash).users == 0 ? 1 : 0;
      ++r.groups;
    }
    r.computed = 512 * r.groups;
  }
  r.scheduled = std::min(total(r) - r.computed, budget);
  const std::int64_t unused = static_cast<std::int64_t>(unused_.size()) - revived;
  const std::int64_t whole_blocks = ceil_div(total(r), 16) - 32 * r.groups;
  if (whole_blocks > config_.kv_blocks - used_blocks() + 32 * unused) return false;
  for (std::int64_t g = 0; g < r.groups; ++g) {
    const std::uint64_t hash = r.request.prefix_hashes[static_cast<std::size_t>(g)];
    if (known_row(cache_, hash).users++ == 0) unused_.remove(hash);
  }
  make_free(private_blocks(r));
  if (config_.prefix_cache && !r.decoding) {
    queried_ += total(r);
    hit_ += r.computed;
  }
  if (!r.cached) r.cached = r.decoding ? 0 : r.computed;
  waiting_.pop_front();
  r.admitted_ps = start_ps_;
  if (!r.decoding) share_groups(r);
  budget -= r.scheduled;
  running_.push_back(r);
  return true;
}

void StepwiseReplica::complete_step(Emissions& out) {
  const Instant at = instant_not_before(end_ps_);
  const engine::WidePicoseconds took = end_ps_ - start_ps_;
  ++steps_;
  busy_ps_ += took;
  std::vector<Request> remaining;
  // Decoding sequences come before prompts.
  for (const bool decoding : {true, false}) {
    for (Request& r : running_) {
      if (r.decoding != decoding) continue;
      r.computed += r.scheduled;
      r.scheduled = 0;
      const bool first = r.generated == 0;
      const bool token = r.computed == total(r) && (decoding || !r.cancelled);
      r.has_new_token = token;
      if (token) {
        ++r.generated;
        ++generation_tokens_;
      }
      if (decoding) {
        ++inter_token_count_;
        inter_token_ps_ += took;
      }
      if (r.cancelled) continue;
      if (token && first) prompt_tokens_ += r.request.input_tokens;
      const auto cached = static_cast<std::int32_t>(r.cached.value_or(0));
      const Duration computed =
          first ? Duration{static_cast<std::int64_t>((end_ps_ - r.admitted_ps) / 1000)} : Duration{};
      if (token && r.generated == r.request.output_tokens) {
        out.push_back({at, r.request.id, 0, EmissionKind::finished, cached, computed});
      } else if (token && first && config_.role == EngineRole::prefill) {
        out.push_back({at, r.request.id, 0, EmissionKind::handed_over, cached, computed});
      } else if (token && first) {
        out.push_back({at, r.request.id, 0, EmissionKind::first_token, cached, computed});
      }
    }
  }
  // Requests that leave release their KV in the same order.
  for (const bool decoding : {true, false}) {
    for (Request& r : running_) {
      if (r.decoding != decoding) continue;
      const bool hands_over = config_.role == EngineRole::prefill && r.generated == 1 && !decoding;
      const bool done = r.has_new_token && (r.generated == r.request.output_tokens || hands_over);
      if (r.cancelled || done) {
        release_kv(r);
        r.request.output_tokens = 0;  // marks a request that has left
      }
    }
  }
  for (Request& r : running_) {
    if (r.request.output_tokens == 0) continue;
    r.decoding = r.decoding || r.has_new_token;
    remaining.push_back(r);
  }
  running_ = std::move(remaining);
}

ReplicaSample StepwiseReplica::sample() const {
  ReplicaSample s;
  s.waiting = static_cast<std::int64_t>(waiting_.size());
  s.running = static_cast<std::int64_t>(running_.size());
  s.kv_blocks = config_.kv_blocks;
  s.kv_blocks_used = used_blocks() - 32 * static_cast<std::int64_t>(unused_.size());
  s.prompt_tokens_total = prompt_tokens_;
  s.generation_tokens_total = generation_tokens_;
  s.preemptions_total = preemptions_;
  s.prefix_queried_tokens_total = queried_;
  s.prefix_hit_tokens_total = hit_;
  s.steps_total = steps_;
  s.busy_total = Duration{static_cast<std::int64_t>(busy_ps_ / 1000)};
  s.inter_token_total = Duration{static_cast<std::int64_t>(inter_token_ps_ / 1000)};
  s.inter_token_count = inter_token_count_;
  return s;
}

}  // namespace capstan::sim
