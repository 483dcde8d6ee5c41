#include "decide/place/fit.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/sort_unique.h"

namespace capstan::decide::place {
namespace {

bool admits(const Request& request, model::NodeClassId node_class) {
  return request.pod_class == nullptr || request.pod_class->admits(node_class);
}

std::int64_t slots_within(const FreeGpus& free, const std::optional<model::Resources>& others, const Request& request) {
  const std::int64_t by_gpus = fleet::places(free, request.gpus_per_pod);
  if (request.pod_class == nullptr || !others) return by_gpus;
  return model::times_in(request.pod_class->requests, *others, by_gpus);
}

std::int64_t slots_in(const NodeRoom& room, const Request& request) {
  return slots_within(room.free, room.available, request);
}

bool is_avoided(const Request& request, const NodeRoom& room, NodeId id) {
  return request.avoided != nullptr && request.avoided->contains(failure_domain_of(room, id, request.avoided_level));
}

bool is_avoided(const Request& request, const Rooms& rooms, NodeId id) {
  return request.avoided != nullptr && is_avoided(request, *rooms.find(id), id);
}

/// Nodes of a group that take the same number of pods, ascending.
using IdRange = std::ranges::subrange<std::set<NodeId>::const_iterator>;

/// Calls `visit(space, ids)` for each group of FreeNodes whose nodes admit the pods and have at least `at_least` free
/// GPUs. In each node class, the groups with the fewest free GPUs come first.
template <typename Visit>
void each_group(const FreeNodes& nodes, const Request& request, MilliGpu at_least, Visit&& visit) {
  for (const auto& [node_class, by_space] : nodes.by_class()) {
    if (!admits(request, node_class)) continue;
    for (auto group = by_space.lower_bound({FreeGpus{at_least}}); group != by_space.end(); ++group) {
      visit(group->first, group->second);
    }
  }
}

/// Returns true if only GPUs decide how many pods the nodes of a group take, so that all of them take the same number.
bool gpus_decide(const NodeSpace& space, const Request& request) {
  return slots_within(space.free, space.others_rounded_down, request) ==
         fleet::places(space.free, request.gpus_per_pod);
}

/// Calls `visit(slots, ids)` for the nodes of a group: once if all of them take the same number of pods, or else for
/// each node.
template <typename Visit>
void each_equal(const Rooms& rooms, const Request& request, const NodeSpace& space, const std::set<NodeId>& ids,
                Visit&& visit) {
  if (gpus_decide(space, request)) {
    return visit(fleet::places(space.free, request.gpus_per_pod), IdRange(ids.begin(), ids.end()));
  }
  for (auto id = ids.begin(); id != ids.end(); ++id) {
    visit(slots_in(*rooms.find(*id), request), IdRange(id, std::next(id)));
  }
}

/// Chooses a node for each pod of a request. The cost depends on the number of groups and of pods. The nodes of a group
/// are visited only if resources other than GPUs may limit their pods.
class NodeChooser {
 public:
  NodeChooser(const Rooms& rooms, const FreeNodes& nodes, const Request& request) : rooms_(rooms), request_(request) {
    each_group(nodes, request, request.gpus_per_pod, [&](const NodeSpace& space, const std::set<NodeId>& ids) {
      Groups& groups = space.free.sum == space.gpus ? untouched_ : used_;
      each_equal(rooms, request, space, ids, [&](std::int64_t n, IdRange equal) {
        if (n > 0) groups.push_back({n, space.free.sum, equal});
      });
    });
  }

  /// Chooses among nodes that together take all pods. Nodes in use are filled before empty nodes are opened, so that as
  /// few empty nodes as possible are opened.
  std::vector<NodeId> choose() && {
    left_ = request_.pods;
    fill(used_);
    fill(untouched_);
    return std::move(chosen_);
  }

 private:
  /// Nodes with the same number of slots and of free GPUs.
  struct Group {
    std::int64_t slots;
    MilliGpu free;
    IdRange ids;

    auto rank() const { return std::tuple(-slots, free); }
  };
  using Groups = std::vector<Group>;

