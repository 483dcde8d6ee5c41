// The KV memory of a replica: blocks, shared prefix groups and request slots.
#include "sim/serving/replica.h"

namespace capstan::sim {

void Replica::allocate_blocks(std::int64_t blocks) {
  while (free_blocks_ < blocks) {
    cache_.evict_oldest();
    head_blocked_ = false;
    free_blocks_ += kPrefixGroupBlocks;
  }
  free_blocks_ -= blocks;
}

/// Registers the whole groups of the prompt in the cache as soon as a step computes them. If another request registered
/// a group in the meantime, this request keeps a private copy of that group and of all later ones.
void Replica::register_groups(std::uint32_t slot, std::int64_t computed) {
  if (!slots_[slot].has_prefix) return;
  Prefix& prefix = prefixes_[slot];
  const std::int64_t whole = std::min<std::int64_t>(computed, slots_[slot].input) / kPrefixGroupTokens;
  while (prefix.groups < std::min<std::int64_t>(prefix.count, whole)) {
    if (cache_.find(prefix.hashes[prefix.groups]) != PrefixCache::kNone) return;
    cache_.insert(prefix.hashes[prefix.groups]);
    ++prefix.groups;
  }
}

/// Releases the request's groups, the end of the prefix first, so that the end is evicted first.
void Replica::release_groups(std::uint32_t slot) {
  Prefix& prefix = prefixes_[slot];
  free_blocks_ -= std::int64_t{prefix.groups} * kPrefixGroupBlocks;
  while (prefix.groups > 0) cache_.release(cache_.find(prefix.hashes[--prefix.groups]));
}

/// Removes a request from the batch and frees its blocks.
void Replica::leave_batch(std::uint32_t slot) {
  const Slot& s = slots_[slot];
  --running_;
  if (slot == partial_slot_) partial_slot_ = kNone;
  std::int64_t computed = s.computed;
  if (s.state == State::decoding) {
    computed = decode_length(s);
    --decoding_;
    decode_tokens_ -= computed;
    --block_phase_[(s.anchor_step - static_cast<std::uint32_t>(s.computed)) & 15];
  }
  free_blocks_ += blocks_for(computed);
  if (s.has_prefix) release_groups(slot);
  head_blocked_ = false;
}

std::uint32_t Replica::allocate_slot() {
  const std::uint32_t slot = first_free_;
  if (slot == kNone) {
    slots_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  first_free_ = slots_[slot].sequence;
  return slot;
}

void Replica::free_slot(std::uint32_t slot) {
  slots_[slot].state = State::free;
  slots_[slot].sequence = first_free_;
  first_free_ = slot;
}

}  // namespace capstan::sim
