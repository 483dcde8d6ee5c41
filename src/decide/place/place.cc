#include "decide/place/place.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/known_row.h"
#include "decide/place/coming_nodes.h"
#include "decide/place/fit.h"
#include "decide/place/queue_budget.h"
#include "decide/place/spread_constraint.h"

namespace capstan::decide::place {
namespace {

using model::Gang;
using model::Plan;
using model::Reason;
using model::ReasonCode;

/// The pods of a gang, grouped by whether they need a node.
struct GangPods {
  Shortfall shape;             ///< the gang and its request
  std::vector<PodId> pods;     ///< pods that need a node
  std::vector<NodeId> bound;   ///< nodes of the other pods
  std::int64_t have_node = 0;  ///< pods with a node, including nodes that are not in the snapshot
  QueueAsk ask;                ///< GPUs that `pods` would add to their queues
  std::int64_t leaving = 0;    ///< pods that terminate or are gone
};

/// Returns true if a pod has a node. The node may be absent from the snapshot, for example while its device plugin
/// restarts; its pods keep running.
bool has_node(const model::Pod& pod) {
  return pod.node.valid() || pod.phase == model::Pod::Phase::starting || pod.phase == model::Pod::Phase::ready;
}

/// Returns true if some pods of the gang have a node, but too few to be useful. The first pod serves the requests:
/// while it is ready, the gang is useful with any number of pods.
bool is_broken(const model::Snapshot& snapshot, const Gang& gang) {
  std::int64_t have_node = 0;
  for (const PodId id : gang.pods) {
    const model::Pod* pod = snapshot.pods.find(id);
    have_node += pod != nullptr && has_node(*pod) ? 1 : 0;
  }
  const model::Pod* first = snapshot.pods.find(gang.pods.front());
  const bool serves = first != nullptr && first->phase == model::Pod::Phase::ready;
  return have_node > 0 && have_node < gang.spec.pods.needed() && !serves;
}

MilliGpu gpus_of(const model::GangSpec& spec) { return spec.pods.gpus_per_pod * spec.pods.count; }

GangPods gang_pods_of(const model::Snapshot& snapshot, GangId id, const Gang& gang) {
  GangPods gang_pods;
  gang_pods.shape = {.gang = id,
                     .service = gang.service,
                     .ordinal = gang.ordinal,
                     .spec = gang.spec,
                     .needed = {},
                     .short_by = {},
                     .best_domain = {},
                     .best_node = {},
                     .best_free = {},
                     .bound_to_best = false,
                     .avoided_purchases = {},
                     .preferred_zone = {}};
  for (PodId pod_id : gang.pods) {
    const model::Pod* pod = snapshot.pods.find(pod_id);
    if (pod == nullptr || pod->phase == model::Pod::Phase::terminating)
      ++gang_pods.leaving;
    else if (pod->node.valid())
      gang_pods.bound.push_back(pod->node);
    else if (!has_node(*pod))
      gang_pods.pods.push_back(pod_id);
    gang_pods.have_node += pod != nullptr && has_node(*pod) ? 1 : 0;
  }
  gang_pods.shape.spec.pods.count = static_cast<std::int64_t>(gang_pods.pods.size());
  gang_pods.shape.spec.pods.minimum = 0;
  gang_pods.shape.needed = gpus_of(gang_pods.shape.spec);
  return gang_pods;
}

GangPods gang_pods_of(const model::Catalog& catalog, const model::PlannedGang& planned) {
  const model::Workload& workload = catalog.service(planned.service).workload;
  GangPods gang_pods;
  gang_pods.shape.service = planned.service;
  gang_pods.shape.ordinal = planned.ordinal;
  gang_pods.shape.spec = workload.gang();
  gang_pods.shape.needed = gpus_of(gang_pods.shape.spec);
  if (workload.queue.valid()) gang_pods.ask[workload.queue] = gang_pods.shape.needed;
  return gang_pods;
}

/// Most changes for which a refusal is revised. After more changes a search is cheaper.
constexpr std::size_t kMostRevisedChanges = 256;

/// Returns the assumed bindings with the room that each of them takes.
std::vector<AssumedPod> assumed_pods(const model::Snapshot& snapshot, const Memory& memory) {
  std::vector<AssumedPod> pods;
  pods.reserve(memory.assumed.size());
  for (const Memory::Assumed& assumed : memory.assumed) {
    const Gang* gang = snapshot.gangs.find(assumed.gang);
    const model::Pod& pod = snapshot.pods.at(assumed.pod);
    const bool is_repeated = !pods.empty() && pods.back().pod == assumed.pod;
    pods.push_back({.pod = assumed.pod,
                    .node = assumed.node,
                    .gpus = assumed.gpus,
                    .pod_class = gang == nullptr ? model::PodClassId{} : gang->spec.pods.pod_class,
                    .queue = is_repeated ? QueueId{} : pod.queue,
                    .queue_gpus = pod.gpus});
  }
  return pods;
}

/// Returns how many pods of the gang the nodes of one pool could hold together if the pool grew to its limit.
std::int64_t most_buyable(const model::Catalog& catalog, const Shortfall& shape) {
  std::int64_t most = 0;
  for (std::uint32_t p = 0; p < catalog.pools.size(); ++p) {
    const model::Pool& pool = catalog.pools[p];
    for (model::OfferingId id : pool.offerings) {
      const model::Offering& offering = catalog.offering(id);
      if (offering.gpu != shape.spec.pods.gpu || !shape.may_use(catalog, {{p}, id})) continue;
      const std::int64_t per_node = whole_gpus(offering.gpus).count / shape.spec.pods.gpus_per_pod.count;
      std::int64_t nodes = std::min(pool.gpu_limit, catalog.limits.gpus.value_or(pool.gpu_limit)) / offering.gpus;
      nodes = std::min(nodes, catalog.limits.nodes.value_or(nodes));
      if (shape.spec.together == TopologyLevel::node) nodes = std::min<std::int64_t>(nodes, 1);
      most = std::max(most, nodes * per_node);
    }
  }
  return most;
}

class Cycle {
 public:
  /// @param index  its assumed rooms are up to date
  Cycle(Index& index, const model::Snapshot& snapshot, const Policy& policy, Memory& memory, Instant now,
        const Leaving& leaving)
      : index_(index),
        snapshot_(snapshot),
        policy_(policy),
        memory_(memory),
        now_(now),
        leaving_(leaving),
        room_(index.assumed),
        queues_(snapshot, index),
        spread_(snapshot, index, memory) {
    ++room_.refusals.cycle;
    for (const auto& [node, pods] : room_.pods_by_node()) decision_.nominated.insert(decision_.nominated.end(), node);
  }

