#include "decide/place/shortfall_reason.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "decide/place/fit_sets.h"
#include "model/resource_number.h"

namespace capstan::decide::place {
namespace {

using model::Reason;
using model::ReasonCode;

/// Number of domains, in addition to the best domain of the gang, in which a search looks for enough free GPUs. The
/// domains with the most free GPUs are searched.
constexpr int kSearchedDomains = 2;

/// Nodes on which the pods would have enough GPUs.
struct Place {
  DomainId domain{};                 ///< none at level `node`
  const FreeNodes* nodes = nullptr;  ///< the nodes of the domain, or all nodes of the GPU kind; null: only `node`
  NodeId node{};                     ///< node of the bound pods of a gang that needs one node
  MilliGpu free{};                   ///< free GPUs of the domain; at level `node`, of the node with the most
};

/// Calls `visit(space, ids)` for each group of nodes with enough GPUs for `pods_per_node` pods.
template <typename Visit>
void each_group_for(const FreeNodes& nodes, const Request& request, std::int64_t pods_per_node, Visit visit) {
  for (const auto& [node_class, by_space] : nodes.by_class()) {
    if (request.pod_class != nullptr && !request.pod_class->admits(node_class)) continue;
    const FreeGpus least{request.gpus_per_pod * pods_per_node};
    for (auto group = by_space.lower_bound({least}); group != by_space.end(); ++group) {
      if (fleet::places(group->first.free, request.gpus_per_pod) >= pods_per_node) visit(group->first, group->second);
    }
  }
}

/// Calls `visit(id, room)` for each node of a place that has enough GPUs for one pod. At level `node`, it must
/// have enough GPUs for all pods.
template <typename Visit>
void each_node(const Rooms& rooms, const Request& request, const Place& place, Visit visit) {
  if (place.nodes == nullptr) return visit(place.node, *rooms.find(place.node));
  const std::int64_t pods_per_node = request.level == TopologyLevel::node ? request.pods : 1;
  each_group_for(*place.nodes, request, pods_per_node, [&](const NodeSpace&, const std::set<NodeId>& ids) {
    for (const NodeId id : ids) visit(id, *rooms.find(id));
  });
}

/// Returns the nodes of the GPU kind, or the one node that the gang needs. Returns no value if none of them has enough
/// GPUs for all pods.
std::optional<Place> nodes_with_gpus(const Rooms& rooms, const Request& request) {
  if (request.only_node.valid()) {
    const NodeRoom* room = rooms.find(request.only_node);
    if (!may_use(room, request) || fleet::places(room->free, request.gpus_per_pod) < request.pods) return std::nullopt;
    return Place{.node = request.only_node, .free = usable(room->free, request)};
  }
  Place place{.nodes = rooms.nodes_of(request.gpu)};
  if (place.nodes == nullptr) return std::nullopt;
  bool has_any = false;
  each_group_for(*place.nodes, request, request.pods, [&](const NodeSpace& space, const std::set<NodeId>&) {
    has_any = true;
    place.free = std::max(place.free, usable(space.free, request));
  });
  return has_any ? std::optional(place) : std::nullopt;
}

/// Returns a domain with enough GPUs for all pods. The best domain of the gang is tried first.
std::optional<Place> domain_with_gpus(const Rooms& rooms, const Request& request, DomainId best) {
  const auto place_in = [&](DomainId id) -> std::optional<Place> {
    const DomainRoom* domain = rooms.find({request.level, id, request.gpu});
    if (domain == nullptr || domain->free < request.gpus_per_pod * request.pods) return std::nullopt;
    if (pods_by_gpus(domain->nodes, request) < request.pods) return std::nullopt;
    return Place{.domain = id, .nodes = &domain->nodes, .free = domain->free};
  };
  if (auto place = place_in(best)) return place;
  const auto* domains = rooms.domains_by_free(request.level, request.gpu);
  if (domains == nullptr || request.only_node.valid()) return std::nullopt;
  int left = kSearchedDomains;
  for (auto next = domains->rbegin(); next != domains->rend() && left > 0; ++next, --left) {
    if (auto place = place_in(next->second)) return place;
  }
  return std::nullopt;
}

std::optional<Place> place_with_gpus(const Rooms& rooms, const Request& request, DomainId best) {
  return request.level == TopologyLevel::node ? nodes_with_gpus(rooms, request)
                                              : domain_with_gpus(rooms, request, best);
}

/// Returns a class whose pods no running pods keep away.
model::PodClass without_neighbors(const model::PodClass& pods) {
  model::PodClass alone = pods;
  for (std::size_t i = 0; i < alone.kept_apart.size() && i < alone.node_classes.size(); ++i) {
    if (alone.kept_apart[i]) alone.node_classes[i] = true;
  }
  return alone;
}

/// Returns a place with enough GPUs that would admit the pods if no running pod kept them away. Returns no value if no
/// running pod keeps them away, or if there is no such place.
std::optional<Place> place_without_neighbors(const Rooms& rooms, const Request& request, DomainId best) {
  if (request.pod_class->kept_apart.empty()) return std::nullopt;
  const model::PodClass alone = without_neighbors(*request.pod_class);
  Request any = request;
  any.pod_class = &alone;
  return place_with_gpus(rooms, any, best);
}

/// Returns the reason that names the scarcest resource of a place with enough GPUs. Returns no value if its other
/// resources suffice, too.
std::optional<Reason> lack_of_resource(const Rooms& rooms, const Request& request, const Place& place) {
  if (request.pod_class == nullptr) return std::nullopt;
  const model::Resources& needed = request.pod_class->requests;
  const bool is_one_node = request.level == TopologyLevel::node;
  struct Sum {
    std::int64_t pods = 0;  ///< pods for which the resource suffices
    std::int64_t most = 0;  ///< largest amount on one node
  };
  std::vector<Sum> sums(model::kStandardResources.size() + needed.extended.size());
  std::int64_t pods = 0;
  each_node(rooms, request, place, [&](NodeId id, const NodeRoom& room) {
    const std::int64_t by_gpus = fleet::places(room.free, request.gpus_per_pod);
    const std::int64_t here = slots(room, id, request);
    pods = is_one_node ? std::max(pods, here) : pods + here;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::int64_t amount = amount_at(needed, i);
      if (amount <= 0) continue;
      const std::int64_t left = room.available ? std::max<std::int64_t>(amount_at(*room.available, i), 0) : 0;
      const std::int64_t fits = room.available ? std::min(by_gpus, left / amount) : by_gpus;
      sums[i].pods = is_one_node ? std::max(sums[i].pods, fits) : sums[i].pods + fits;
      sums[i].most = std::max(sums[i].most, left);
    }
  });
  if (pods >= request.pods) return std::nullopt;
  std::optional<std::size_t> scarcest;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (amount_at(needed, i) > 0 && (!scarcest || sums[i].pods < sums[*scarcest].pods)) scarcest = i;
  }
  if (!scarcest) return std::nullopt;
  return Reason{ReasonCode::resource_short,
                {request.pods - pods, static_cast<std::int64_t>(*scarcest), amount_at(needed, *scarcest),
                 model::reason_number(place.domain), model::reason_number(request.level), sums[*scarcest].most}};
}

}  // namespace

