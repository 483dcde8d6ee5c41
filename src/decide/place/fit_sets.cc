#include "decide/place/fit_sets.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "fleet/trial.h"

namespace capstan::decide::place {
namespace {

using Sets = std::span<const Request>;

bool needs_gpus(const Request& request) { return request.gpus_per_pod > MilliGpu{}; }

std::int64_t pods_in(const Fit& fit) {
  return std::accumulate(fit.best_others.begin(), fit.best_others.end(), fit.best_pods);
}

const model::Resources& requests_of(const Request& request) {
  static const model::Resources kNothing;
  return request.pod_class == nullptr ? kNothing : request.pod_class->requests;
}

/// Returns how many pods of each set fit on a node at the same time. Each set gets the room that the sets before it
/// leave.
Fit fit_on(NodeRoom room, NodeId id, Sets sets) {
  Fit fit;
  fit.best_node = id;
  fit.best_free = usable(room.free, sets.front());
  bool is_complete = true;
  for (const Request& set : sets) {
    const std::int64_t pods = may_use(&room, set) ? std::min(slots(room, id, set), set.pods) : 0;
    for (std::int64_t i = 0; i < pods; ++i) {
      fleet::take(room.free, set.gpus_per_pod);
      if (room.available) model::take_from(*room.available, requests_of(set));
    }
    if (&set == &sets.front()) {
      fit.best_pods = pods;
    } else {
      fit.best_others.push_back(pods);
    }
    is_complete = is_complete && pods == set.pods;
  }
  if (is_complete) fit.nodes.assign(static_cast<std::size_t>(pods_in(fit)), id);
  return fit;
}

/// Finds one node for all pods: the fullest one with room, else the one that takes the most.
Fit fit_on_one_node(const Rooms& rooms, Sets sets) {
  const NodeId only = sets.front().only_node;
  if (only.valid()) {
    const NodeRoom* room = rooms.find(only);
    return may_use(room, sets.front()) ? fit_on(*room, only, sets) : Fit{};
  }
  Fit best;
  const auto rank = [](const Fit& fit) { return std::tuple(-pods_in(fit), fit.best_free, fit.best_node); };
  const FreeNodes* nodes = rooms.nodes_of(sets.front().gpu);
  if (nodes == nullptr) return best;
  for (const auto& [node_class, groups] : nodes->by_class()) {
    for (const auto& [space, ids] : groups) {
      for (const NodeId id : ids) {
        const NodeRoom& room = *rooms.find(id);
        if (!may_use(&room, sets.front())) break;  // all nodes of a group have the same class
        Fit here = fit_on(room, id, sets);
        if (!best.best_node.valid() || rank(here) < rank(best)) best = std::move(here);
      }
    }
  }
  return best;
}

/// Finds nodes of a domain for pods that need no GPUs. Nodes without GPUs come first, then nodes whose GPUs are in use,
/// then nodes whose GPUs are all free. Among equals, the nodes with the fewest free GPUs come first.
Fit fit_without_gpus(const Rooms& rooms, const Request& request, DomainId domain) {
  using Group = std::tuple<bool, bool, MilliGpu, const std::set<NodeId>*>;
  std::vector<Group> groups;
  const fleet::DomainKey first{request.level, domain, GpuKindId{0}};
  for (auto row = rooms.domains().lower_bound(first);
       row != rooms.domains().end() && row->first.level == request.level && row->first.domain == domain; ++row) {
    for (const auto& [node_class, by_space] : row->second.nodes.by_class()) {
      if (request.pod_class != nullptr && !request.pod_class->admits(node_class)) continue;
      for (const auto& [space, ids] : by_space) {
        groups.emplace_back(space.gpus > MilliGpu{}, space.free.sum == space.gpus, space.free.sum, &ids);
      }
    }
  }
  const auto rank = [](const Group& group) {
    return std::tuple(std::get<0>(group), std::get<1>(group), std::get<2>(group), *std::get<3>(group)->begin());
  };
  std::ranges::sort(groups, {}, rank);
  Fit fit;
  fit.best_domain = domain;
  for (const Group& group : groups) {
    for (const NodeId id : *std::get<3>(group)) {
      const std::int64_t pods = std::min(slots(*rooms.find(id), id, request), request.pods - fit.best_pods);
      fit.nodes.insert(fit.nodes.end(), static_cast<std::size_t>(pods), id);
      fit.best_pods += pods;
      if (fit.best_pods == request.pods) return fit;
    }
  }
  fit.nodes.clear();
  return fit;
}

/// Finds nodes of one domain for all pods, and takes their room. If the pods of a set do not fit, smaller pods with
/// GPUs count as pods without room, because the larger ones will need the GPUs.
Fit fit_in(fleet::Trial& trial, Sets sets, DomainId domain) {
  Fit all;
  all.best_domain = domain;
  bool is_complete = true;
  for (const Request& set : sets) {
    Fit fit;
    if (!needs_gpus(set)) {
      fit = fit_without_gpus(trial.rooms(), set, domain);
    } else if (is_complete) {
      fit = fit_inside(trial.rooms(), set, domain);
    }
    is_complete = is_complete && !fit.nodes.empty();
    for (const NodeId node : fit.nodes) trial.take(node, set.gpus_per_pod, requests_of(set));
    all.nodes.insert(all.nodes.end(), fit.nodes.begin(), fit.nodes.end());
    if (&set != &sets.front()) {
      all.best_others.push_back(fit.best_pods);
      continue;
    }
    all.best_pods = fit.best_pods;
    all.best_free = fit.best_free;
    all.domain_free = fit.domain_free;
  }
  if (!is_complete) all.nodes.clear();
  return all;
}

/// Returns the domains to search, in the order of best_fit().
std::vector<DomainId> domains_to_try(const Rooms& rooms, Sets sets) {
  const Request& first = sets.front();
  std::vector<DomainId> all;
  if (first.only_node.valid()) {
    if (first.only_domain.valid() || first.level == TopologyLevel::cluster) all.push_back(first.only_domain);
    return all;
  }
  const auto* domains = rooms.domains_by_free(first.level, first.gpu);
  if (domains == nullptr) return all;
  MilliGpu needed;
  for (const Request& set : sets) needed += set.gpus_per_pod * set.pods;
  const auto enough = domains->lower_bound({needed, DomainId{0}});
  for (auto next = enough; next != domains->end(); ++next) all.push_back(next->second);
  for (auto next = domains->begin(); next != enough; ++next) all.push_back(next->second);
  return all;
}

}  // namespace

Fit best_fit_of_sets(Rooms& rooms, Sets sets) {
  if (sets.front().level == TopologyLevel::node) return fit_on_one_node(rooms, sets);
  fleet::Trial trial(rooms);
  Fit best;
  bool is_first = true;
  for (const DomainId domain : domains_to_try(rooms, sets)) {
    Fit here = fit_in(trial, sets, domain);
    trial.rollback(0);
    if (!here.nodes.empty()) return here;
    if (is_first || pods_in(here) > pods_in(best)) best = std::move(here);
    is_first = false;
  }
  return best;
}

}  // namespace capstan::decide::place
