// The part of SnapshotBuilder that makes rows for the objects that hold GPUs and are not pods with a row.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/known_row.h"
#include "operator/snapshot/pass.h"

namespace capstan::op {

/// Returns the nodes for which the rows of other holders must be made again. These are the nodes on which the holders
/// have changed. A node with unchanged holders is among them if the node or one of its pods has changed, because then
/// another number of GPUs may be left for the holders.
/// @param changed  nodes on which the holders have changed
std::set<std::string> SnapshotBuilder::nodes_of_changed_holders(const Pass& pass, std::set<std::string> changed) const {
  const auto add = [&](model::NodeId id) {
    const ObjectKey* node = nodes_.find(id);
    if (node == nullptr) return;
    if (state_->holders.any_other_on(node->name) || state_->holder_rows.contains(node->name)) {
      changed.insert(node->name);
    }
  };
  if (changed.empty() && state_->holder_rows.empty() && !state_->holders.any_other()) return changed;
  for (const model::NodeId id : pass.old_nodes) add(id);
  for (const auto& [id, node] : pass.nodes) add(id);
  for (const auto& [id, pod] : pass.pods) add(pod.node);
  for (const model::PodId id : pass.old_pods) {
    if (const model::Pod* row = last_.pods.find(id)) add(row->node);
  }
  return changed;
}

/// Returns the GPUs of a node that no pod with a row holds.
MilliGpu SnapshotBuilder::gpus_left_on(const Pass& pass, const std::string& name, model::NodeId id) const {
  const auto changed = pass.nodes.find(id);
  MilliGpu left = changed != pass.nodes.end() ? changed->second.gpus : last_.nodes.at(id).gpus;
  for (const kube::RowId row : eligibility_.pods_on(name)) {
    const kube::Pod* pod = state_->replicas.pod(row).pod;
    const std::optional<model::PodId> known = pods_.known_id(key_of("Pod", pod->meta));
    if (!known) continue;
    const auto made = pass.pods.find(*known);
    const bool is_old = made == pass.pods.end() && !pass.reads_all && !pass.old_pods.contains(*known);
    const model::Pod* holder = is_old ? last_.pods.find(*known) : nullptr;
    if (made != pass.pods.end()) holder = &made->second;
    if (holder != nullptr && holder->node == id) left -= holder->gpus;
  }
  return left;
}

/// Makes the rows of the objects that hold GPUs of these nodes and have no row as a pod, so that nothing else is placed
/// on these GPUs: first of the objects that hold a known number of GPUs, then of the objects that may hold all GPUs
/// that are left.
void SnapshotBuilder::read_other_holders(Pass& pass, const std::set<std::string>& nodes) {
  std::set<model::GangId> before;
  for (const std::string& node : nodes) {
    const auto rows = state_->holder_rows.find(node);
    if (rows == state_->holder_rows.end()) continue;
    for (const model::GangId gang : rows->second) {
      before.insert(gang);
      pass.old_gangs.insert(gang);
      const std::vector<model::PodId>& pods = last_.gangs.at(gang).pods;
      pass.old_pods.insert(pods.begin(), pods.end());
    }
    state_->holder_rows.erase(rows);
  }
  std::map<model::NodeId, MilliGpu> left;
  std::set<model::GangId> added;
  std::vector<model::GangId> unnumbered;
  for (const OtherHolder* other : state_->holders.others_on(nodes)) {
    const State::KnownNode* node = state_->find_gpu_node(other->node);
    if (node == nullptr) continue;
    const auto [at, is_first] = left.try_emplace(node->id);
    if (is_first) at->second = gpus_left_on(pass, other->node, node->id);
    const MilliGpu gpus = std::min(other->gpus.value_or(at->second), at->second);
    if (gpus <= MilliGpu{}) continue;
    at->second -= gpus;
    const model::GangId gang = add_holder(pass, *other, node->id, node->gpu, gpus);
    state_->holder_rows[other->node].push_back(gang);
    added.insert(gang);
    if (!before.contains(gang)) unnumbered.push_back(gang);
  }
  for (const model::GangId gang : before) {
    if (!added.contains(gang)) state_->holder_numbers.free(known_row(ordinals_, gang), gang);
  }
  number_unnumbered(state_->holder_numbers, unnumbered);
  for (const model::GangId gang : added) known_row(pass.gangs, gang).ordinal = known_row(ordinals_, gang);
}

}  // namespace capstan::op