std::optional<Reason> reason_of_other_set(Rooms& rooms, std::vector<Request> sets, const Shortfall& lack) {
  const auto all = std::span(lack.short_pods).first(lack.spec.sets());
  const auto set =
      static_cast<std::size_t>(std::ranges::find_if(all, [](std::int64_t pods) { return pods > 0; }) - all.begin());
  if (set == all.size() || (set == 0 && lack.spec.pods.gpus_per_pod > MilliGpu{})) return std::nullopt;
  Request& request = sets[set];
  Reason why{ReasonCode::pod_set_short,
             {lack.short_pods[set], request.pods, request.gpus_per_pod.count, model::reason_number(lack.best_domain),
              model::reason_number(request.level)}};
  if (request.pod_class == nullptr || request.pod_class->kept_apart.empty()) return why;
  const model::PodClass alone = without_neighbors(*request.pod_class);
  request.pod_class = &alone;
  const BestPlace best = best_fit_of_sets(rooms, sets);
  if (best.pods_of(set) < request.pods) return why;
  return Reason{ReasonCode::pod_set_kept_apart,
                {lack.short_pods[set], request.pods, request.gpus_per_pod.count, model::reason_number(best.best_domain),
                 model::reason_number(request.level), model::reason_number(lack.spec.set(set).pod_class)}};
}

Reason reason_of_shortfall(const Rooms& rooms, const Request& request, const Shortfall& lack) {
  const std::int64_t level = model::reason_number(request.level);
  const std::int64_t best = model::reason_number(lack.best_domain), gpu = lack.spec.pods.gpu.value;
  const std::int64_t best_free = lack.best_free.count / 1'000;
  // Smaller pods of the gang count only if the larger ones have room.
  const MilliGpu needed = request.gpus_per_pod * request.pods;
  const std::int64_t short_pods = lack.short_pods.front();
  if (const auto place = place_with_gpus(rooms, request, lack.best_domain)) {
    if (const auto lacked = lack_of_resource(rooms, request, *place)) return *lacked;
  } else if (request.pod_class != nullptr) {
    Request any = request;
    any.pod_class = nullptr;
    if (const auto apart = place_without_neighbors(rooms, request, lack.best_domain)) {
      return {ReasonCode::pods_kept_apart,
              {gpus_up(needed), best_free, model::reason_number(apart->domain), level,
               model::reason_number(lack.spec.pods.pod_class), apart->free.count / 1'000}};
    }
    if (const auto excluded = place_with_gpus(rooms, any, lack.best_domain)) {
      return {ReasonCode::nodes_exclude_pods,
              {gpus_up(needed), best_free, model::reason_number(excluded->domain), level, gpu,
               excluded->free.count / 1'000}};
    }
  }
  if (lack.best_free >= needed) {
    const std::int64_t fit = request.pods - short_pods;
    return {ReasonCode::gpus_scattered, {fit, request.pods, request.gpus_per_pod.count, best, level, best_free}};
  }
  return {ReasonCode::shortfall,
          {gpus_up(request.gpus_per_pod * short_pods), best_free, gpus_up(needed), best, level, gpu}};
}

}  // namespace capstan::decide::place