  Decision first_fit() {
    std::map<GangId, model::BindPods> binds;
    std::map<GangId, Reason> lacking;
    for (const auto& [created, pod_id] : index_.unbound_pods) {
      if (room_.has(pod_id)) continue;
      const model::Pod& pod = snapshot_.pods.at(pod_id);
      const Gang& gang = snapshot_.gangs.at(pod.gang);
      if (const auto full = queues_.refuses(queues_.ask_of({&pod_id, 1}))) {
        lacking[pod.gang] = *full;
        continue;
      }
      const Request request{.gpu = gang.spec.pods.gpu,
                            .gpus_per_pod = pod.gpus,
                            .pod_class = snapshot_.catalog->eligibility.find(gang.spec.pods.pod_class)};
      const NodeId node = first_with_room(room_.rooms(), request);
      if (!node.valid()) {
        lacking[pod.gang] = {ReasonCode::no_node_fits, {gang.spec.pods.gpus_per_pod.count, gang.spec.pods.gpu.value}};
        continue;
      }
      queues_.place({&pod_id, 1});
      room_.take(node, pod.gpus, requests(gang.spec.pods.pod_class));
      decision_.nominated.insert(node);
      model::BindPods& bind = binds[pod.gang];
      bind.gang = pod.gang;
      bind.bindings.push_back({pod_id, node});
    }
    for (const auto& [created, id] : index_.pending_gangs) {
      const MilliGpu per_pod = snapshot_.gangs.at(id).spec.pods.gpus_per_pod;
      const auto bind = binds.find(id);
      if (bind != binds.end()) {
        decision_.plan.actions.push_back({std::move(bind->second), {ReasonCode::placed_first_fit, {per_pod.count}}});
      }
      if (const auto lack = lacking.find(id); lack != lacking.end()) {
        keep(id, PlacementResult::Kind::cannot_fit_now, lack->second);
      } else if (bind != binds.end()) {
        decision_.verdicts.push_back(
            {id, PlacementResult::Kind::placed, {ReasonCode::placed_first_fit, {per_pod.count}}});
      } else {
        already_bound(id);
      }
    }
    return std::move(decision_);
  }

