#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "fleet/rooms.h"
#include "model/gang_spec.h"

namespace capstan::fleet {

/// The domain or node that takes the most pods of a gang.
struct BestPlace {
  DomainId best_domain;        ///< among equal domains the fullest, then the lowest id; none at level `node`
  NodeId best_node;            ///< only at level `node`
  MilliGpu best_free;          ///< free GPUs of the best domain or node, on nodes that the pods may use
  std::int64_t best_pods = 0;  ///< pods that fit there
  /// Pods of each further set of the gang that also fit there; empty for a gang with one set.
  std::vector<std::int64_t> best_others{};
  MilliGpu domain_free;  ///< free GPUs on all nodes of `best_domain`; 0 at level `node`

  /// Returns how many pods of a set of the gang fit there.
  std::int64_t pods_of(std::size_t set) const {
    if (set == 0) return best_pods;
    return set <= best_others.size() ? best_others[set - 1] : 0;
  }
};

/// The result of a search that found no room for a gang. For a gang with an equal request, only the nodes that have
/// changed since then are counted. The search is repeated if the best place got worse or if many nodes changed.
struct Refusal {
  std::optional<BestPlace> best;  ///< none: no such gang was refused yet
  std::uint64_t version = 0;      ///< version of the rooms in which `best` was found
  std::optional<std::int64_t>
      pods_if_empty;         ///< pods that the largest domain takes if it is empty; none: not counted yet
  std::uint64_t layout = 0;  ///< layout of the rooms in which `pods_if_empty` was counted
  std::optional<std::int64_t> pods_on_all_nodes;  ///< as `pods_if_empty`, if no labels or taints excluded a node
  std::uint64_t layout_of_all_nodes = 0;          ///< layout of the rooms in which `pods_on_all_nodes` was counted
  std::uint64_t cycle = 0;                        ///< the last cycle in which such a gang was pending
};

/// The known refusals, by request. A request is kept while a gang with this request is pending.
struct Refusals {
  std::map<model::GangSpec, Refusal> rows;  ///< refusals by the request of the pods that need a node
  std::uint64_t cycle = 0;
  std::uint64_t searches = 0;  ///< number of searches so far; a known refusal needs no search
};

}  // namespace capstan::fleet
