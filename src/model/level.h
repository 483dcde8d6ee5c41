#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/ids.h"

namespace capstan::model {

/// Levels of the standard topology, from the narrowest to the widest. A node lies in at most one domain of each level
/// above `node`.
enum class TopologyLevel : std::uint8_t { node, nvlink, rack, zone, cluster };
inline constexpr std::size_t kTopologyLevels = 5;

/// A level of any topology of a catalog. Numbers 0 to 4 are the levels of the standard topology; the levels of the
/// other topologies follow. All topologies share the levels `node`, which is narrower than all others, and `cluster`,
/// which is wider than all others although it has number 4. Among the further levels of one topology, a wider level has
/// a higher number. Reasons and snapshot files hold the number.
class Level {
 public:
  static constexpr std::size_t kMax = 256;  ///< levels of all topologies together

  constexpr Level(TopologyLevel standard) : number_(static_cast<std::uint8_t>(standard)) {}  // NOLINT: a kind of level
  constexpr explicit Level(std::uint8_t number) : number_(number) {}

  constexpr std::uint8_t number() const { return number_; }
  constexpr bool is_standard() const { return number_ < kTopologyLevels; }
  friend constexpr auto operator<=>(const Level&, const Level&) = default;

 private:
  std::uint8_t number_;
};

/// Returns a level as a number of a reason.
constexpr std::int64_t reason_number(Level level) { return level.number(); }

/// The domains in which a node lies, by level. Level `node` has none, because a node is its own domain.
class DomainPath {
 public:
  /// Returns the domain of a level; none if the node lies in no domain of it.
  DomainId domain_at(Level level) const {
    if (level.is_standard()) return standard_[level.number()];
    const std::size_t i = level.number() - kTopologyLevels;
    return i < other_.size() ? other_[i] : DomainId{};
  }

  /// Sets the domain of a level. The domain must be valid.
  void set(Level level, DomainId domain) {
    if (level.is_standard()) {
      standard_[level.number()] = domain;
      return;
    }
    const std::size_t i = level.number() - kTopologyLevels;
    if (i >= other_.size()) other_.resize(i + 1);
    other_[i] = domain;
  }

  /// Calls `visit(level, domain)` for the levels of the standard topology, then for the others, each by number. The
  /// domain may be none.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::size_t i = 0; i < standard_.size(); ++i) visit(Level(static_cast<TopologyLevel>(i)), standard_[i]);
    for (std::size_t i = 0; i < other_.size(); ++i) {
      visit(Level(static_cast<std::uint8_t>(kTopologyLevels + i)), other_[i]);
    }
  }

  friend bool operator==(const DomainPath&, const DomainPath&) = default;

 private:
  std::array<DomainId, kTopologyLevels> standard_{};
  std::vector<DomainId> other_;  ///< domains of the levels after the standard ones; the last one is valid
};

}  // namespace capstan::model
