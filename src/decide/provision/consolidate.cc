#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/hash.h"
#include "base/known_row.h"
#include "decide/overlay.h"
#include "decide/place/fit.h"
#include "decide/provision/steps.h"

namespace capstan::decide::provision {
namespace {

using model::Reason;
using model::ReasonCode;

/// A replacement node that is not ready after this time is abandoned. Karpenter uses the same timeout.
constexpr Duration kReplacementTimeout = std::chrono::minutes(10);

class Consolidator {
 public:
  Consolidator(const Context& context, Capacity& capacity, const std::set<NodeId>& nominated)
      : index_(context.index),
        snapshot_(context.snapshot),
        placed_(context.placed),
        nominated_(nominated),
        capacity_(capacity),
        policy_(context.policy),
        memory_(context.memory),
        now_(context.now),
        decision_(context.decision) {}

  void run() {
    note_quiet();
    finish_replacements();
    count_budget();
    const bool acted = give_back_empty();
    if (!acted && policy_.consolidation.policy == model::ConsolidationPolicy::when_empty_or_underutilized) {
      give_back_one_underutilized();
    }
  }

 private:
  std::int64_t pods_hash(NodeId id) const {
    StateHash hash;
    if (const auto pods = index_.pods_by_node.find(id); pods != index_.pods_by_node.end()) {
      for (PodId pod : pods->second) hash.add(pod.value);
    }
    return static_cast<std::int64_t>(hash.value());
  }

  bool is_empty(NodeId id) const { return !index_.pods_by_node.contains(id); }

  /// Records for each node the time since which its pods have not changed.
  void note_quiet() {
    std::vector<Memory::StablePods> quiet;
    auto known = memory_.stable_pods.begin();
    snapshot_.nodes.for_each([&](NodeId id, const model::Node& node) {
      if (!node.pool.valid()) return;
      while (known != memory_.stable_pods.end() && known->node < id) ++known;
      const std::int64_t hash = pods_hash(id);
      const bool same = known != memory_.stable_pods.end() && known->node == id && known->pods_hash == hash;
      quiet.push_back({id, hash, same ? known->since : now_});
    });
    memory_.stable_pods = std::move(quiet);
  }

  Duration quiet_for(NodeId id) const {
    const auto found = std::ranges::lower_bound(memory_.stable_pods, id, {}, &Memory::StablePods::node);
    return found != memory_.stable_pods.end() && found->node == id ? now_ - found->since : Duration{};
  }

  /// Computes how many nodes of each pool may be given back now.
  void count_budget() {
    std::map<model::PoolId, std::int64_t> all, going;
    snapshot_.nodes.for_each([&](NodeId id, const model::Node& node) {
      if (!node.pool.valid()) return;
      ++all[node.pool];
      const bool is_told = has(memory_.terminating, id, &Memory::PendingTermination::node);
      going[node.pool] += node.phase == model::Node::Phase::terminating || is_told ? 1 : 0;
    });
    for (const auto& [pool, nodes] : all) {
      const std::int64_t allowed = ceil_div(nodes * policy_.consolidation.budget_percent, 100);
      const std::int64_t above_minimum = capacity_.nodes_of(pool) - policy_.min_nodes;
      budget_[pool] = std::min(allowed - going[pool], above_minimum);
    }
  }

  bool in_unfinished_group(const model::Node& node) const {
    return std::ranges::any_of(memory_.groups,
                               [&](const Memory::Group& group) { return has(group.claims, node.claim); });
  }

  /// Returns true if the node lies in the domain that a waiting gang fits best. The policy `group` keeps that node,
  /// because it is about to add the missing nodes to the domain.
  bool is_awaited(const model::Node& node) const {
    if (policy_.kind != Policy::Kind::group) return false;
    return std::ranges::any_of(placed_.shortfalls, [&](const place::Shortfall& lack) {
      return lack.spec.pods.gpu == node.gpu && lack.best_domain.valid() &&
             node.domains.of(lack.spec.together) == lack.best_domain;
    });
  }

  /// Returns true if the node may be given back.
  bool is_candidate(NodeId id, const model::Node& node) const {
    return node.pool.valid() && !node.is_foreign && node.phase == model::Node::Phase::ready &&
           !nominated_.contains(id) && !has(memory_.terminating, id, &Memory::PendingTermination::node) &&
           !in_unfinished_group(node) && !is_awaited(node);
  }