  Decision whole_gangs(std::span<const model::PlannedGang> planned) {
    for (const auto& [created, id] : index_.pending_gangs) place(id);
    tell_shortfalls();
    for (const model::PlannedGang& gang : planned) reserve(gang_pods_of(*snapshot_.catalog, gang));
    std::erase_if(room_.refusals.rows, [&](const auto& row) { return row.second.cycle != room_.refusals.cycle; });
    return std::move(decision_);
  }

 private:
  /// A gang that has no room.
  struct GangWithoutRoom {
    std::size_t verdict;  ///< position of its verdict
    std::size_t kept;     ///< position of its reason in the plan
    QueueAsk ask;
    Shortfall shortfall;
  };

  const model::Resources& requests(model::PodClassId pods) const {
    return snapshot_.catalog->eligibility.requests(pods);
  }

  void already_bound(GangId id) {
    keep(id, PlacementResult::Kind::assumed,
         {ReasonCode::binding_assumed, {static_cast<std::int64_t>(snapshot_.gangs.at(id).pods.size())}});
  }

  void keep(GangId id, PlacementResult::Kind kind, Reason why) {
    decision_.verdicts.push_back({id, kind, why});
    decision_.plan.kept.push_back({Plan::Kept::Subject::gang, id.value, why});
  }

  void place(GangId id) {
    const Gang& gang = snapshot_.gangs.at(id);
    if (placed_elsewhere(gang)) return;
    GangPods gang_pods = gang_pods_of(snapshot_, id, gang);
    if (gang_pods.leaving > 0) {
      return keep(id, PlacementResult::Kind::cannot_fit_now, {ReasonCode::pods_leaving, {gang_pods.leaving}});
    }
    if (!gang_pods.pods.empty() && room_.has(gang_pods.pods.front())) return already_bound(id);
    if (gang_pods.pods.empty()) return broken_row(id) != nullptr ? wait_or_give_up(id, gang_pods) : already_bound(id);
    if (gang_pods.have_node > static_cast<std::int64_t>(gang_pods.bound.size())) return wait_for_sight(id, gang_pods);
    gang_pods.ask = queues_.ask_of(gang_pods.pods);
    if (const auto full = queues_.refuses(gang_pods.ask)) return keep(id, PlacementResult::Kind::held_by_queue, *full);
    const auto [fit, level] = fit_of(gang_pods);
    if (!fit.nodes.empty()) {
      queues_.place(gang_pods.pods);
      model::BindPods bind{.gang = id, .bindings = {}};
      for (std::size_t i = 0; i < gang_pods.pods.size(); ++i) {
        room_.take(fit.nodes[i], gang.spec.pods.gpus_per_pod, requests(gang.spec.pods.pod_class));
        if (i == 0) spread_.place(gang.service, id, fit.nodes[i]);
        decision_.nominated.insert(fit.nodes[i]);
        bind.bindings.push_back({gang_pods.pods[i], fit.nodes[i]});
      }
      const Reason why = reason_of_place(gang_pods.shape.spec, level);
      decision_.plan.actions.push_back({std::move(bind), why});
      decision_.verdicts.push_back({id, PlacementResult::Kind::placed, why});
      return;
    }
    if (given_up(id, gang_pods)) return wait_or_give_up(id, gang_pods);
    // Counting the nodes that exist visits all of them, so it is done only if too little can be bought.
    const auto all = static_cast<std::int64_t>(gang.pods.size());
    const std::int64_t buyable = gang_pods.bound.empty() ? buyable_for(gang_pods) : all;
    if (buyable < all) {
      const std::int64_t largest = most_ever(gang_pods);
      if (largest < all) {
        return keep(id, PlacementResult::Kind::never_fits,
                    {ReasonCode::never_fits,
                     {gpus_up(gang.spec.pods.gpus_per_pod * all), gpus_up(gang.spec.pods.gpus_per_pod * largest),
                      gpus_up(gang.spec.pods.gpus_per_pod * buyable), model::reason_number(gang.spec.together),
                      gang.spec.pods.gpu.value}});
      }
    }
    Shortfall lack = shortfall(gang_pods, fit);
    if (gang_pods.bound.empty()) spread_.set_preference(lack);
    lacking_.push_back({decision_.verdicts.size(), decision_.plan.kept.size(), std::move(gang_pods.ask), lack});
    keep(
        id, PlacementResult::Kind::cannot_fit_now,
        {ReasonCode::shortfall,
         {gpus_up(lack.short_by), lack.best_free.count / 1000, gpus_up(lack.needed),
          model::reason_number(lack.best_domain), model::reason_number(lack.spec.together), lack.spec.pods.gpu.value}});
  }