  /// Fills the nodes with the most slots first, of these the fullest, then the lowest id. As soon as one node has room
  /// for all pods that are left, they go to the fullest node with enough room.
  void fill(Groups& groups) {
    std::ranges::sort(groups, {}, &Group::rank);
    for (auto run = groups.cbegin(); run != groups.cend() && left_ > 0;) {
      const auto end = std::find_if(run, groups.cend(), [&](const Group& g) { return g.rank() != run->rank(); });
      const std::int64_t filled = (left_ - 1) / run->slots;
      const std::vector<NodeId> ids = first_ids(run, end, static_cast<std::size_t>(filled) + 1);
      for (std::size_t i = 0; i < ids.size() && std::cmp_less(i, filled); ++i) take(ids[i], run->slots);
      if (std::cmp_greater(ids.size(), filled)) return take(last_node(ids.back(), run, end, groups.cend()), left_);
      run = end;
    }
  }

  /// Returns the node for all pods that are left: the fullest one with room for them; ties go to the lowest id. `best`
  /// is the best node of the groups from `run` to `next`. The groups from `next` on are searched for a better one.
  NodeId last_node(NodeId best, Groups::const_iterator run, Groups::const_iterator next, Groups::const_iterator end) {
    MilliGpu free = run->free;
    for (; next != end && next->slots >= left_; ++next) {
      if (next->free > free) continue;
      const std::vector<NodeId> first = first_ids(next, next + 1, 1);
      if (first.empty() || std::tuple(free, best) < std::tuple(next->free, first.front())) continue;
      best = first.front();
      free = next->free;
    }
    return best;
  }

  /// Returns the nodes with the lowest ids, at most `most`, ascending. Nodes in avoided domains are left out.
  std::vector<NodeId> first_ids(Groups::const_iterator group, Groups::const_iterator end, std::size_t most) const {
    std::vector<NodeId> ids;
    const bool is_one = group + 1 == end;
    for (; group != end; ++group) {
      std::size_t left = most;
      for (auto id = group->ids.begin(); id != group->ids.end() && left > 0; ++id) {
        if (is_avoided(request_, rooms_, *id)) continue;
        ids.push_back(*id);
        --left;
      }
    }
    if (!is_one) std::ranges::sort(ids);
    if (ids.size() > most) ids.resize(most);
    return ids;
  }

  void take(NodeId node, std::int64_t pods) {
    chosen_.insert(chosen_.end(), static_cast<std::size_t>(pods), node);
    left_ -= pods;
  }

