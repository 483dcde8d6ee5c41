#include "sim/fleet/router.h"

#include <bit>

#include "base/assert.h"

namespace capstan::sim {

std::string_view name(RouterKind kind) {
  switch (kind) {
    case RouterKind::round_robin:
      return "round-robin";
    case RouterKind::least_loaded:
      return "least-loaded";
    case RouterKind::prefix_affine:
      return "prefix-affine";
  }
  return "";
}

std::optional<RouterKind> router_kind(std::string_view text) {
  for (const RouterKind kind : {RouterKind::round_robin, RouterKind::least_loaded, RouterKind::prefix_affine}) {
    if (text == name(kind)) return kind;
  }
  return std::nullopt;
}

Router::Router(const RouterConfig& config)
    : config_(config), affinity_(config.kind == RouterKind::prefix_affine ? config.affinity_blocks : 0) {}

void Router::join(std::uint32_t replica) {
  if (replica >= serials_.size()) serials_.resize(replica + 1);
  if (replica / 64 >= available_.size()) available_.resize(replica / 64 + 1);
  CAPSTAN_ASSERT(!is_available(replica));
  ++serials_[replica];
  update(replica, 0, true);
}

void Router::leave(std::uint32_t replica) {
  ++serials_[replica];  // invalidates the affinity entries of the replica that leaves
  update(replica, 0, false);
}

void Router::update(std::uint32_t replica, RequestCount load, bool can_take) {
  if (is_available(replica) != can_take) {
    available_[replica / 64] ^= std::uint64_t{1} << (replica % 64);
    available_count_ += can_take ? 1 : -1;
  }
  if (config_.kind != RouterKind::round_robin)
    loads_.set(replica, can_take ? static_cast<std::uint64_t>(load) : kUnavailable);
}

std::uint32_t Router::pick(std::span<const std::uint64_t> hashes) {
  if (available_count_ == 0) return kNone;
  if (config_.kind == RouterKind::round_robin) return next_in_turn();
  if (config_.kind == RouterKind::prefix_affine && !hashes.empty()) {
    const std::uint32_t known = replica_with_prefix(hashes);
    if (known != kNone &&
        loads_.rank(known) <= loads_.top_rank() + static_cast<std::uint64_t>(config_.affinity_extra_load))
      return known;
  }
  return loads_.top();
}

std::uint32_t Router::next_in_turn() {
  std::size_t word = turn_ / 64;
  std::uint64_t bits = word < available_.size() ? available_[word] & (~std::uint64_t{0} << (turn_ % 64)) : 0;
  while (bits == 0) {
    word = word + 1 < available_.size() ? word + 1 : 0;
    bits = available_[word];
  }
  const auto replica = static_cast<std::uint32_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
  turn_ = replica + 1;
  return replica;
}

/// Finds the replica with the longest known prefix by bisection: a replica that was sent a block was also sent all
/// blocks before it. An entry that was replaced in the index can only make the known prefix shorter.
std::uint32_t Router::replica_with_prefix(std::span<const std::uint64_t> hashes) const {
  std::uint32_t best = kNone;
  std::size_t known = 0;
  std::size_t unknown = hashes.size() + 1;
  while (known + 1 < unknown) {
    const std::size_t middle = (known + unknown) / 2;
    const AffinityIndex::Place place = affinity_.find(hashes[middle - 1]);
    const bool valid = place.known() && serials_[place.replica] == place.serial;
    if (valid) {
      known = middle;
      best = place.replica;
    } else {
      unknown = middle;
    }
  }
  return best != kNone && is_available(best) ? best : kNone;
}

void Router::note(std::span<const std::uint64_t> hashes, std::uint32_t replica) {
  if (config_.kind != RouterKind::prefix_affine) return;
  const AffinityIndex::Place place{replica, serials_[replica]};
  // The loop goes from the last block to the first. It ends at a block that is known to be on this replica, because all
  // blocks before it are then known to be there, too.
  for (std::size_t i = hashes.size(); i > 0; --i) {
    if (affinity_.find(hashes[i - 1]) == place) return;
    affinity_.note(hashes[i - 1], place);
  }
}

}  // namespace capstan::sim