  /// Reports shortfalls, oldest first. A gang is left out if its queue could not hold it in addition to the gangs
  /// placed now, because nodes bought for it would stay empty.
  void tell_shortfalls() {
    if (lacking_.empty()) return;
    ComingNodes coming(*snapshot_.catalog);
    coming.add_claims(snapshot_, [this](const model::Claim& claim) {
      return !std::ranges::binary_search(leaving_.groups, claim.group);
    });
    for (GangWithoutRoom& lacking : lacking_) {
      if (const auto full = queues_.refuses_promise(lacking.ask)) {
        decision_.verdicts[lacking.verdict].kind = PlacementResult::Kind::held_by_queue;
        decision_.verdicts[lacking.verdict].why = decision_.plan.kept[lacking.kept].why = *full;
      } else {
        queues_.promise(lacking.ask);
        nominate(lacking, coming);
        decision_.shortfalls.push_back(std::move(lacking.shortfall));
      }
    }
  }

  /// Nominates a gang to nodes on their way if they will have room for all of it.
  void nominate(const GangWithoutRoom& lacking, ComingNodes& coming) {
    const std::optional<Nomination> nomination = coming.nominate(lacking.shortfall);
    if (!nomination || !nomination->last.valid()) return;
    decision_.verdicts[lacking.verdict].kind = PlacementResult::Kind::nominated;
    decision_.verdicts[lacking.verdict].why = decision_.plan.kept[lacking.kept].why = reason_of(*nomination, now_);
  }

  /// Returns true if nodes with GPUs of the gang's kind were bought and have not arrived yet.
  bool nodes_are_coming(const GangPods& gang_pods) const {
    bool coming = false;
    snapshot_.claims.for_each([&](model::ClaimId, const model::Claim& claim) {
      const bool on_its_way =
          claim.phase == model::Claim::Phase::requested || claim.phase == model::Claim::Phase::launched;
      coming |= on_its_way && snapshot_.catalog->offering(claim.offering).gpu == gang_pods.shape.spec.pods.gpu;
    });
    return coming;
  }

  Memory::Broken* broken_row(GangId id) {
    const auto found = std::ranges::find(memory_.broken, id, &Memory::Broken::gang);
    return found == memory_.broken.end() ? nullptr : &*found;
  }
  bool given_up(GangId id, const GangPods& gang_pods) {
    const Memory::Broken* row = broken_row(id);
    return row != nullptr && now_ - row->since >= policy_.broken_for && !nodes_are_coming(gang_pods);
  }

