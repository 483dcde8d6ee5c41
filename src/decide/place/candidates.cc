#include "decide/place/candidates.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace capstan::decide::place {
namespace {

using Outcome = Candidate::Outcome;

Outcome outcome_of(const Request& request, const Candidate& candidate, bool is_usable, bool is_chosen) {
  if (is_chosen) return Outcome::chosen;
  if (!is_usable) return request.avoided == nullptr ? Outcome::not_allowed : Outcome::has_share;
  return candidate.pods == request.pods ? Outcome::worse_fit : Outcome::too_small;
}

Candidate node_candidate(const Rooms& rooms, NodeId id, const Request& request, const Fit& fit) {
  const NodeRoom& room = *rooms.find(id);
  const bool is_admitted = request.pod_class == nullptr || request.pod_class->admits(room.node_class);
  const bool is_avoided =
      request.avoided != nullptr && request.avoided->contains(failure_domain_of(room, id, request.avoided_level));
  Candidate candidate{.node = id, .free = usable(room.free, request)};
  if (is_admitted) candidate.pods = std::min(slots(room, id, request), request.pods);
  candidate.outcome =
      outcome_of(request, candidate, is_admitted && !is_avoided, std::ranges::find(fit.nodes, id) != fit.nodes.end());
  return candidate;
}

/// Returns the nodes with the most free GPUs, at most `most`; ties by id.
std::vector<NodeId> most_free(const FreeNodes::BySpace& groups, std::size_t most) {
  std::vector<NodeId> nodes;
  for (auto group = groups.rbegin(); group != groups.rend() && nodes.size() < most;) {
    std::set<NodeId> equal;
    for (const FreeGpus& free = group->first.free; group != groups.rend() && group->first.free == free; ++group) {
      std::ranges::copy(group->second | std::views::take(most), std::inserter(equal, equal.end()));
    }
    std::ranges::copy(equal | std::views::take(most - nodes.size()), std::back_inserter(nodes));
  }
  return nodes;
}

void add_nodes(Search& search, const Rooms& rooms, const Request& request, const Fit& fit) {
  if (request.only_node.valid()) {
    if (rooms.find(request.only_node) == nullptr) return;
    search.places = 1;
    search.candidates.push_back(node_candidate(rooms, request.only_node, request, fit));
    return;
  }
  const FreeNodes* nodes = rooms.nodes_of(request.gpu);
  if (nodes == nullptr) return;
  search.places = static_cast<std::int64_t>(nodes->size());
  const auto add = [&](NodeId id) { search.candidates.push_back(node_candidate(rooms, id, request, fit)); };
  if (!fit.nodes.empty()) add(fit.nodes.front());
  for (const auto& [node_class, by_space] : nodes->by_class()) {
    for (const NodeId id : most_free(by_space, Search::kMaxConsidered)) {
      if (fit.nodes.empty() || id != fit.nodes.front()) add(id);
    }
  }
}

void add_domains(Search& search, const Rooms& rooms, const Request& request, const Fit& fit) {
  const bool is_placed = !fit.nodes.empty();
  const auto add = [&](DomainId id) {
    const DomainRoom* domain = rooms.find({request.level, id, request.gpu});
    if (domain == nullptr) return;
    const Room room = room_in(rooms, domain->nodes, request);
    Candidate candidate{
        .domain = id, .free = room.nodes > 0 ? room.free : domain->free, .pods = std::min(room.pods, request.pods)};
    candidate.outcome = outcome_of(request, candidate, room.nodes > 0, is_placed && id == fit.best_domain);
    search.candidates.push_back(candidate);
  };
  if (request.only_node.valid()) {
    add(request.only_domain);
    search.places = static_cast<std::int64_t>(search.candidates.size());
    return;
  }
  const auto* domains = rooms.domains_by_free(request.level, request.gpu);
  if (domains == nullptr) return;
  search.places = static_cast<std::int64_t>(domains->size());
  if (is_placed) add(fit.best_domain);
  std::size_t left = Search::kMaxConsidered;
  for (auto next = domains->rbegin(); next != domains->rend() && left > 0; ++next, --left) {
    if (!is_placed || next->second != fit.best_domain) add(next->second);
  }
}

/// Returns a search whose gang, service and ordinal are not set yet.
Search search_of(const Rooms& rooms, const Request& request, const Fit& fit) {
  Search search{.level = request.level, .gpu = request.gpu, .pods = request.pods, .gpus_per_pod = request.gpus_per_pod};
  if (request.level == TopologyLevel::node) {
    add_nodes(search, rooms, request, fit);
  } else {
    add_domains(search, rooms, request, fit);
  }
  // Places that the pods may use come before the other places.
  const auto rank = [](const Candidate& one) {
    const bool is_usable = one.outcome <= Outcome::too_small;
    return std::tuple(one.outcome != Outcome::chosen, !is_usable, -one.pods, one.free, one.domain, one.node);
  };
  std::ranges::sort(search.candidates, {}, rank);
  if (search.candidates.size() > Search::kMaxShown) search.candidates.resize(Search::kMaxShown);
  return search;
}

}  // namespace

void note_search(std::vector<Search>& searches, const SearchSubject& subject, const Rooms& rooms,
                 const Request& request, const Fit& fit) {
  const auto known = std::ranges::find_if(searches, [&](const Search& one) {
    return one.gang == subject.gang && one.service == subject.service && one.ordinal == subject.ordinal &&
           one.level == request.level;
  });
  if (known == searches.end() && searches.size() == kMaxSearches) return;
  Search search = search_of(rooms, request, fit);
  search.gang = subject.gang;
  search.service = subject.service;
  search.ordinal = subject.ordinal;
  if (known != searches.end()) {
    *known = std::move(search);
  } else {
    searches.push_back(std::move(search));
  }
}

}  // namespace capstan::decide::place
