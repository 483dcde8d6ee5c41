#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/quantity.h"
#include "decide/place/fit.h"
#include "model/ids.h"
#include "model/level.h"

// The domains and nodes that placement considered for a gang, for explanations.
namespace capstan::decide::place {

/// A domain, or a node at level `node`, that was considered for the pods of a gang.
struct Candidate {
  enum class Outcome : std::uint8_t {
    chosen,       ///< takes all pods
    worse_fit,    ///< would take all pods, but another place that takes them has fewer free GPUs or an equal number
    too_small,    ///< does not take all pods now
    not_allowed,  ///< the pods may run on none of its nodes
    has_share,    ///< has its share of the replicas of a service that must survive the loss of a domain
  };
  /// Domain of the candidate. Invalid at level `node`, and at level `cluster` for nodes that belong to no cluster.
  DomainId domain{};
  NodeId node{};  ///< only at level `node`
  /// Free GPUs on the nodes that the pods may use. If the pods may use none of the nodes, free GPUs on all of them.
  MilliGpu free{};
  std::int64_t pods = 0;  ///< pods of the gang that fit now
  Outcome outcome = Outcome::too_small;
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// A search for room for the pods of one gang inside one domain of a level.
struct Search {
  static constexpr std::size_t kMaxShown = 6;        ///< largest number of candidates that are kept
  static constexpr std::size_t kMaxConsidered = 64;  ///< largest number of places that are considered

  GangId gang{};  ///< none for a planned gang
  ServiceId service{};
  std::uint32_t ordinal = 0;
  model::Level level = TopologyLevel::node;
  GpuKindId gpu{};
  std::int64_t pods = 0;  ///< pods that need a node
  MilliGpu gpus_per_pod{};
  std::int64_t places = 0;              ///< domains or nodes with GPUs of the kind
  std::vector<Candidate> candidates{};  ///< the best places: the chosen one, then the ones with room for the most pods
  friend bool operator==(const Search&, const Search&) = default;
};

/// Largest number of searches that one decision keeps.
inline constexpr std::size_t kMaxSearches = 64;

/// The gang for which room is sought.
struct SearchSubject {
  GangId gang;
  ServiceId service;
  std::uint32_t ordinal = 0;
};

/// Adds a search with its candidates, or replaces the earlier search for the same gang at the same level. A full list
/// gets no new search. Of the domains of the level, or of the nodes of each class, at most `kMaxConsidered` are
/// considered: the ones with the most free GPUs.
/// @param fit  the result of the search
void note_search(std::vector<Search>& searches, const SearchSubject& subject, const Rooms& rooms,
                 const Request& request, const Fit& fit);

}  // namespace capstan::decide::place