  /// Leaves a gang pending if its other pods run on nodes that are not in the snapshot, because the remaining pods must
  /// go into the same domain.
  void wait_for_sight(GangId id, const GangPods& gang_pods) {
    const std::int64_t unseen = gang_pods.have_node - static_cast<std::int64_t>(gang_pods.bound.size());
    keep(id, PlacementResult::Kind::cannot_fit_now, {ReasonCode::nodes_not_seen, {unseen}});
  }

  void wait_or_give_up(GangId id, const GangPods& gang_pods) {
    const Gang& gang = snapshot_.gangs.at(id);
    const std::int64_t bound = gang_pods.have_node;
    const std::int64_t after_s = whole_seconds(policy_.broken_for);
    if (!given_up(id, gang_pods)) {
      return keep(id, PlacementResult::Kind::cannot_fit_now,
                  {ReasonCode::gang_broken, {bound, gang.spec.pods.needed(), after_s}});
    }
    const Reason why{ReasonCode::gang_given_up, {bound, gang.spec.pods.needed(), after_s}};
    for (PodId pod : gang.pods) {
      const model::Pod* row = snapshot_.pods.find(pod);
      if (row != nullptr && has_node(*row)) decision_.plan.actions.push_back({model::EvictPod{pod}, why});
    }
    broken_row(id)->since = now_;
    keep(id, PlacementResult::Kind::cannot_fit_now, why);
  }

  void reserve(const GangPods& gang_pods) {
    if (queues_.refuses_promise(gang_pods.ask)) return;
    const Fit fit = fit_of(gang_pods).fit;
    for (const NodeId node : fit.nodes) {
      room_.take(node, gang_pods.shape.spec.pods.gpus_per_pod, requests(gang_pods.shape.spec.pods.pod_class));
      decision_.nominated.insert(node);
    }
    queues_.promise(gang_pods.ask);
    if (!fit.nodes.empty()) return;
    if (buyable_for(gang_pods) >= gang_pods.shape.spec.pods.count ||
        most_ever(gang_pods) >= gang_pods.shape.spec.pods.count) {
      spread_.set_preference(decision_.shortfalls.emplace_back(shortfall(gang_pods, fit)));
    }
  }

  Request request_of(const GangPods& gang_pods, model::Level level) const {
    Request request{.gpu = gang_pods.shape.spec.pods.gpu,
                    .level = level,
                    .pods = gang_pods.shape.spec.pods.count,
                    .gpus_per_pod = gang_pods.shape.spec.pods.gpus_per_pod,
                    .pod_class = snapshot_.catalog->eligibility.find(gang_pods.shape.spec.pods.pod_class)};
    if (gang_pods.bound.empty()) return request;
    request.only_node = gang_pods.bound.front();
    if (const NodeRoom* room = room_.rooms().find(request.only_node)) {
      request.only_domain = room->domains.of(level);
    }
    return request;
  }

  /// A fit, and the level of its domain.
  struct Found {
    Fit fit;
    model::Level level;
  };

  /// Finds room for the pods of the gang that need a node. The spread of a service over failure domains takes
  /// precedence over the level that the gang prefers.
  Found fit_of(const GangPods& gang_pods) {
    const SpreadConstraint::Distribution* spread =
        gang_pods.bound.empty() ? spread_.distribution_of(gang_pods.shape.service) : nullptr;
    if (spread == nullptr) {
      return narrowest_fit(gang_pods, [&](const Request& request) {
        return gang_pods.bound.empty() ? fit_of_class(gang_pods, request) : best_fit(room_.rooms(), request);
      });
    }
    Found found{{}, gang_pods.shape.spec.together};
    for (const ReplicaCount most : spread->steps()) {
      const std::set<FailureDomain> avoided = spread->above(most);
      found = narrowest_fit(gang_pods, [&](Request request) {
        request.avoided = &avoided;
        request.avoided_level = spread->level;
        return best_fit(room_.rooms(), request);
      });
      if (!found.fit.nodes.empty()) break;
    }
    return found;
  }

