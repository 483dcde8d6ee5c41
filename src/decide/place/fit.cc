#include "decide/place/fit.h"

#include <algorithm>
#include <tuple>

#include "base/sort_unique.h"

namespace capstan::decide::place {
namespace {

bool admits(const Request& request, model::NodeClassId node_class) {
  return request.pod_class == nullptr || request.pod_class->admits(node_class);
}

/// Returns true if GPUs alone decide how many pods a node takes, so that all nodes of a group take the same number.
bool counts_by_group(const Request& request) { return request.pod_class == nullptr && request.avoided == nullptr; }

bool is_avoided(const Request& request, const NodeRoom& room, NodeId id) {
  return request.avoided != nullptr && request.avoided->contains(failure_domain_of(room, id, request.avoided_level));
}

/// Calls `visit(free, ids)` for each group of nodes that admit the pods and have at least `at_least` free GPUs.
template <typename Visit>
void each_group(const FreeNodes& nodes, const Request& request, MilliGpu at_least, Visit&& visit) {
  for (const auto& [node_class, by_free] : nodes.by_class()) {
    if (!admits(request, node_class)) continue;
    for (auto group = by_free.lower_bound(FreeGpus{at_least}); group != by_free.end(); ++group) {
      visit(group->first, group->second);
    }
  }
}

/// Chooses a node for each pod among `nodes`, which together take all of them. Nodes in use come first if they suffice.
/// Otherwise the nodes in use are filled before empty ones are opened, so that as few as possible are opened.
std::vector<NodeId> spread(const Rooms& rooms, const FreeNodes& nodes, const Request& request) {
  struct Candidate {
    NodeId id;
    MilliGpu free;
    std::int64_t slots;
  };
  std::vector<Candidate> used, untouched;
  each_group(nodes, request, request.gpus_per_pod, [&](const FreeGpus& free, const std::set<NodeId>& group) {
    for (const NodeId id : group) {
      const NodeRoom& room = *rooms.find(id);
      const std::int64_t n = slots(room, id, request);
      if (n > 0) (free.sum == room.gpus ? untouched : used).push_back({id, free.sum, n});
    }
  });
  std::vector<NodeId> chosen;
  std::int64_t left = request.pods;
  for (std::vector<Candidate>* group : {&used, &untouched}) {
    std::ranges::sort(*group, [](const Candidate& a, const Candidate& b) {
      return std::tuple(b.slots, a.free, a.id) < std::tuple(a.slots, b.free, b.id);
    });
    for (auto next = group->begin(); next != group->end() && left > 0; ++next) {
      auto taken = next;
      if (next->slots >= left) {
        // Several nodes may have room for all remaining pods: the fullest of them is taken.
        const auto enough =
            std::partition_point(next, group->end(), [&](const Candidate& c) { return c.slots >= left; });
        taken = std::ranges::min_element(next, enough, {}, [](const Candidate& c) { return std::tuple(c.free, c.id); });
      }
      const std::int64_t pods = std::min(taken->slots, left);
      chosen.insert(chosen.end(), static_cast<std::size_t>(pods), taken->id);
      left -= pods;
    }
  }
  return chosen;
}

}  // namespace

Room room_in(const Rooms& rooms, const FreeNodes& nodes, const Request& request) {
  Room sum;
  each_group(nodes, request, MilliGpu{}, [&](const FreeGpus& free, const std::set<NodeId>& group) {
    if (counts_by_group(request)) {
      const auto count = static_cast<std::int64_t>(group.size());
      sum.nodes += count;
      sum.pods += count * fleet::places(free, request.gpus_per_pod);
      sum.free += usable(free, request) * count;
      return;
    }
    for (const NodeId id : group) {
      const NodeRoom& room = *rooms.find(id);
      if (is_avoided(request, room, id)) continue;
      ++sum.nodes;
      sum.pods += slots(room, id, request);
      sum.free += usable(free, request);
    }
  });
  return sum;
}

namespace {

struct NodeChoice {
  NodeId id;
  MilliGpu free;
  std::int64_t slots = -1;  ///< pods that fit, at most those of the request; -1: no node

