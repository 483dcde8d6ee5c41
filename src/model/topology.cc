#include "model/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "model/topology_names.h"

namespace capstan::model {

Topology standard_topology() {
  Topology standard{.name = std::string(kStandardTopology), .levels = {}};
  for (std::size_t i = kTopologyLevels - 1; i > 0; --i) {
    standard.levels.push_back({.name = std::string(kLevelNames[i].key)});
  }
  return standard;
}

namespace {

constexpr std::size_t kMaxNumbers = Level::kMax - 1;  // so that a number after the last one exists

/// Returns the fault of a name; empty if it has none. A slash separates the names of a topology and its level in keys.
std::string name_fault(std::string_view name) {
  const bool is_usable = !name.empty() && name.find('/') == name.npos;
  return is_usable ? std::string() : fmt::format("found \"{}\", expected a name without \"/\"", name);
}

/// Returns the first defect of the level at `depth`.
std::optional<TopologyFault> find_fault(const Topology& topology, std::size_t depth) {
  const Topology::LevelInfo& level = topology.levels[depth];
  const auto fault = [](std::string field, std::string message) {
    return TopologyFault{.depth = {}, .field = std::move(field), .message = std::move(message)};
  };
  if (std::string text = name_fault(level.name); !text.empty()) return fault("name", std::move(text));
  if (level.name == kLevelNames.front().key || level.name == kLevelNames.back().key) {
    return fault("name",
                 fmt::format("found {}, which is a level of all topologies, expected another name", level.name));
  }
  for (std::size_t wider = 0; wider < depth; ++wider) {
    const Topology::LevelInfo& other = topology.levels[wider];
    if (other.name == level.name) {
      return fault("name", fmt::format("found {} a second time, expected each level once", level.name));
    }
    if (!level.node_label.empty() && other.node_label == level.node_label) {
      return fault("node_label", fmt::format("found {}, the label of level {}, expected another label",
                                             level.node_label, other.name));
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<TopologyFault> find_fault(std::span<const Topology> topologies) {
  std::size_t numbers = 1;
  for (std::size_t t = 0; t < topologies.size(); ++t) {
    const Topology& topology = topologies[t];
    const std::size_t count = topology.levels.size();
    const auto fault = [&](std::string field, std::string message) {
      return TopologyFault{.topology = t, .depth = {}, .field = std::move(field), .message = std::move(message)};
    };
    numbers += count;
    if (t == 0) continue;  // the standard topology
    if (std::string text = name_fault(topology.name); !text.empty()) return fault("name", std::move(text));
    const auto same = [&](const Topology& other) { return other.name == topology.name; };
    if (std::ranges::any_of(topologies.first(t), same)) {
      return fault("name", fmt::format("found {} a second time, expected each topology once", topology.name));
    }
    if (count == 0 || count > Topology::kMaxLevels) {
      return fault("levels", fmt::format("found {} levels, expected 1 to {}", count, Topology::kMaxLevels));
    }
    if (numbers > kMaxNumbers) {
      return fault("levels",
                   fmt::format("found {} levels in all topologies, expected at most {}", numbers, kMaxNumbers));
    }
    for (std::size_t depth = 0; depth < count; ++depth) {
      if (std::optional<TopologyFault> found = find_fault(topology, depth)) {
        found->topology = t;
        found->depth = depth;
        return found;
      }
    }
  }
  return std::nullopt;
}

std::optional<LevelPosition> position_of(std::span<const Topology> topologies, Level level) {
  std::size_t narrowest = 1;  // the number of the topology's narrowest level; `node` is 0
  for (std::size_t t = 0; t < topologies.size(); ++t) {
    const std::size_t depth = topologies[t].levels.size();
    if (level.number() >= narrowest && level.number() < narrowest + depth) {
      return LevelPosition{t, narrowest + depth - 1 - level.number()};
    }
    narrowest += depth;
  }
  return std::nullopt;
}

Level level_at(std::span<const Topology> topologies, LevelPosition position) {
  std::size_t number = 0;
  for (std::size_t t = 0; t <= position.topology; ++t) number += topologies[t].levels.size();
  CAPSTAN_ASSERT(position.depth < topologies[position.topology].levels.size());
  number -= position.depth;
  CAPSTAN_ASSERT(number < Level::kMax);
  return Level(static_cast<std::uint8_t>(number));
}

std::optional<Level> next_wider(std::span<const Topology> topologies, Level level) {
  if (level == TopologyLevel::cluster) return std::nullopt;
  if (level.is_standard()) return Level(static_cast<std::uint8_t>(level.number() + 1));
  const std::optional<LevelPosition> position = position_of(topologies, level);
  if (!position || position->depth == 0) return TopologyLevel::cluster;
  return level_at(topologies, {position->topology, position->depth - 1});
}

bool is_wider(std::span<const Topology> topologies, Level a, Level b) {
  if (a == b || a == TopologyLevel::node || b == TopologyLevel::cluster) return false;
  if (b == TopologyLevel::node || a == TopologyLevel::cluster) return true;
  const std::optional<LevelPosition> of_a = position_of(topologies, a), of_b = position_of(topologies, b);
  return of_a && of_b && of_a->topology == of_b->topology && of_a->depth < of_b->depth;
}

std::vector<Level> levels_to_try(std::span<const Topology> topologies, Level required, std::optional<Level> preferred) {
  std::vector<Level> levels;
  std::optional<Level> level = preferred && is_wider(topologies, required, *preferred) ? preferred : required;
  while (level && *level != required) {
    levels.push_back(*level);
    const std::optional<LevelPosition> top = position_of(topologies, required);
    const bool is_node = *level == TopologyLevel::node;
    level = is_node && top ? level_at(topologies, {top->topology, topologies[top->topology].levels.size() - 1})
                           : next_wider(topologies, *level);
  }
  levels.push_back(required);
  return levels;
}

std::string level_key(std::span<const Topology> topologies, Level level) {
  if (level.is_standard()) return std::string(kLevelNames[level.number()].key);
  const std::optional<LevelPosition> position = position_of(topologies, level);
  if (!position) return "level " + std::to_string(level.number());
  const Topology& topology = topologies[position->topology];
  return topology.name + "/" + topology.levels[position->depth].name;
}

std::optional<Level> level_of_key(std::span<const Topology> topologies, std::string_view key) {
  for (std::size_t i = 0; i < kTopologyLevels; ++i) {
    if (kLevelNames[i].key == key) return Level(static_cast<TopologyLevel>(i));
  }
  const std::size_t slash = key.find('/');
  if (slash == key.npos) return std::nullopt;
  for (std::size_t t = 1; t < topologies.size(); ++t) {
    if (topologies[t].name != key.substr(0, slash)) continue;
    for (std::size_t depth = 0; depth < topologies[t].levels.size(); ++depth) {
      if (topologies[t].levels[depth].name == key.substr(slash + 1)) return level_at(topologies, {t, depth});
    }
  }
  return std::nullopt;
}

std::string_view level_words(std::span<const Topology> topologies, Level level) {
  if (level.is_standard()) return kLevelNames[level.number()].words;
  const std::optional<LevelPosition> position = position_of(topologies, level);
  return position ? std::string_view(topologies[position->topology].levels[position->depth].name) : "domain";
}

}  // namespace capstan::model