  const Rooms& rooms_;
  const Request& request_;
  Groups used_, untouched_;
  std::int64_t left_ = 0;
  std::vector<NodeId> chosen_;
};

}  // namespace

Room room_in(const Rooms& rooms, const FreeNodes& nodes, const Request& request) {
  Room sum;
  const auto count = [&](const auto& ids) {
    if (request.avoided == nullptr) return static_cast<std::int64_t>(std::ranges::distance(ids));
    return std::int64_t{std::ranges::count_if(ids, [&](NodeId id) { return !is_avoided(request, rooms, id); })};
  };
  each_group(nodes, request, MilliGpu{}, [&](const NodeSpace& space, const std::set<NodeId>& ids) {
    const std::int64_t all = count(ids);
    sum.nodes += all;
    sum.free += usable(space.free, request) * all;
    if (all == 0 || fleet::places(space.free, request.gpus_per_pod) == 0) return;
    if (gpus_decide(space, request)) {
      sum.pods += all * fleet::places(space.free, request.gpus_per_pod);
      return;
    }
    for (const NodeId id : ids) sum.pods += slots(*rooms.find(id), id, request);
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

/// Returns the node that takes the most pods of the request. Ties go to the fullest node, then to the lowest id.
NodeChoice best_node(const Rooms& rooms, const FreeNodes& nodes, const Request& request) {
  NodeChoice best;
  each_group(nodes, request, MilliGpu{}, [&](const NodeSpace& space, const std::set<NodeId>& ids) {
    const std::int64_t by_gpus = fleet::places(space.free, request.gpus_per_pod);
    const bool are_equal = gpus_decide(space, request);
    NodeChoice node{.id = {}, .free = usable(space.free, request)};
    for (const NodeId id : ids) {
      node.id = id;
      node.slots = std::min(by_gpus, request.pods);
      if (best.slots >= 0 && best.rank() <= node.rank()) return;
      if (is_avoided(request, rooms, id)) continue;
      if (!are_equal) node.slots = std::min(slots_in(*rooms.find(id), request), request.pods);
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

/// Returns an upper bound on the pods of the request that a domain takes. With it, a search need not count the nodes of
/// a domain whose bound is too low. A tighter, more expensive bound is computed only if the first bound is above
/// `enough`.
std::int64_t most_pods(const DomainRoom& domain, const Request& request, std::int64_t enough) {
  const std::int64_t by_sum = std::min(domain.free.count / request.gpus_per_pod.count, request.pods);
  if (by_sum <= enough) return by_sum;
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
    fit.nodes = NodeChooser(rooms, domain->nodes, request).choose();
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
  // At level `cluster` one domain contains nearly all nodes, so a revision would cost as much as a search. In addition,
  // the nodes without a cluster form a domain without an id, which changed_domains() leaves out.
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
    const DomainRoom& domain = *rooms.find({request.level, fit.best_domain, request.gpu});
    fit.nodes = NodeChooser(rooms, domain.nodes, request).choose();
  }
  return true;
}

/// Returns the number of pods that the nodes of a set would take by their GPUs if they were empty: all nodes together,
/// or only the node that takes the most.
std::int64_t pods_if_empty(const FreeNodes& nodes, const Request& request, bool is_one_node) {
  std::int64_t most = 0;
  each_group(nodes, request, MilliGpu{}, [&](const NodeSpace& space, const std::set<NodeId>& ids) {
    const std::int64_t pods = fleet::places(fleet::free_gpus(space.gpus, {}), request.gpus_per_pod);
    most = is_one_node ? std::max(most, pods) : most + std::ssize(ids) * pods;
  });
  return most;
}

}  // namespace

bool may_use(const NodeRoom* room, const Request& request) {
  if (room == nullptr || !room->open || !admits(request, room->node_class)) return false;
  return room->gpu == request.gpu || request.gpus_per_pod == MilliGpu{};
}

MilliGpu usable(const FreeGpus& free, const Request& request) {
  return request.gpus_per_pod.count % 1'000 == 0 ? whole_gpus(free.whole()) : free.sum;
}

std::int64_t slots(const NodeRoom& room, NodeId id, const Request& request) {
  if (!room.open || is_avoided(request, room, id)) return 0;
  return slots_in(room, request);
}

std::int64_t pods_by_gpus(const FreeNodes& nodes, const Request& request) {
  std::int64_t pods = 0;
  each_group(nodes, request, request.gpus_per_pod, [&](const NodeSpace& space, const std::set<NodeId>& ids) {
    pods += std::ssize(ids) * fleet::places(space.free, request.gpus_per_pod);
  });
  return pods;
}

Fit best_fit(const Rooms& rooms, const Request& request) {
  return request.level == TopologyLevel::node ? fit_on_node(rooms, request) : fit_in_domain(rooms, request);
}

Fit fit_inside(const Rooms& rooms, const Request& request, DomainId domain) {
  Request inside = request;
  inside.only_node = NodeId{0};  // any valid id: it limits the search to `only_domain`, as for a gang with a bound pod
  inside.only_domain = domain;
  return fit_in_domain(rooms, inside);
}

bool revise(Fit& refusal, const Rooms& rooms, const Request& request, std::span<const AssumedRooms::Change> changes) {
  return request.level == TopologyLevel::node ? revise_on_node(refusal, rooms, request, changes)
                                              : revise_in_domain(refusal, rooms, request, changes);
}

NodeId first_with_room(const Rooms& rooms, const Request& request) {
  const FreeNodes* nodes = rooms.nodes_of(request.gpu);
  NodeId first;
  if (nodes == nullptr) return first;
  each_group(*nodes, request, request.gpus_per_pod, [&](const NodeSpace&, const std::set<NodeId>& ids) {
    for (const NodeId id : ids) {
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
    return nodes == nullptr ? 0 : pods_if_empty(*nodes, request, true);
  }
  const auto* domains = rooms.domains_by_free(request.level, request.gpu);
  if (domains == nullptr) return 0;
  std::int64_t most = 0;
  for (const auto& [free, domain] : *domains) {
    most = std::max(most, pods_if_empty(rooms.find({request.level, domain, request.gpu})->nodes, request, false));
  }
  return most;
}

}  // namespace capstan::decide::place