  /// Tries the level that the gang prefers and then wider ones up to the level that it requires. Without room, the
  /// result is that of the required level.
  template <typename FitAt>
  Found narrowest_fit(const GangPods& gang_pods, FitAt fit_at) const {
    const model::GangSpec& spec = gang_pods.shape.spec;
    Found found{{}, spec.together};
    for (const model::Level level :
         model::levels_to_try(snapshot_.catalog->topologies, spec.together, spec.preferred)) {
      found = {fit_at(request_of(gang_pods, level)), level};
      if (!found.fit.nodes.empty()) break;
    }
    return found;
  }

  /// Finds room for a gang without bound pods. Equal gangs are refused for the same reason. After a refusal, only the
  /// nodes that have changed since then are counted.
  Fit fit_of_class(const GangPods& gang_pods, const Request& request) {
    Refusal& known = refusal_of(gang_pods, request.level);
    Fit fit;
    if (!known.best || !revise_known(fit, known, request)) {
      ++room_.refusals.searches;
      fit = best_fit(room_.rooms(), request);
    }
    if (fit.nodes.empty()) {
      known.best = fit;
      known.version = room_.version();
    }
    return fit;
  }

  /// @return false if a search is needed
  bool revise_known(Fit& fit, const Refusal& known, const Request& request) const {
    const auto changes = room_.changes_since(known.version);
    if (!changes || changes->size() > kMostRevisedChanges) return false;
    static_cast<BestPlace&>(fit) = *known.best;
    return revise(fit, room_.rooms(), request, *changes);
  }

  /// Returns the refusal of gangs with the same request that require the level. Adds an empty one if there is none.
  Refusal& refusal_of(const GangPods& gang_pods, model::Level level) {
    model::GangSpec spec = gang_pods.shape.spec;
    spec.together = level;
    spec.preferred.reset();
    Refusal& refusal = room_.refusals.rows[spec];
    refusal.cycle = room_.refusals.cycle;
    return refusal;
  }

  /// Returns how many pods of the gang the existing nodes could hold. The answer is kept until a node changes
  /// in more than its free room.
  std::int64_t most_ever(const GangPods& gang_pods) {
    if (!gang_pods.bound.empty())
      return most_pods_ever(room_.rooms(), request_of(gang_pods, gang_pods.shape.spec.together));
    Refusal& known = refusal_of(gang_pods, gang_pods.shape.spec.together);
    if (!known.pods_ever || known.layout != room_.layout()) {
      known.pods_ever = most_pods_ever(room_.rooms(), request_of(gang_pods, gang_pods.shape.spec.together));
      known.layout = room_.layout();
    }
    return *known.pods_ever;
  }

  std::int64_t buyable_for(const GangPods& gang_pods) {
    const auto [known, is_new] = buyable_.try_emplace(gang_pods.shape.spec);
    if (is_new) known->second = most_buyable(*snapshot_.catalog, gang_pods.shape);
    return known->second;
  }

  bool placed_elsewhere(const Gang& gang) const {
    return gang.service.valid() && snapshot_.catalog->service(gang.service).workload.placed_elsewhere;
  }

  /// Returns the reason for a gang that is placed in one domain of `level`.
  Reason reason_of_place(const model::GangSpec& spec, model::Level level) const {
    const std::int64_t pods = spec.pods.count;
    if (!spec.preferred) return {ReasonCode::placed_together, {pods, model::reason_number(level)}};
    const model::Level preferred =
        model::levels_to_try(snapshot_.catalog->topologies, spec.together, spec.preferred).front();
    if (level == preferred) return {ReasonCode::placed_as_preferred, {pods, model::reason_number(level)}};
    return {ReasonCode::placed_wider, {pods, model::reason_number(level), model::reason_number(preferred)}};
  }

  static Shortfall shortfall(const GangPods& gang_pods, const Fit& fit) {
    Shortfall lack = gang_pods.shape;
    lack.best_domain = fit.best_domain;
    lack.best_node = fit.best_node;
    lack.best_free = fit.best_free;
    lack.short_by = lack.spec.pods.gpus_per_pod * (lack.spec.pods.count - fit.best_pods);
    lack.bound_to_best = !gang_pods.bound.empty();
    return lack;
  }

