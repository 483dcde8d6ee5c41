#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/ids.h"
#include "model/level.h"

namespace capstan::model {

/// One domain of a topology, such as a rack or a zone.
struct Domain {
  std::string name;
  Level level = TopologyLevel::zone;
  DomainId parent;  ///< next wider domain; none for the cluster
  friend bool operator==(const Domain&, const Domain&) = default;
};

/// A named tree of domains. Node labels name the domains in which a node lies.
struct Topology {
  static constexpr std::size_t kMaxLevels = 16;

  struct LevelInfo {
    std::string name;          ///< "rack"
    std::string node_label{};  ///< label whose value is the name of a node's domain; the standard topology has none
    bool is_chosen_at_launch = true;  ///< true: a launch can choose the domain of its nodes
    friend bool operator==(const LevelInfo&, const LevelInfo&) = default;
  };
  std::string name;
  std::vector<LevelInfo> levels;  ///< from the widest to the narrowest, without the nodes themselves
  friend bool operator==(const Topology&, const Topology&) = default;
};

/// Name of the topology with the levels of `TopologyLevel`, which is the first topology of each catalog.
inline constexpr std::string_view kStandardTopology = "standard";
Topology standard_topology();

/// A defect of a list of topologies.
struct TopologyFault {
  std::size_t topology = 0;
  std::optional<std::size_t> depth{};  ///< position of the level; none: the defect is not in one level
  std::string field;                   ///< "name", "levels", "node_label"
  std::string message;                 ///< text with the finding and the expected value
};

/// Returns the first defect of a list of topologies that begins with the standard one: a missing or repeated name, a
/// name with a slash, a repeated label, or a wrong number of levels.
std::optional<TopologyFault> find_fault(std::span<const Topology> topologies);

/// Position of a level in a list of topologies.
struct LevelPosition {
  std::size_t topology = 0;
  std::size_t depth = 0;  ///< position in the topology's levels
};

/// Returns the position of a level; none for `node`, and if there is no such level.
std::optional<LevelPosition> position_of(std::span<const Topology> topologies, Level level);
/// Returns the level at an existing position.
Level level_at(std::span<const Topology> topologies, LevelPosition position);
/// Returns the next wider level: `cluster` above the widest level of a topology, and none above `cluster`. The next
/// wider level of `node` is the narrowest of the standard topology.
std::optional<Level> next_wider(std::span<const Topology> topologies, Level level);
/// Returns true if `a` is wider than `b`. Returns false for levels of different topologies, except for `node` and
/// `cluster`, which all topologies share.
bool is_wider(std::span<const Topology> topologies, Level a, Level b);
/// Returns the levels at which a gang is tried: the preferred one, then each wider one up to the required one. A
/// preferred level that is wider than the required one, or belongs to another topology, is not tried.
std::vector<Level> levels_to_try(std::span<const Topology> topologies, Level required, std::optional<Level> preferred);
/// Returns the key of a level in files: "rack", and "fabric/spine" for a level of the topology "fabric".
std::string level_key(std::span<const Topology> topologies, Level level);
/// Returns the level with a key.
std::optional<Level> level_of_key(std::span<const Topology> topologies, std::string_view key);
/// Returns the name of a level in sentences, such as "NVLink domain".
std::string_view level_words(std::span<const Topology> topologies, Level level);

}  // namespace capstan::model