  void keep(NodeId id, Reason why) { decision_.plan.kept.push_back({model::Plan::Kept::Subject::node, id.value, why}); }

  void terminate(NodeId id, const model::Node& node, Reason why) {
    --budget_[node.pool];
    capacity_.give_back(node.pool);
    memory_.terminating.push_back({id, now_});
    decision_.plan.actions.push_back({model::TerminateNode{id}, why});
  }

  /// Terminates empty nodes, as many as the budget allows. Returns true if there was one.
  bool give_back_empty() {
    bool acted = false;
    const std::int64_t wait = whole_seconds(policy_.consolidation.after);
    snapshot_.nodes.for_each([&](NodeId id, const model::Node& node) {
      if (!is_empty(id) || !is_candidate(id, node)) return;
      const Duration quiet = quiet_for(id);
      if (quiet < policy_.consolidation.after)
        return keep(id, {ReasonCode::not_quiet_yet, {whole_seconds(quiet), wait}});
      if (capacity_.nodes_of(node.pool) <= policy_.min_nodes) {
        return keep(id,
                    {ReasonCode::pool_minimum, {capacity_.nodes_of(node.pool), policy_.min_nodes, node.pool.value}});
      }
      if (budget_[node.pool] <= 0) return;
      terminate(id, node, {ReasonCode::node_empty, {whole_seconds(quiet), wait}});
      acted = true;
    });
    return acted;
  }

  struct Candidate {
    NodeId id;
    std::int64_t weight;  // price per disruption; the node with the highest one is given back first
  };

  std::vector<Candidate> underutilized() const {
    std::vector<Candidate> candidates;
    snapshot_.nodes.for_each([&](NodeId id, const model::Node& node) {
      if (is_empty(id) || !is_candidate(id, node) || quiet_for(id) < policy_.consolidation.after) return;
      const auto budget = budget_.find(node.pool);
      if (budget == budget_.end() || budget->second <= 0) return;
      const NodeRoom& room = *index_.rooms.find(id);
      const std::int64_t used = (room.gpus - room.free).count;
      const bool full = policy_.consolidation.use_below_ppm < 1'000'000 &&
                        used * 1'000'000 >= room.gpus.count * policy_.consolidation.use_below_ppm;
      if (full || has_leaving_pod(id)) return;
      const auto pods = static_cast<std::int64_t>(known_row(index_.pods_by_node, id).size());
      candidates.push_back({id, price(node).count / (1 + pods)});
    });
    std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
      return std::tuple(b.weight, a.id) < std::tuple(a.weight, b.id);
    });
    return candidates;
  }

  /// Returns true if a pod of the node is terminating. It will free room without a disruption, so the node is
  /// considered again once the pod is gone.
  bool has_leaving_pod(NodeId id) const {
    const std::set<PodId>& pods = known_row(index_.pods_by_node, id);
    return std::ranges::any_of(
        pods, [&](PodId pod) { return snapshot_.pods.at(pod).phase == model::Pod::Phase::terminating; });
  }

  MicroUsd price(const model::Node& node) const {
    return node.offering.valid() ? capacity_.catalog().offering(node.offering).price_per_hour : MicroUsd{};
  }

  const model::Eligibility& eligibility() const { return capacity_.catalog().eligibility; }

  place::Request request(model::GpuKindId gpu, MilliGpu gpus, model::PodClassId pods) const {
    return {.gpu = gpu, .gpus_per_pod = gpus, .pod_class = eligibility().find(pods)};
  }