  /// Returns a value that is smaller for a better node.
  auto rank() const { return std::tuple(-slots, free, id); }
};

/// Returns the fullest node that takes all pods, else the one that takes the most; ties: the fullest, then the lowest
/// id.
NodeChoice best_node(const Rooms& rooms, const FreeNodes& nodes, const Request& request) {
  NodeChoice best;
  each_group(nodes, request, MilliGpu{}, [&](const FreeGpus& free, const std::set<NodeId>& group) {
    const std::int64_t slots_by_gpus = std::min(fleet::places(free, request.gpus_per_pod), request.pods);
    for (const NodeId id : group) {
      if (best.slots >= 0 && best.rank() <= NodeChoice{id, usable(free, request), slots_by_gpus}.rank()) return;
      const NodeRoom& room = *rooms.find(id);
      if (is_avoided(request, room, id)) continue;
      const NodeChoice node{id, usable(free, request), std::min(slots(room, id, request), request.pods)};
      if (best.slots < 0 || node.rank() < best.rank()) best = node;
    }
  });
  return best;
}

Fit fit_on_node(const Rooms& rooms, const Request& request) {
  Fit fit;
  const auto consider = [&](NodeId id) {
    const NodeRoom& room = *rooms.find(id);
    fit.best_node = id;
    fit.best_free = usable(room.free, request);
    fit.best_pods = std::min(slots(room, id, request), request.pods);
    if (fit.best_pods == request.pods) fit.nodes.assign(static_cast<std::size_t>(request.pods), id);
  };
  if (request.only_node.valid()) {
    if (may_use(rooms.find(request.only_node), request)) consider(request.only_node);
    return fit;
  }
  const FreeNodes* nodes = rooms.nodes_of(request.gpu);
  if (nodes == nullptr) return fit;
  if (const NodeChoice best = best_node(rooms, *nodes, request); best.id.valid()) consider(best.id);
  return fit;
}

/// Returns an upper bound of the pods that a domain takes, at most those of the request, so that most domains need not
/// be counted. The second bound is computed only if the first one is above `enough`.
std::int64_t most_pods(const DomainRoom& domain, const Request& request, std::int64_t enough) {
  const std::int64_t by_sum = std::min(domain.free.count / request.gpus_per_pod.count, request.pods);
  if (by_sum <= enough || counts_by_group(request)) return by_sum;
  return std::min(pods_by_gpus(domain.nodes, request), by_sum);
}

Fit fit_in_domain(const Rooms& rooms, const Request& request) {
  Fit fit;
  const auto consider = [&](DomainId id) {
    const DomainRoom* domain = rooms.find({request.level, id, request.gpu});
    if (domain == nullptr) return false;
    const bool is_first = !fit.best_domain.valid() && fit.best_pods == 0;
    if (!is_first && most_pods(*domain, request, fit.best_pods) <= fit.best_pods) return false;
    const Room room = room_in(rooms, domain->nodes, request);
    if (room.nodes == 0) return false;
    const std::int64_t pods = std::min(room.pods, request.pods);
    if (!is_first && pods <= fit.best_pods) return false;
    fit.best_domain = id;
    fit.best_free = room.free;
    fit.best_pods = pods;
    fit.domain_free = domain->free;
    if (pods < request.pods) return false;
    fit.nodes = spread(rooms, domain->nodes, request);
    return true;
  };
  if (request.only_node.valid()) {
    if (request.only_domain.valid() || request.level == TopologyLevel::cluster) consider(request.only_domain);
    return fit;
  }
  const auto* domains = rooms.domains_by_free(request.level, request.gpu);
  if (domains == nullptr) return fit;
  const std::pair enough{request.gpus_per_pod * request.pods, DomainId{0}};
  for (auto it = domains->lower_bound(enough); it != domains->end(); ++it) {
    if (consider(it->second)) return fit;
  }
  for (auto it = domains->begin(); it != domains->end() && it->first < enough.first; ++it) consider(it->second);
  return fit;
}

bool revise_on_node(Fit& fit, const Rooms& rooms, const Request& request,
                    std::span<const AssumedRooms::Change> changes) {
  for (const AssumedRooms::Change& change : changes) {
    const NodeRoom* room = rooms.find(change.node);
    const bool is_best = change.node == fit.best_node;
    if (!may_use(room, request)) {
      if (is_best) return false;
      continue;
    }
    const NodeChoice node{change.node, usable(room->free, request),
                          std::min(slots(*room, change.node, request), request.pods)};
    if (!fit.best_node.valid() || node.rank() <= NodeChoice{fit.best_node, fit.best_free, fit.best_pods}.rank()) {
      fit.best_node = node.id;
      fit.best_free = node.free;
      fit.best_pods = node.slots;
    } else if (is_best) {
      return false;
    }
  }
  const bool fits = fit.best_node.valid() && fit.best_pods == request.pods;
  if (fits) fit.nodes.assign(static_cast<std::size_t>(request.pods), fit.best_node);
  return true;
}

/// Returns the domains of the request's level in which a node changed, ascending.
std::vector<DomainId> changed_domains(const Request& request, std::span<const AssumedRooms::Change> changes) {
  std::vector<DomainId> domains;
  for (const AssumedRooms::Change& change : changes) {
    const DomainId domain = change.domains.domain_at(request.level);
    if (domain.valid() && (domains.empty() || domains.back() != domain)) domains.push_back(domain);
  }
  sort_unique(domains);
  return domains;
}

bool revise_in_domain(Fit& fit, const Rooms& rooms, const Request& request,
                      std::span<const AssumedRooms::Change> changes) {
  // At level `cluster` one domain contains nearly all nodes, so a revision would save nothing. It is also the only
  // domain that may have no id.
  if (request.level == TopologyLevel::cluster) return changes.empty();
  const MilliGpu enough = request.gpus_per_pod * request.pods;
  // fit_in_domain() finds the domain with the smallest rank.
  const auto rank = [&](std::int64_t pods, MilliGpu domain_free, DomainId id) {
    return std::tuple(-pods, domain_free < enough, domain_free, id);
  };
  for (const DomainId id : changed_domains(request, changes)) {
    const DomainRoom* domain = rooms.find({request.level, id, request.gpu});
    const bool is_best = id == fit.best_domain;
    const std::int64_t most = domain == nullptr ? 0 : most_pods(*domain, request, fit.best_pods - 1);
    if (!is_best && fit.best_domain.valid() && most < fit.best_pods) continue;
    const Room room = domain == nullptr ? Room{} : room_in(rooms, domain->nodes, request);
    const std::int64_t pods = std::min(room.pods, request.pods);
    const bool is_better =
        room.nodes > 0 && (!fit.best_domain.valid() ||
                           rank(pods, domain->free, id) <= rank(fit.best_pods, fit.domain_free, fit.best_domain));
    if (is_better) {
      fit.best_domain = id;
      fit.best_free = room.free;
      fit.best_pods = pods;
      fit.domain_free = domain->free;
    } else if (is_best) {
      return false;
    }
  }
  if (fit.best_domain.valid() && fit.best_pods == request.pods) {
    fit.nodes = spread(rooms, rooms.find({request.level, fit.best_domain, request.gpu})->nodes, request);
  }
  return true;
}

/// Returns the number of pods that the nodes of a set would take if they were empty: all nodes together, or only the
/// node that takes the most.
std::int64_t pods_if_empty(const Rooms& rooms, const FreeNodes& nodes, const Request& request, bool is_one_node) {
  std::int64_t most = 0;
  each_group(nodes, request, MilliGpu{}, [&](const FreeGpus&, const std::set<NodeId>& group) {
    for (const NodeId id : group) {
      const std::int64_t pods = fleet::places(fleet::free_gpus(rooms.find(id)->gpus, {}), request.gpus_per_pod);
      most = is_one_node ? std::max(most, pods) : most + pods;
    }
  });
  return most;
}

}  // namespace

bool may_use(const NodeRoom* room, const Request& request) {
  return room != nullptr && room->open && room->gpu == request.gpu && admits(request, room->node_class);
}

MilliGpu usable(const FreeGpus& free, const Request& request) {
  return request.gpus_per_pod.count % 1'000 == 0 ? whole_gpus(free.whole()) : free.sum;
}

std::int64_t slots(const NodeRoom& room, NodeId id, const Request& request) {
  if (!room.open || is_avoided(request, room, id)) return 0;
  const std::int64_t by_gpus = fleet::places(room.free, request.gpus_per_pod);
  if (request.pod_class == nullptr || !room.available) return by_gpus;
  return model::times_in(request.pod_class->requests, *room.available, by_gpus);
}

std::int64_t pods_by_gpus(const FreeNodes& nodes, const Request& request) {
  std::int64_t pods = 0;
  each_group(nodes, request, request.gpus_per_pod, [&](const FreeGpus& free, const std::set<NodeId>& group) {
    pods += static_cast<std::int64_t>(group.size()) * fleet::places(free, request.gpus_per_pod);
  });
  return pods;
}

Fit best_fit(const Rooms& rooms, const Request& request) {
  return request.level == TopologyLevel::node ? fit_on_node(rooms, request) : fit_in_domain(rooms, request);
}

bool revise(Fit& refusal, const Rooms& rooms, const Request& request, std::span<const AssumedRooms::Change> changes) {
  return request.level == TopologyLevel::node ? revise_on_node(refusal, rooms, request, changes)
                                              : revise_in_domain(refusal, rooms, request, changes);
}

NodeId first_with_room(const Rooms& rooms, const Request& request) {
  const FreeNodes* nodes = rooms.nodes_of(request.gpu);
  NodeId first;
  if (nodes == nullptr) return first;
  each_group(*nodes, request, request.gpus_per_pod, [&](const FreeGpus&, const std::set<NodeId>& group) {
    for (const NodeId id : group) {
      if (id >= first) return;
      if (slots(*rooms.find(id), id, request) > 0) first = id;
    }
  });
  return first;
}

std::int64_t pods_that_fit(const Rooms& rooms, const Request& request) {
  const FreeNodes* nodes = rooms.nodes_of(request.gpu);
  return nodes == nullptr ? 0 : room_in(rooms, *nodes, request).pods;
}

std::int64_t max_pods_if_empty(const Rooms& rooms, const Request& request) {
  if (request.level == TopologyLevel::node) {
    const FreeNodes* nodes = rooms.nodes_of(request.gpu);
    return nodes == nullptr ? 0 : pods_if_empty(rooms, *nodes, request, true);
  }
  const auto* domains = rooms.domains_by_free(request.level, request.gpu);
  if (domains == nullptr) return 0;
  std::int64_t most = 0;
  for (const auto& [free, domain] : *domains) {
    most =
        std::max(most, pods_if_empty(rooms, rooms.find({request.level, domain, request.gpu})->nodes, request, false));
  }
  return most;
}

}  // namespace capstan::decide::place
