#include "fleet/index.h"

#include <utility>
#include <vector>

#include "base/erase_from.h"
#include "base/known_row.h"

namespace capstan::fleet {
namespace {

/// Returns true if a pod is bound to a node. A terminating pod stays on its node and holds its GPUs until it is gone.
bool holds(const model::Pod& pod) { return pod.node.valid(); }

/// Returns the queue charged for a pod. A pod that runs on an unknown node is charged, too, because the node will
/// become visible again.
QueueId charged_queue(const model::Pod& pod) {
  const bool runs = pod.phase == model::Pod::Phase::starting || pod.phase == model::Pod::Phase::ready;
  return runs || holds(pod) ? pod.queue : QueueId{};
}

/// Adds GPUs of a pod to its queue, or subtracts them.
void count_in_queue(Index& index, QueueId queue, MilliGpu gpus) {
  if (!queue.valid() || gpus == MilliGpu{}) return;
  MilliGpu& held = index.gpus_by_queue[queue];
  held += gpus;
  if (held == MilliGpu{}) index.gpus_by_queue.erase(queue);
}

void forget_pod(Index& index, PodId id, std::set<NodeId>& touched) {
  const auto found = index.pods.find(id);
  if (found == index.pods.end()) return;
  const Index::PodRow& row = found->second;
  if (row.node.valid()) {
    erase_from(index.pods_by_node, row.node, id);
    touched.insert(row.node);
  }
  count_in_queue(index, row.queue, row.gpus * -1);
  if (row.unbound) index.unbound_pods.erase({row.created_at, id});
  index.pods.erase(found);
}

void learn_pod(Index& index, PodId id, const model::Pod& pod, std::set<NodeId>& touched) {
  const bool unbound = pod.phase == model::Pod::Phase::pending && !pod.node.valid();
  const QueueId queue = charged_queue(pod);
  index.pods[id] = {.node = pod.node,
                    .gpus = pod.gpus,
                    .devices = pod.devices,
                    .queue = queue,
                    .created_at = pod.created_at,
                    .unbound = unbound};
  count_in_queue(index, queue, pod.gpus);
  if (holds(pod)) {
    index.pods_by_node[pod.node].insert(id);
    touched.insert(pod.node);
  }
  if (unbound) index.unbound_pods.insert({pod.created_at, id});
}

Index::PendingGang as_pending(const Index::GangRow& row, GangId id) {
  return {.priority = row.priority, .created_at = row.created_at, .id = id};
}

void forget_gang(Index& index, GangId id) {
  const auto found = index.gangs.find(id);
  if (found == index.gangs.end()) return;
  erase_from(index.gangs_by_service, found->second.service, id);
  if (found->second.pending) index.pending_gangs.erase(as_pending(found->second, id));
  index.gangs.erase(found);
}

void learn_gang(Index& index, GangId id, const model::Gang& gang) {
  const bool pending = gang.phase == model::Gang::Phase::pending;
  const Index::GangRow row{
      .service = gang.service, .priority = gang.spec.priority, .created_at = gang.created_at, .pending = pending};
  index.gangs[id] = row;
  index.gangs_by_service[gang.service].insert(id);
  if (pending) index.pending_gangs.insert(as_pending(row, id));
}

/// Adds (+1) or subtracts (-1) a node in its pool's totals.
void count_in_pool(Index& index, const Index::NodeRow& row, int sign) {
  if (!row.pool.valid()) return;
  Index::PoolSum& pool = index.pools[row.pool];
  pool.gpus += sign * row.gpus;
  pool.nodes += row.stays ? sign : 0;
  if (pool == Index::PoolSum{}) index.pools.erase(row.pool);
}

void forget_node(Index& index, NodeId id) {
  const auto found = index.nodes.find(id);
  if (found == index.nodes.end()) return;
  count_in_pool(index, found->second, -1);
  index.nodes.erase(found);
}

/// Updates a node from its row, and its free GPUs from the pods that the index shows on it.
void refresh_node(Index& index, NodeId id, const model::Node* node) {
  index.assumed.mark_changed(id);
  forget_node(index, id);
  if (node == nullptr) {
    index.rooms.erase(id);
    return;
  }
  const Index::NodeRow row{node->pool, node->gpus.count / 1000, node->phase != model::Node::Phase::terminating};
  count_in_pool(index, index.nodes[id] = row, +1);
  std::vector<HeldGpus> held;
  if (const auto pods = index.pods_by_node.find(id); pods != index.pods_by_node.end()) {
    for (const PodId pod : pods->second) {
      const Index::PodRow& pod_row = known_row(index.pods, pod);
      held.push_back({.gpus = pod_row.gpus, .devices = pod_row.devices});
    }
  }
  index.rooms.set(id, {.gpu = node->gpu,
                       .gpus = node->gpus,
                       .free = free_gpus(node->gpus, std::move(held)),
                       .open = node->phase == model::Node::Phase::ready,
                       .node_class = node->node_class,
                       .available = node->available,
                       .domains = node->domains});
}

}  // namespace

Index build(const model::Snapshot& snapshot) {
  Index index;
  std::set<NodeId> touched;
  snapshot.pods.for_each([&](PodId id, const model::Pod& pod) { learn_pod(index, id, pod, touched); });
  snapshot.gangs.for_each([&](GangId id, const model::Gang& gang) { learn_gang(index, id, gang); });
  snapshot.nodes.for_each([&](NodeId id, const model::Node& node) { refresh_node(index, id, &node); });
  return index;
}

void apply(Index& index, const model::Snapshot& next, const model::Delta& delta) {
  std::set<NodeId> touched(delta.nodes.begin(), delta.nodes.end());
  for (PodId id : delta.pods) {
    forget_pod(index, id, touched);
    if (const model::Pod* pod = next.pods.find(id)) learn_pod(index, id, *pod, touched);
  }
  for (GangId id : delta.gangs) {
    forget_gang(index, id);
    if (const model::Gang* gang = next.gangs.find(id)) learn_gang(index, id, *gang);
  }
  for (NodeId id : touched) refresh_node(index, id, next.nodes.find(id));
  if (delta.catalog.eligibility) index.assumed.mark_eligibility_changed();
}

}  // namespace capstan::fleet