  /// Returns the GPUs of the node's pods that fit on no other node. Waiting pods compete for the same room and come
  /// first.
  MilliGpu left_over(NodeId id, const model::Node& node) const {
    Overlay room(index_.rooms);
    room.erase(id);
    for (const auto& [created, pod_id] : index_.unbound_pods) {
      const model::Pod& pod = snapshot_.pods.at(pod_id);
      const model::Gang& gang = snapshot_.gangs.at(pod.gang);
      const NodeId other =
          place::first_with_room(room.rooms(), request(gang.spec.pods.gpu, pod.gpus, gang.spec.pods.pod_class));
      if (other.valid()) room.take(other, pod.gpus, eligibility().requests(gang.spec.pods.pod_class));
    }
    MilliGpu left;
    for (PodId pod : known_row(index_.pods_by_node, id)) {
      const MilliGpu gpus = known_row(index_.pods, pod).gpus;
      const NodeId other = place::first_with_room(room.rooms(), request(node.gpu, gpus, {}));
      if (other.valid())
        room.take(other, gpus, {});
      else
        left += gpus;
    }
    return left;
  }

  /// Gives back at most one node per pass, highest price per disruption first. Running replicas do not stop it:
  /// Karpenter's policy has this defect, and the baseline keeps it.
  void give_back_one_underutilized() {
    for (const Candidate& candidate : underutilized()) {
      const model::Node& node = snapshot_.nodes.at(candidate.id);
      const MilliGpu left = left_over(candidate.id, node);
      const NodeRoom& room = *index_.rooms.find(candidate.id);
      if (left == MilliGpu{}) {
        if (capacity_.nodes_of(node.pool) <= policy_.min_nodes) continue;
        terminate(candidate.id, node,
                  {ReasonCode::node_underutilized, {(room.gpus - room.free).count, room.gpus.count}});
        return;
      }
      if (memory_.replacements.empty() && replace(candidate.id, node, left)) return;
    }
  }

  /// Buys a strictly cheaper node for the pods that fit nowhere else. The old node is terminated once the new one is
  /// ready.
  bool replace(NodeId id, const model::Node& node, MilliGpu left) {
    std::optional<std::pair<MicroUsd, model::OfferingId>> best;
    for (model::OfferingId offering_id : capacity_.catalog().pool(node.pool).offerings) {
      const model::Offering& offering = capacity_.catalog().offering(offering_id);
      const bool fits = offering.gpu == node.gpu && whole_gpus(offering.gpus) >= left;
      if (!fits || offering.price_per_hour >= price(node)) continue;
      if (capacity_.obstacle(node.pool, offering_id, 1) != Capacity::Obstacle::ok) continue;
      const std::pair option{offering.price_per_hour, offering_id};
      if (!best || option < *best) best = option;
    }
    if (!best) return false;
    NodeId newest;
    snapshot_.nodes.for_each([&](NodeId node_id, const model::Node&) { newest = node_id; });
    memory_.replacements.push_back({id, node.pool, best->second, newest, now_});
    capacity_.launch({.pool = node.pool, .offering = best->second, .within = {}, .count = 1, .hold = {}, .gang = {}},
                     {ReasonCode::cheaper_replacement, {best->first.count, price(node).count}}, decision_, memory_);
    return true;
  }

  /// Terminates nodes whose replacement is ready, and abandons replacements that take too long.
  void finish_replacements() {
    std::erase_if(memory_.replacements, [&](const Memory::Replacement& replacing) {
      const model::Node* old = snapshot_.nodes.find(replacing.node);
      if (old == nullptr || now_ - replacing.at >= kReplacementTimeout) return true;
      bool arrived = false;
      snapshot_.nodes.for_each([&](NodeId id, const model::Node& node) {
        arrived = arrived || (id > replacing.newest_node && node.pool == replacing.pool &&
                              node.offering == replacing.offering && node.phase == model::Node::Phase::ready);
      });
      if (!arrived || old->phase != model::Node::Phase::ready) return false;
      terminate(replacing.node, *old,
                {ReasonCode::cheaper_replacement,
                 {capacity_.catalog().offering(replacing.offering).price_per_hour.count, price(*old).count}});
      return true;
    });
  }

  Index& index_;
  const model::Snapshot& snapshot_;
  const place::Decision& placed_;
  const std::set<NodeId>& nominated_;
  Capacity& capacity_;
  const Policy& policy_;
  Memory& memory_;
  Instant now_;
  Decision& decision_;
  std::map<model::PoolId, std::int64_t> budget_;
};

}  // namespace

void consolidate(const Context& context, Capacity& capacity, const std::set<NodeId>& nominated) {
  Consolidator(context, capacity, nominated).run();
}

}  // namespace capstan::decide::provision
