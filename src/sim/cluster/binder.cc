#include "sim/cluster/binder.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "sim/cluster/domain_key.h"
#include "sim/cluster/pod_fit.h"

namespace capstan::sim {

/// Returns true if all pods are different unbound pods of the gang, and all nodes are ready and have its kind of GPU.
bool Binder::is_well_formed(const model::BindPods& what) const {
  const model::Gang* gang = rows().gangs.find(what.gang);
  if (gang == nullptr || what.bindings.empty()) return false;
  std::set<model::PodId> pods;
  return std::ranges::all_of(what.bindings, [&](const model::BindPods::Binding& binding) {
    const model::Pod* pod = rows().pods.find(binding.pod);
    const model::Node* node = rows().nodes.find(binding.node);
    if (pod == nullptr || pod->gang != what.gang || pod->node.valid() || !pods.insert(binding.pod).second) return false;
    return node != nullptr && node->phase == model::Node::Phase::ready && node->gpu == gang->spec.pods.gpu;
  });
}

/// Returns the domains of the gang's level in which its pods are after the binding.
std::set<std::uint32_t> Binder::domains_after(const model::BindPods& what) const {
  const model::Gang& gang = rows().gangs.at(what.gang);
  std::set<std::uint32_t> domains;
  for (model::PodId id : gang.pods) {
    const model::NodeId node = rows().pods.at(id).node;
    if (node.valid()) domains.insert(domain_key(rows(), node, gang.spec.required_level));
  }
  for (const auto& binding : what.bindings) domains.insert(domain_key(rows(), binding.node, gang.spec.required_level));
  return domains;
}

std::optional<model::Reason> Binder::perform(const model::BindPods& what) {
  const model::Reason refused{model::ReasonCode::outcome_refused};
  if (!is_well_formed(what)) return refused;
  const bool is_spread = domains_after(what).size() > 1;
  if (config_.enforce_together && is_spread) {
    ++meter_.binds_refused_spread;
    return refused;
  }
  std::map<model::NodeId, std::int64_t> asked;
  for (const auto& binding : what.bindings) ++asked[binding.node];
  const model::PodSet& set = rows().gangs.at(what.gang).spec.pods;
  for (const auto& [node, pods] : asked) {
    const MilliGpu gpus = set.gpus_per_pod * pods;
    if (gpus > nodes_.free(node) || pods_besides_gpus(catalog(), set, rows().nodes.at(node), pods) < pods) {
      ++meter_.binds_refused_full;
      return model::Reason{model::ReasonCode::no_node_fits, {gpus.count, set.gpu.value}};
    }
  }
  for (const auto& binding : what.bindings) pods_.bind(binding.pod, binding.node);
  if (jobs_.owns(what.gang)) {
    jobs_.note_bound(what.gang);
  } else {
    gangs_.note_bound(what.gang, is_spread);
  }
  return std::nullopt;
}

bool Binder::place_whole(model::GangId id, QueueRoom& queues) {
  const model::Gang& gang = rows().gangs.at(id);
  const model::QueueId queue = gang.spec.queue;
  const MilliGpu gpus = gang.spec.pods.gpus_per_pod * std::ssize(gang.pods);
  if (const std::optional<MilliGpu> left = queues.left(queue); left && gpus > *left) return false;
  std::vector<std::pair<std::uint32_t, model::NodeId>> candidates;  // nodes with room for a pod, by domain
  rows().nodes.for_each([&](model::NodeId node_id, const model::Node& node) {
    if (node.phase != model::Node::Phase::ready || node.gpu != gang.spec.pods.gpu) return;
    if (nodes_.free(node_id) < gang.spec.pods.gpus_per_pod) return;
    candidates.emplace_back(domain_key(rows(), node_id, gang.spec.required_level), node_id);
  });
  std::ranges::sort(candidates);
  std::vector<model::NodeId> nodes;  // nodes of the first pods, inside the current domain
  std::uint32_t current = 0;
  for (const auto& [domain, node] : candidates) {
    if (domain != current) nodes.clear();
    current = domain;
    const std::int64_t by_gpus = nodes_.free(node).count / gang.spec.pods.gpus_per_pod.count;
    const std::int64_t most = std::min<std::int64_t>(by_gpus, std::ssize(gang.pods) - std::ssize(nodes));
    const std::int64_t fitting = pods_besides_gpus(catalog(), gang.spec.pods, rows().nodes.at(node), most);
    nodes.insert(nodes.end(), static_cast<std::size_t>(fitting), node);
    if (nodes.size() < gang.pods.size()) continue;
    for (std::size_t i = 0; i < nodes.size(); ++i) pods_.bind(gang.pods[i], nodes[i]);
    queues.hold(queue, gpus);
    return true;
  }
  return false;
}

}  // namespace capstan::sim
