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
  round_robin,    ///< the next in order that can take it
  least_loaded,   ///< the fewest requests waiting and running, the lowest number of those
  prefix_affine,  ///< where the longest known prefix of the prompt was last sent, unless too loaded; else least loaded
};
std::string_view name(RouterKind kind);
std::optional<RouterKind> router_kind(std::string_view name);

struct RouterConfig {
  RouterKind kind = RouterKind::least_loaded;
  /// prefix_affine: how many requests more than the least loaded replica the one with the prefix may hold; 0..1e6.
  RequestCount affinity_extra_load = 32;
  /// prefix_affine: prefix blocks that are remembered, 16 bytes each; 1..2^26.
  std::size_t affinity_blocks = std::size_t{1} << 18;
};

/// Picks a replica for a request. Replicas are small numbers that are used again. Least loaded costs one look, and at
/// most log2(replicas) for a change; round robin one bit; prefix-affine log2(blocks of the prompt) looks and one note a
/// block that is new. Round robin passes over full replicas 64 at a time.
class Router {
 public:
  static constexpr std::uint32_t kNone = 0xffff'ffff;

  explicit Router(const RouterConfig& config);

  void join(std::uint32_t replica);  ///< can take requests, has none
  void leave(std::uint32_t replica);
  void update(std::uint32_t replica, RequestCount load, bool can_take);

  /// Some replica can take a request.
  bool any() const { return able_count_ > 0; }

  /// For a prompt with these prefix hashes; kNone if no replica can take it. Remembers its choice.
  std::uint32_t pick(std::span<const std::uint64_t> hashes);

  /// The request went to `replica`: its prefix is there from now on.
  void note(std::span<const std::uint64_t> hashes, std::uint32_t replica);

 private:
  static constexpr std::uint64_t kUnable = UINT32_MAX;

  std::uint32_t next_in_turn();
  std::uint32_t with_prefix(std::span<const std::uint64_t> hashes) const;
  bool able(std::uint32_t replica) const {
    return replica / 64 < able_.size() && (able_[replica / 64] >> (replica % 64) & 1) != 0;
  }

  RouterConfig config_;
  std::vector<std::uint64_t> able_;  ///< bits
  RequestCount able_count_ = 0;
  std::uint32_t turn_ = 0;
  MinTree<std::uint64_t> loads_{kUnable};
  std::vector<std::uint32_t> serials_;
  AffinityIndex affinity_;
};

}  // namespace capstan::sim
