#include "decide/place/checks.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <variant>

#include "decide/place/expected_nodes.h"
#include "model/queue_path.h"

namespace capstan::decide::place {
namespace {

using model::BindPods;

/// The GPUs that the passes have bound on one node so far.
struct NodeUse {
  MilliGpu gpus;
  GpuCount whole = 0;  ///< whole devices that the pods hold
};

/// Everything that the passes have bound so far.
struct BindingsSoFar {
  std::set<PodId> pods;
  std::map<NodeId, NodeUse> by_node;
  QueueDemand by_queue;  ///< GPUs of the pods by queue; they also count for the queues above it
};

/// Returns what is wrong with a node for the pods of a gang, or an empty text.
std::string wrong_node(NodeId id, const model::PodSet& spec, const Context& context) {
  const NodeRoom* room = context.index.rooms.find(id);
  if (room == nullptr || !room->open) return "4: a pod is bound to a node that takes no pods";
  const model::PodClass* pods = context.snapshot.catalog->eligibility.find(spec.pod_class);
  const bool has_kind = room->gpu == spec.gpu || spec.gpus_per_pod == MilliGpu{};
  if (!has_kind || (pods != nullptr && !pods->admits(room->node_class)))
    return "4: a pod is bound to a node that does not admit it";
  if (std::ranges::binary_search(context.leaving.nodes, id)) return "4: a pod is bound to a node that is given back";
  return "";
}

std::string add_bind(const BindPods& bind, const Context& context, BindingsSoFar& so_far) {
  const model::GangSpec& gang = context.snapshot.gangs.at(bind.gang).spec;
  for (const BindPods::Binding& binding : bind.bindings) {
    const model::Pod& pod = context.snapshot.pods.at(binding.pod);
    const model::PodSet& spec = gang.set(pod.set);
    const bool is_known = pod.node.valid() || context.rooms.has(binding.pod);
    if (is_known || !so_far.pods.insert(binding.pod).second) return "1: a pod is bound twice";
    if (std::string wrong = wrong_node(binding.node, spec, context); !wrong.empty()) return wrong;
    if (!context.decision.nominated.contains(binding.node)) return "4: the node of a pod is not kept for it";
    const MilliGpu gpus = context.policy.kind == Policy::Kind::gang ? spec.gpus_per_pod : pod.gpus;
    NodeUse& here = so_far.by_node[binding.node];
    here.gpus += gpus;
    here.whole += gpus.count / 1'000;
    for (const QueueId id : model::QueuePath(context.snapshot.catalog->queues, pod.queue))
      so_far.by_queue[id] += pod.gpus;
  }
  return "";
}

/// Returns what is wrong with the binding of a whole gang, or an empty text.
std::string broken_gang(const PendingGang& gang, const BindPods& bind, const Context& context) {
  std::set<PodId> pods;
  for (const BindPods::Binding& binding : bind.bindings) pods.insert(binding.pod);
  if (pods != std::set<PodId>(gang.pods.without_node.begin(), gang.pods.without_node.end()))
    return "1: a gang is bound in part";
  const model::GangSpec& spec = context.snapshot.gangs.at(gang.id()).spec;
  if (gang.pods.have_node == 0 && std::ssize(pods) < spec.needed()) return "1: a gang is bound below its minimum";
  const model::Level level = spec.required_level;
  const auto domain = [&](NodeId id) {
    const NodeRoom* room = context.index.rooms.find(id);
    return level == TopologyLevel::node ? id.value : room == nullptr ? kNowhere : room->domains.domain_at(level).value;
  };
  const NodeId first = gang.pods.bound.empty() ? bind.bindings.front().node : gang.pods.bound.front();
  const bool is_together = std::ranges::all_of(
      bind.bindings, [&](const BindPods::Binding& binding) { return domain(binding.node) == domain(first); });
  return is_together ? "" : "1: a gang is bound to nodes of different domains";
}

std::string broken_rooms(const Context& context, const BindingsSoFar& so_far) {
  const auto& assumed = context.rooms.pods_by_node();
  for (const auto& [id, on_node] : so_far.by_node) {
    FreeGpus free = context.index.rooms.find(id)->free;
    if (const auto here = assumed.find(id); here != assumed.end()) {
      for (const AssumedPod& pod : here->second) {
        if (fleet::places(free, pod.gpus) > 0) take(free, pod.gpus);
      }
    }
    if (on_node.gpus > free.sum || on_node.whole > free.whole())
      return "4: more GPUs are bound on a node than it has free";
  }
  return "";
}

std::string broken_queues(const Context& context, const BindingsSoFar& so_far) {
  const model::Catalog& catalog = *context.snapshot.catalog;
  std::map<QueueId, MilliGpu> held = so_far.by_queue;
  for (const QueueDemand* own : {&context.index.gpus_by_queue, &context.rooms.gpus_by_queue()}) {
    for (const auto& [queue, gpus] : *own) {
      for (const QueueId id : model::QueuePath(catalog.queues, queue)) held[id] += gpus;
    }
  }
  for (const auto& [id, gpus] : so_far.by_queue) {
    const model::Queue& queue = catalog.queue(id);
    if (queue.fault != model::QueueFault::none) return "4: a pod of a queue with a fault is bound";
    if (gpus > MilliGpu{} && queue.gpus.limit && held[id] > *queue.gpus.limit)
      return "4: a queue holds more than its limit";
  }
  return "";
}

}  // namespace

std::string broken_invariant(const Context& context) {
  BindingsSoFar so_far;
  for (const PendingGang& gang : context.gangs) {
    if (!gang.actions.empty() && !gang.result) return "9: a gang has actions and no result";
    bool is_bound = false;
    for (const model::Action& action : gang.actions) {
      const auto* bind = std::get_if<BindPods>(&action.effect);
      if (bind == nullptr) continue;
      is_bound = true;
      if (std::string broken = add_bind(*bind, context, so_far); !broken.empty()) return broken;
      if (context.policy.kind != Policy::Kind::gang) continue;
      if (std::string broken = broken_gang(gang, *bind, context); !broken.empty()) return broken;
    }
    const bool is_placed = gang.result && gang.result->kind == PlacementResult::Kind::placed;
    if (is_placed && !is_bound) return "9: a gang is said to be placed and has no binding";
    if (gang.result && gang.result->gang != gang.id()) return "9: a gang has the result of another gang";
  }
  for (const Shortfall& lack : context.decision.shortfalls) {
    const bool lacks_pods = sum_of(lack.short_pods) > 0;
    if (!lacks_pods || lack.short_by > lack.needed) return "9: a shortfall states no lack";
  }
  std::string broken = broken_rooms(context, so_far);
  return broken.empty() ? broken_queues(context, so_far) : broken;
}

}  // namespace capstan::decide::place
