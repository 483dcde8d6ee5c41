#pragma once

#include <cstdint>

#include "model/snapshot.h"

namespace capstan::sim {

/// Returns a number that names the domain of `level` in which the node lies.
inline std::uint32_t domain_key(const model::Snapshot& rows, model::NodeId id, model::Level level) {
  if (level == model::TopologyLevel::node) return id.value;
  return rows.nodes.at(id).domains.domain_at(level).value;
}

}  // namespace capstan::sim
