#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/known_row.h"
#include "decide/place/fit.h"
#include "decide/provision/give_back.h"
#include "decide/provision/passes.h"
#include "fleet/trial.h"

namespace capstan::decide::provision {
namespace {

using model::ReasonCode;

class UnderutilizedNodes {
 public:
  explicit UnderutilizedNodes(Context& context) : context_(context), nodes_(context) {}

  /// Gives back at most one node per pass, highest price per disruption first. Running replicas do not stop it:
  /// Karpenter's policy has this defect, and the baseline keeps it.
  void give_back_one() {
    for (const Candidate& candidate : underutilized()) {
      const model::Node& node = context_.snapshot.nodes.at(candidate.id);
      const std::vector<MilliGpu> left = left_over(candidate.id, node);
      const NodeRoom& room = *context_.index.rooms.find(candidate.id);
      if (left.empty()) {
        if (context_.capacity.nodes_of(node.pool) <= context_.policy.min_nodes) continue;
        terminate(context_, candidate.id, node,
                  {ReasonCode::node_underutilized, {(room.gpus - room.free.sum).count, room.gpus.count}});
        return;
      }
      if (context_.memory.replacements.empty() && replace(candidate.id, node, left)) return;
    }
  }

 private:
  struct Candidate {
    NodeId id;
    std::int64_t weight;  // price per disruption; the node with the highest one is given back first
  };

  std::vector<Candidate> underutilized() const {
    std::vector<Candidate> candidates;
    context_.snapshot.nodes.for_each([&](NodeId id, const model::Node& node) {
      const bool is_quiet = nodes_.unchanged_for(id) >= context_.policy.consolidation.after;
      if (nodes_.is_empty(id) || !nodes_.contains(id, node) || !is_quiet || nodes_.budget(node.pool) <= 0) return;
      const NodeRoom& room = *context_.index.rooms.find(id);
      const std::int64_t used = (room.gpus - room.free.sum).count;
      const bool full = context_.policy.consolidation.use_below_ppm < 1'000'000 &&
                        used * 1'000'000 >= room.gpus.count * context_.policy.consolidation.use_below_ppm;
      if (full || has_leaving_pod(id)) return;
      const auto pods = static_cast<std::int64_t>(known_row(context_.index.pods_by_node, id).size());
      candidates.push_back({id, price_of(context_, node).count / (1 + pods)});
    });
    std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
      return std::tuple(b.weight, a.id) < std::tuple(a.weight, b.id);
    });
    return candidates;
  }

  /// Returns true if a pod of the node is terminating. It will free room without a disruption, so the node is
  /// considered again once the pod is gone.
  bool has_leaving_pod(NodeId id) const {
    const std::set<PodId>& pods = known_row(context_.index.pods_by_node, id);
    return std::ranges::any_of(
        pods, [&](PodId pod) { return context_.snapshot.pods.at(pod).phase == model::Pod::Phase::terminating; });
  }

  const model::Eligibility& eligibility() const { return context_.capacity.catalog().eligibility; }

  place::Request request(model::GpuKindId gpu, MilliGpu gpus, model::PodClassId pods) const {
    return {.gpu = gpu, .gpus_per_pod = gpus, .pod_class = eligibility().find(pods)};
  }

  /// Returns the GPUs of each of the node's pods that fits on no other node, largest first. Waiting pods compete for
  /// the same room and come first.
  std::vector<MilliGpu> left_over(NodeId id, const model::Node& node) const {
    fleet::Trial room(context_.index.rooms);
    room.erase(id);
    for (const auto& [created, pod_id] : context_.index.unbound_pods) {
      const model::Pod& pod = context_.snapshot.pods.at(pod_id);
      const model::Gang& gang = context_.snapshot.gangs.at(pod.gang);
      const model::PodSet& set = gang.spec.set(pod.set);
      const NodeId other = place::first_with_room(room.rooms(), request(set.gpu, pod.gpus, set.pod_class));
      if (other.valid()) room.take(other, pod.gpus, eligibility().requests(set.pod_class));
    }
    std::vector<MilliGpu> left;
    for (PodId pod : known_row(context_.index.pods_by_node, id)) {
      const MilliGpu gpus = known_row(context_.index.pods, pod).gpus;
      const NodeId other = place::first_with_room(room.rooms(), request(node.gpu, gpus, {}));
      if (other.valid())
        room.take(other, gpus, {});
      else
        left.push_back(gpus);
    }
    std::ranges::sort(left, std::ranges::greater{});
    return left;
  }

  /// Buys a strictly cheaper node for the pods that fit nowhere else. The old node is terminated once the new one is
  /// ready.
  bool replace(NodeId id, const model::Node& node, const std::vector<MilliGpu>& left) {
    fleet::NeededDevices needed;
    for (const MilliGpu pod : left) needed.add(pod);
    std::optional<std::pair<MicroUsd, model::OfferingId>> best;
    for (model::OfferingId offering_id : context_.capacity.catalog().pool(node.pool).offerings) {
      const model::Offering& offering = context_.capacity.catalog().offering(offering_id);
      const bool fits = offering.gpu == node.gpu && offering.gpus >= needed.count();
      if (!fits || offering.price_per_hour >= price_of(context_, node)) continue;
      if (context_.capacity.obstacle(node.pool, offering_id, 1) != PurchaseLimits::Obstacle::ok) continue;
      const std::pair option{offering.price_per_hour, offering_id};
      if (!best || option < *best) best = option;
    }
    if (!best) return false;
    NodeId newest;
    context_.snapshot.nodes.for_each([&](NodeId node_id, const model::Node&) { newest = node_id; });
    context_.memory.replacements.push_back({id, node.pool, best->second, newest, context_.now});
    context_.capacity.launch(
        {.pool = node.pool, .offering = best->second, .domain = {}, .count = 1, .hold = {}, .gang = {}},
        {ReasonCode::cheaper_replacement, {best->first.count, price_of(context_, node).count}}, context_.decision,
        context_.memory);
    return true;
  }

  Context& context_;
  const ReturnableNodes nodes_;
};

}  // namespace

void give_back_underutilized(Context& context) {
  const bool is_on = context.policy.consolidation.policy == model::ConsolidationPolicy::when_empty_or_underutilized;
  if (context.consolidates && is_on && !context.gave_back_empty) UnderutilizedNodes(context).give_back_one();
}

}  // namespace capstan::decide::provision
