#include "decide/place/room_search.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "decide/place/fit_sets.h"
#include "decide/place/shortfall_reason.h"

namespace capstan::decide::place {
namespace {

/// Largest number of changes for which a refusal is revised. After more changes a search is cheaper.
constexpr std::size_t kMaxRevisedChanges = 256;

/// Returns true if all pods of the gang are equal and need GPUs.
bool is_simple(const GangPods& gang) {
  return gang.request.spec.other_pods.empty() && gang.request.spec.pods.gpus_per_pod > MilliGpu{};
}

/// Calls `visit(purchase, pods on one node)` for each purchase of nodes that may run the pods of the first set.
template <typename Visit>
void for_each_purchase(const model::Catalog& catalog, const Shortfall& shape, Visit visit) {
  for (std::uint32_t p = 0; p < catalog.pools.size(); ++p) {
    for (const model::OfferingId id : catalog.pools[p].offerings) {
      const model::Offering& offering = catalog.offering(id);
      if (offering.gpu != shape.spec.pods.gpu || shape.avoids({{p}, id})) continue;
      if (!catalog.eligibility.admits(shape.spec.pods.pod_class, {{p}, id})) continue;
      visit(model::Purchase{{p}, id}, fleet::places({whole_gpus(offering.gpus)}, shape.spec.pods.gpus_per_pod));
    }
  }
}

std::int64_t most_of_one_pool(const model::Catalog& catalog, const Shortfall& shape) {
  std::int64_t most = 0;
  for_each_purchase(catalog, shape, [&](const model::Purchase& purchase, std::int64_t per_node) {
    const GpuCount pool_limit = catalog.pools[purchase.pool.value].limits.gpus;
    std::int64_t nodes = catalog.nodes_within_limits(purchase.pool, purchase.offering);
    nodes = std::min(nodes, catalog.limits.gpus.value_or(pool_limit) / catalog.offering(purchase.offering).gpus);
    nodes = std::min(nodes, catalog.limits.nodes.value_or(nodes));
    if (shape.spec.required_level == TopologyLevel::node) nodes = std::min<std::int64_t>(nodes, 1);
    most = std::max(most, nodes * per_node);
  });
  return most;
}

}  // namespace

RoomSearch::RoomSearch(const model::Snapshot& snapshot, AssumedRooms& rooms, SpreadConstraint& spread)
    : snapshot_(snapshot), rooms_(rooms), spread_(spread) {
  ++rooms_.refusals.cycle;
}

RoomSearch::LevelFit RoomSearch::find(const GangPods& gang) {
  const SearchSubject subject{gang.request.gang, gang.request.service, gang.request.ordinal};
  const SpreadConstraint::Distribution* spread =
      gang.bound.empty() ? spread_.distribution_of(gang.request.service) : nullptr;
  if (spread == nullptr) {
    return narrowest_fit(gang, [&](const Request& request) {
      const bool is_new = gang.bound.empty();
      return with_note(subject, request, is_new ? fit_of_class(gang, request) : search(gang, request));
    });
  }
  // The refusal of another replica of the service with the same request is valid until the rooms change, because the
  // distribution of the replicas changes only together with the rooms. If places are kept for explanations, the search
  // is done for each gang, because these places are stored by gang.
  const auto known = spread_refusals_.find({gang.request.service, gang.request.spec});
  const bool is_known = known != spread_refusals_.end() && known->second.version == rooms_.version();
  return is_known && searches_ == nullptr ? known->second.found : find_spread(gang, *spread);
}

/// Searches for room for a replica of a service that must survive the loss of a domain.
RoomSearch::LevelFit RoomSearch::find_spread(const GangPods& gang, const SpreadConstraint::Distribution& spread) {
  ++rooms_.refusals.searches;
  const SearchSubject subject{gang.request.gang, gang.request.service, gang.request.ordinal};
  LevelFit found{{}, gang.request.spec.required_level};
  for (const ReplicaCount most : spread.replica_limits()) {
    const std::set<FailureDomain> avoided = spread.domains_above(most);
    found = narrowest_fit(gang, [&](Request request) {
      request.avoided = &avoided;
      request.avoided_level = spread.level;
      return with_note(subject, request, search(gang, request));
    });
    if (!found.fit.nodes.empty()) return found;
  }
  spread_refusals_.insert_or_assign({gang.request.service, gang.request.spec}, SpreadRefusal{rooms_.version(), found});
  return found;
}

std::int64_t RoomSearch::most_ever(const GangPods& gang) {
  const Request request = request_of(gang, gang.request.spec.required_level);
  if (!gang.bound.empty()) return max_pods_if_empty(rooms_.rooms(), request);
  fleet::Refusal& known = refusal_of(gang, gang.request.spec.required_level);
  if (!known.pods_if_empty || known.layout != rooms_.layout()) {
    known.pods_if_empty = max_pods_if_empty(rooms_.rooms(), request);
    known.layout = rooms_.layout();
  }
  return *known.pods_if_empty;
}

std::int64_t RoomSearch::most_buyable(const GangPods& gang) {
  const auto [known, is_new] = buyable_.try_emplace(gang.request.spec);
  if (is_new) known->second = most_of_one_pool(*snapshot_.catalog, gang.request);
  return known->second;
}

bool RoomSearch::higher_limits_suffice(const GangPods& gang) const {
  const bool is_one_node = gang.request.spec.required_level == TopologyLevel::node;
  const std::int64_t needed_per_node = is_one_node ? gang.request.spec.pods.count : 1;
  bool suffice = false;
  for_each_purchase(*snapshot_.catalog, gang.request, [&](const model::Purchase&, std::int64_t per_node) {
    suffice = suffice || per_node >= needed_per_node;
  });
  return suffice;
}

std::int64_t RoomSearch::most_on_all_nodes(const GangPods& gang) {
  Request request = request_of(gang, gang.request.spec.required_level);
  request.pod_class = nullptr;
  Shortfall any = gang.request;
  any.spec.pods.pod_class = {};
  fleet::Refusal& known = refusal_of(gang, gang.request.spec.required_level);
  if (!known.pods_on_all_nodes || known.layout_of_all_nodes != rooms_.layout()) {
    known.pods_on_all_nodes = max_pods_if_empty(rooms_.rooms(), request);
    known.layout_of_all_nodes = rooms_.layout();
  }
  return std::max(*known.pods_on_all_nodes, most_of_one_pool(*snapshot_.catalog, any));
}

model::Reason RoomSearch::reason_of(const GangPods& gang, const Shortfall& lack) {
  if (!gang.bound.empty()) return find_reason(gang, lack);
  const auto [known, is_new] = reasons_.try_emplace(gang.request.spec);
  const auto key = [](const Shortfall& of) {
    return std::tie(of.best_domain, of.best_node, of.best_free, of.short_by, of.short_pods);
  };
  if (is_new || known->second.version != rooms_.version() || key(known->second.lack) != key(lack)) {
    known->second = {rooms_.version(), lack};
    known->second.lack.why = find_reason(gang, lack);
  }
  return known->second.lack.why;
}

model::Reason RoomSearch::find_reason(const GangPods& gang, const Shortfall& lack) {
  const Request request = request_of(gang, gang.request.spec.required_level);
  const auto lacked = reason_of_other_set(rooms_.rooms_for_trial(), requests_of_sets(gang, request), lack);
  return lacked ? *lacked : reason_of_shortfall(rooms_.rooms(), request, lack);
}

Fit RoomSearch::with_note(const SearchSubject& subject, const Request& request, Fit fit) const {
  if (searches_ != nullptr) note_search(*searches_, subject, rooms_.rooms(), request, fit);
  return fit;
}

void RoomSearch::forget_unused() {
  std::erase_if(rooms_.refusals.rows, [&](const auto& row) { return row.second.cycle != rooms_.refusals.cycle; });
}

Request RoomSearch::request_of(const GangPods& gang, model::Level level) const {
  Request request{.gpu = gang.request.spec.pods.gpu,
                  .level = level,
                  .pods = gang.request.spec.pods.count,
                  .gpus_per_pod = gang.request.spec.pods.gpus_per_pod,
                  .pod_class = snapshot_.catalog->eligibility.find(gang.request.spec.pods.pod_class)};
  if (gang.bound.empty()) return request;
  request.only_node = gang.bound.front();
  if (const NodeRoom* room = rooms_.rooms().find(request.only_node)) {
    request.only_domain = room->domains.domain_at(level);
  }
  return request;
}

/// Tries the level that the gang prefers and then wider ones up to the level that it requires. Without room, the
/// result is that of the required level.
template <typename FitAt>
RoomSearch::LevelFit RoomSearch::narrowest_fit(const GangPods& gang, FitAt fit_at) const {
  const model::GangSpec& spec = gang.request.spec;
  LevelFit found{{}, spec.required_level};
  for (const model::Level level :
       model::levels_to_try(snapshot_.catalog->topologies, spec.required_level, spec.preferred)) {
    found = {fit_at(request_of(gang, level)), level};
    if (!found.fit.nodes.empty()) break;
  }
  return found;
}

/// Returns the requests of all sets of the gang.
/// @param request  request of the first set
std::vector<Request> RoomSearch::requests_of_sets(const GangPods& gang, const Request& request) const {
  std::vector<Request> sets = {request};
  for (const model::PodSet& pods : gang.request.spec.other_pods) {
    Request& other = sets.emplace_back(request);
    other.gpu = pods.gpu;
    other.pods = pods.count;
    other.gpus_per_pod = pods.gpus_per_pod;
    other.pod_class = snapshot_.catalog->eligibility.find(pods.pod_class);
  }
  return sets;
}

/// Searches room for all pods of a gang that need a node.
/// @param request  request of the first set
Fit RoomSearch::search(const GangPods& gang, const Request& request) {
  return is_simple(gang) ? best_fit(rooms_.rooms(), request)
                         : best_fit_of_sets(rooms_.rooms_for_trial(), requests_of_sets(gang, request));
}

/// Finds room for a gang without bound pods. A refusal is kept for all equal gangs. The next search for such a gang
/// counts only the nodes that have changed since then.
Fit RoomSearch::fit_of_class(const GangPods& gang, const Request& request) {
  fleet::Refusal& known = refusal_of(gang, request.level);
  Fit fit;
  if (!revise_known(fit, known, gang, request)) {
    ++rooms_.refusals.searches;
    fit = search(gang, request);
  }
  if (fit.nodes.empty()) {
    known.best = fit;
    known.version = rooms_.version();
  }
  return fit;
}

/// Updates a known refusal and writes the result into `fit`. Returns false if a search is needed instead. If the gang
/// is not simple, the refusal is used only while no node has changed.
bool RoomSearch::revise_known(Fit& fit, const fleet::Refusal& known, const GangPods& gang,
                              const Request& request) const {
  if (!known.best) return false;
  static_cast<BestPlace&>(fit) = *known.best;
  if (known.version == rooms_.version()) return true;
  if (!is_simple(gang)) return false;
  const auto changes = rooms_.changes_since(known.version);
  if (!changes || changes->size() > kMaxRevisedChanges) return false;
  return revise(fit, rooms_.rooms(), request, *changes);
}

/// Returns the refusal of gangs with the same request that require the level. Adds an empty one if there is none.
fleet::Refusal& RoomSearch::refusal_of(const GangPods& gang, model::Level level) {
  model::GangSpec spec = gang.request.spec;
  spec.required_level = level;
  spec.preferred.reset();
  fleet::Refusal& refusal = rooms_.refusals.rows[spec];
  refusal.cycle = rooms_.refusals.cycle;
  return refusal;
}

}  // namespace capstan::decide::place