  const Index& index_;
  const model::Snapshot& snapshot_;
  const Policy& policy_;
  Memory& memory_;
  Instant now_;
  const Leaving& leaving_;

  AssumedRooms& room_;
  std::map<model::GangSpec, std::int64_t> buyable_;
  QueueBudget queues_;
  SpreadConstraint spread_;
  std::vector<GangWithoutRoom> lacking_;
  Decision decision_;
};

/// Drops assumed bindings that the snapshot confirms, whose pod is gone, or that were not confirmed in time.
void forget_settled(Memory& memory, const model::Snapshot& snapshot, Instant now) {
  std::erase_if(memory.assumed, [&](const Memory::Assumed& assumed) {
    const model::Pod* pod = snapshot.pods.find(assumed.pod);
    return now >= assumed.until || pod == nullptr || pod->phase != model::Pod::Phase::pending || pod->node.valid();
  });
}

/// Updates which pending gangs are broken, and since when.
void follow_broken(Memory& memory, const Index& index, const model::Snapshot& snapshot, Instant now) {
  std::vector<Memory::Broken> rows;
  for (const auto& [created, id] : index.pending_gangs) {
    if (!is_broken(snapshot, snapshot.gangs.at(id))) continue;
    const auto known = std::ranges::find(memory.broken, id, &Memory::Broken::gang);
    rows.push_back({id, known == memory.broken.end() ? now : known->since});
  }
  std::ranges::sort(rows, {}, &Memory::Broken::gang);
  memory.broken = std::move(rows);
}

void assume(Memory& memory, const model::Snapshot& snapshot, const Plan& plan, Instant until) {
  const std::size_t known = memory.assumed.size();
  for (const model::Action& action : plan.actions) {
    const auto* bind = std::get_if<model::BindPods>(&action.what);
    if (bind == nullptr) continue;
    for (const model::BindPods::Binding& binding : bind->bindings) {
      memory.assumed.push_back({binding.pod, binding.node, bind->gang, snapshot.pods.at(binding.pod).gpus, until});
    }
  }
  const auto added = memory.assumed.begin() + static_cast<std::ptrdiff_t>(known);
  std::ranges::sort(added, memory.assumed.end(), {}, &Memory::Assumed::pod);
  std::ranges::inplace_merge(memory.assumed, added, {}, &Memory::Assumed::pod);
}

}  // namespace

std::string_view name(Policy::Kind kind) { return kind == Policy::Kind::first_fit ? "first_fit" : "gang"; }

std::string_view name(PlacementResult::Kind kind) {
  static constexpr std::array<std::string_view, 6> kNames = {"placed",        "assumed",    "cannot_fit_now",
                                                             "held_by_queue", "never_fits", "nominated"};
  return known_row(kNames, static_cast<std::size_t>(kind));
}

void forget(Memory& memory, GangId gang) {
  std::erase_if(memory.assumed, [&](const Memory::Assumed& assumed) { return assumed.gang == gang; });
}

void keep_assumed(Memory& memory, std::span<const GangId> gangs, Instant until) {
  for (Memory::Assumed& assumed : memory.assumed) {
    if (std::ranges::binary_search(gangs, assumed.gang)) assumed.until = std::max(assumed.until, until);
  }
}

Decision decide(Index& index, const model::Snapshot& snapshot, std::span<const model::PlannedGang> planned,
                const Policy& policy, Memory& memory, Instant now, const Leaving& leaving) {
  forget_settled(memory, snapshot, now);
  if (policy.kind == Policy::Kind::gang) follow_broken(memory, index, snapshot, now);
  if (index.pending_gangs.empty() && index.unbound_pods.empty() && planned.empty()) return {};
  index.assumed.update(index.rooms, snapshot.catalog->eligibility, assumed_pods(snapshot, memory), leaving.nodes);
  Cycle cycle(index, snapshot, policy, memory, now, leaving);
  Decision decision = policy.kind == Policy::Kind::first_fit ? cycle.first_fit() : cycle.whole_gangs(planned);
  assume(memory, snapshot, decision.plan, now + policy.assume_for);
  return decision;
}

}  // namespace capstan::decide::place
