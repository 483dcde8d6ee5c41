#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "decide/place/passes.h"

namespace capstan::decide::place {

using model::Reason;
using model::ReasonCode;

namespace {

/// Decides about a gang of which some pods have no room. If its queue could not hold them in addition to the earlier
/// gangs that wait for nodes, the gang waits for its queue, and no node is bought for it.
void wait_for_room(PendingGang& gang, const Reason& lack, Context& context) {
  const QueueDemand ask = context.queues.demand_of(context.snapshot.gangs.at(gang.id()).pods);
  if (const auto full = context.queues.refusal_of(ask)) {
    gang.decide(PlacementResult::Kind::held_by_queue, *full);
  } else if (const auto soon_full = context.queues.refusal_of_promise(ask)) {
    gang.decide(PlacementResult::Kind::held_by_queue, *soon_full);
  } else {
    context.queues.promise(ask);
    gang.decide(PlacementResult::Kind::cannot_fit_now, lack);
  }
}

/// Returns the pods that need a node: those of gangs with a higher priority first, then the oldest.
std::vector<PodId> unbound_pods(const Context& context) {
  std::vector<std::pair<std::int32_t, PodId>> pods;
  for (const auto& [created, id] : context.index.unbound_pods) {
    if (context.rooms.has(id)) continue;
    pods.emplace_back(context.snapshot.gangs.at(context.snapshot.pods.at(id).gang).spec.priority, id);
  }
  std::ranges::stable_sort(pods, std::ranges::greater{}, &std::pair<std::int32_t, PodId>::first);
  std::vector<PodId> sorted;
  for (const auto& [priority, id] : pods) sorted.push_back(id);
  return sorted;
}

}  // namespace

void bind_pods(Context& context) {
  std::map<GangId, model::BindPods> binds;
  std::map<GangId, Reason> lacking;
  for (const PodId pod_id : unbound_pods(context)) {
    const model::Pod& pod = context.snapshot.pods.at(pod_id);
    const model::Gang& gang = context.snapshot.gangs.at(pod.gang);
    const model::PodSet& spec = gang.spec.set(pod.set);
    if (const auto full = context.queues.refusal_of(context.queues.demand_of({&pod_id, 1}))) {
      lacking[pod.gang] = *full;
      continue;
    }
    const Request request{.gpu = spec.gpu,
                          .gpus_per_pod = pod.gpus,
                          .pod_class = context.snapshot.catalog->eligibility.find(spec.pod_class)};
    const NodeId node = first_with_room(context.rooms.rooms(), request);
    if (request.pod_class != nullptr && request.pod_class->unsupported != model::PodRule::none) {
      lacking[pod.gang] = reason_of(request.pod_class->unsupported);
      continue;
    }
    if (!node.valid()) {
      context.search.with_note({pod.gang, gang.service, gang.ordinal}, request, {});
      lacking[pod.gang] = {ReasonCode::no_node_fits, {spec.gpus_per_pod.count, spec.gpu.value}};
      continue;
    }
    context.queues.place({&pod_id, 1});
    context.take(node, pod.gpus, spec.pod_class);
    model::BindPods& bind = binds[pod.gang];
    bind.gang = pod.gang;
    bind.bindings.push_back({pod_id, node});
  }
  for (PendingGang& gang : context.gangs) {
    const MilliGpu per_pod = context.snapshot.gangs.at(gang.id()).spec.pods.gpus_per_pod;
    const Reason why{ReasonCode::placed_first_fit, {per_pod.count}};
    const auto bind = binds.find(gang.id());
    const auto lack = lacking.find(gang.id());
    if (bind != binds.end()) gang.actions.push_back({std::move(bind->second), why});
    if (lack != lacking.end()) {
      wait_for_room(gang, lack->second, context);
    } else if (bind != binds.end()) {
      gang.decide(PlacementResult::Kind::placed, why);
    } else {
      context.wait_for_confirmation(gang);
    }
  }
}

}  // namespace capstan::decide::place
