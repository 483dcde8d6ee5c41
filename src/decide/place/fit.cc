#include "decide/place/fit.h"

#include <algorithm>
#include <tuple>

namespace capstan::decide::place {
namespace {

/// Chooses a node for each pod among `nodes`, which together take them all.
std::vector<NodeId> spread(const Rooms& rooms, const std::set<NodeId>& nodes, const Request& request) {
  struct Candidate {
    NodeId id;
    MilliGpu free;
    std::int64_t slots;
    bool untouched;
  };
  std::vector<Candidate> candidates;
  std::int64_t in_used = 0;
  for (NodeId id : nodes) {
    const NodeRoom& room = *rooms.find(id);
    const std::int64_t n = slots(room, request.gpus_per_pod);
    if (n == 0) continue;
    const bool untouched = room.free == room.gpus;
    candidates.push_back({id, room.free, n, untouched});
    in_used += untouched ? 0 : n;
  }
  // Used nodes come first when they can take everything; otherwise untouched ones have to be opened anyway, and as few
  // of them as possible: the used ones are filled to the end, largest first.
  std::vector<NodeId> chosen;
  std::int64_t left = request.pods;
  const bool used_suffice = in_used >= left;
  if (used_suffice) std::erase_if(candidates, [](const Candidate& c) { return c.untouched; });
  while (left > 0) {
    const auto better = [&](const Candidate& a, const Candidate& b) {
      const bool a_all = a.slots >= left, b_all = b.slots >= left;
      if (a.untouched != b.untouched) return b.untouched;
      if (a_all != b_all) return a_all;
      if (a_all) return std::tuple(a.free, a.id) < std::tuple(b.free, b.id);
      return std::tuple(b.slots, a.free, a.id) < std::tuple(a.slots, b.free, b.id);
    };
    const auto best = std::ranges::min_element(candidates, better);
    const std::int64_t taken = std::min(best->slots, left);
    chosen.insert(chosen.end(), static_cast<std::size_t>(taken), best->id);
    left -= taken;
    candidates.erase(best);
  }
  return chosen;
}

Fit fit_on_node(const Rooms& rooms, const Request& request) {
  Fit fit;
  const auto consider = [&](NodeId id) {
    const NodeRoom& room = *rooms.find(id);
    fit.best_node = id;
    fit.best_free = room.free;
    fit.best_pods = std::min(slots(room, request.gpus_per_pod), request.pods);
    if (fit.best_pods == request.pods) fit.nodes.assign(static_cast<std::size_t>(request.pods), id);
  };
  if (request.only_node.valid()) {
    const NodeRoom* room = rooms.find(request.only_node);
    if (room != nullptr && room->open && room->gpu == request.gpu) consider(request.only_node);
    return fit;
  }
  const auto* nodes = rooms.nodes_by_free(request.gpu);
  if (nodes == nullptr) return fit;
  const auto enough = nodes->lower_bound({request.gpus_per_pod * request.pods, NodeId{0}});
  if (enough != nodes->end()) {
    consider(enough->second);
    return fit;
  }
  // The emptiest node takes the most pods; among those that take as many, the fullest.
  const std::int64_t most = nodes->rbegin()->first.count / request.gpus_per_pod.count;
  consider(nodes->lower_bound({request.gpus_per_pod * most, NodeId{0}})->second);
  return fit;
}

std::int64_t slots_in(const Rooms& rooms, const DomainRoom& domain, MilliGpu gpus_per_pod) {
  std::int64_t sum = 0;
  for (NodeId id : domain.nodes) sum += slots(*rooms.find(id), gpus_per_pod);
  return sum;
}

Fit fit_in_domain(const Rooms& rooms, const Request& request) {
  Fit fit;
  const auto consider = [&](DomainId id) {
    const DomainRoom* domain = rooms.find({request.level, id, request.gpu});
    if (domain == nullptr) return false;
    // The aggregate is an upper bound: a domain that cannot beat the best so far is not looked into.
    const std::int64_t bound = domain->free.count / request.gpus_per_pod.count;
    const bool first = !fit.best_domain.valid() && fit.best_pods == 0;
    if (!first && std::min(bound, request.pods) <= fit.best_pods) return false;
    const std::int64_t pods = std::min(slots_in(rooms, *domain, request.gpus_per_pod), request.pods);
    if (!first && pods <= fit.best_pods) return false;
    fit.best_domain = id;
    fit.best_free = domain->free;
    fit.best_pods = pods;
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

}  // namespace

std::int64_t slots(const NodeRoom& room, MilliGpu gpus_per_pod) {
  return room.open ? room.free.count / gpus_per_pod.count : 0;
}

Fit best_fit(const Rooms& rooms, const Request& request) {
  return request.level == TopologyLevel::node ? fit_on_node(rooms, request) : fit_in_domain(rooms, request);
}

NodeId first_with_room(const Rooms& rooms, GpuKindId gpu, MilliGpu gpus) {
  const auto* nodes = rooms.nodes_by_free(gpu);
  if (nodes == nullptr) return {};
  NodeId first;
  for (auto it = nodes->lower_bound({gpus, NodeId{0}}); it != nodes->end(); ++it) first = std::min(first, it->second);
  return first;
}

std::int64_t most_pods_ever(const Rooms& rooms, const Request& request) {
  std::int64_t most = 0;
  const auto* nodes = rooms.nodes_by_free(request.gpu);
  if (nodes == nullptr) return 0;
  if (request.level == TopologyLevel::node) {
    for (const auto& [free, id] : *nodes) {
      most = std::max(most, rooms.find(id)->gpus.count / request.gpus_per_pod.count);
    }
    return most;
  }
  const auto* domains = rooms.domains_by_free(request.level, request.gpu);
  if (domains == nullptr) return 0;
  for (const auto& [free, domain] : *domains) {
    std::int64_t pods = 0;
    for (NodeId id : rooms.find({request.level, domain, request.gpu})->nodes) {
      pods += rooms.find(id)->gpus.count / request.gpus_per_pod.count;
    }
    most = std::max(most, pods);
  }
  return most;
}

}  // namespace capstan::decide::place
