#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "sim/fleet/affinity_index.h"
#include "sim/fleet/min_tree.h"

namespace capstan::sim {

enum class RouterKind : std::uint8_t {
  round_robin,   ///< the next replica in order that can take the request
  least_loaded,  ///< the replica with the fewest waiting and running requests; the lowest number among equals
  /// The replica to which the longest known prefix of the prompt was last sent; least_loaded if no replica is known, or
  /// if the known one is too loaded.
  prefix_affine,
};
std::string_view name(RouterKind kind);
std::optional<RouterKind> router_kind(std::string_view name);

struct RouterConfig {
  RouterKind kind = RouterKind::least_loaded;
  /// prefix_affine: how many more requests than the least loaded replica the replica with the prefix may hold; 0..1e6.
  RequestCount affinity_extra_load = 32;
  /// prefix_affine: number of prefix blocks to remember, 16 bytes each; 1..2^26.
  std::size_t affinity_blocks = std::size_t{1} << 18;
};

/// Picks a replica for a request. Replicas are small numbers that are reused.
///
/// Costs: least_loaded reads one word per pick and updates at most log2(replicas) words per change of a load.
/// round_robin skips full replicas 64 at a time and updates one bit per change. prefix_affine reads
/// log2(blocks of the prompt) entries per pick and writes one entry for each new block.
class Router {
 public:
  static constexpr std::uint32_t kNone = 0xffff'ffff;

  explicit Router(const RouterConfig& config);

  void join(std::uint32_t replica);  ///< adds a replica that holds no requests and can take some
  void leave(std::uint32_t replica);
  void update(std::uint32_t replica, RequestCount load, bool can_take);

  /// Returns true if at least one replica can take a request.
  bool has_able_replica() const { return available_count_ > 0; }

  /// Picks a replica for a prompt with these prefix hashes; returns kNone if no replica can take a request.
  std::uint32_t pick(std::span<const std::uint64_t> hashes);

  /// Records that a request with this prefix was sent to `replica`.
  void note(std::span<const std::uint64_t> hashes, std::uint32_t replica);

 private:
  static constexpr std::uint64_t kUnavailable = UINT32_MAX;

  std::uint32_t next_in_turn();
  std::uint32_t replica_with_prefix(std::span<const std::uint64_t> hashes) const;
  bool is_available(std::uint32_t replica) const {
    return replica / 64 < available_.size() && (available_[replica / 64] >> (replica % 64) & 1) != 0;
  }

  RouterConfig config_;
  std::vector<std::uint64_t> available_;  ///< one bit per replica: it can take a request
  RequestCount available_count_ = 0;
  std::uint32_t turn_ = 0;
  MinTree<std::uint64_t> loads_{kUnavailable};
  std::vector<std::uint32_t> serials_;
  AffinityIndex affinity_;
};

}  // namespace capstan::sim
