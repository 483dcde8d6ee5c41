#include "operator/snapshot/gpu_holders.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace capstan::op {

GpuHolders::GpuHolders(const ClusterView& view)
    : has_claims_(view.resource_slices.version + view.resource_claims.version > 0), shared_(view.pods) {
  if (has_claims_) {
    view.nodes.for_each([&](kube::RowId, const kube::Node& node) { claimed_.set_node(node.meta.name, true); });
    view.resource_slices.for_each(
        [&](kube::RowId row, const kube::ResourceSlice& slice) { claimed_.set_slice(row, &slice); });
    view.pods.for_each([&](kube::RowId row, const kube::Pod& pod) { claimed_.set_pod(row, nullptr, &pod); });
    view.resource_claims.for_each(
        [&](kube::RowId row, const kube::ResourceClaim& claim) { claimed_.set_claim(row, &claim); });
  }
  Changes changes = claimed_.settle();
  view.pods.for_each([&](kube::RowId row, const kube::Pod& pod) { set_visible(row, &pod, changes); });
}

bool GpuHolders::can_follow(const ViewChanges& changes) const {
  if (!has_claims_ && (!changes.slices.empty() || !changes.resource_claims.empty())) return false;
  const auto shares = [](const kube::Pod* pod) { return pod != nullptr && SharedGpus::depends_on(*pod); };
  return std::ranges::none_of(changes.pods, [&](const PodChange& change) {
    return !change.status_alone && (shares(change.before) || shares(change.after));
  });
}

GpuHolders::Changes GpuHolders::follow(const ViewChanges& changes, const ClusterView& view) {
  if (has_claims_) {
    for (const NodeChange& change : changes.nodes) {
      if (change.before != nullptr) claimed_.set_node(change.before->meta.name, false);
    }
    for (const NodeChange& change : changes.nodes) {
      if (change.after != nullptr) claimed_.set_node(change.after->meta.name, true);
    }
    for (const SliceChange& change : changes.slices) claimed_.set_slice(change.row, change.after);
    for (const PodChange& change : changes.pods) claimed_.set_pod(change.row, change.before, change.after);
    for (const ResourceClaimChange& change : changes.resource_claims) claimed_.set_claim(change.row, change.after);
  }
  Changes out = claimed_.settle();
  for (const PodChange& change : changes.pods) set_visible(change.row, change.after, out);
  for (const kube::RowId row : std::set<kube::RowId>(out.pods)) {
    const auto* pod = view.pods.rows.find(row);
    set_visible(row, pod == nullptr ? nullptr : pod->get(), out);
  }
  return out;
}

bool GpuHolders::holds_visible(const kube::Pod& pod) const {
  if (pod.spec.visible_gpus.empty() || !pod.bound() || pod.over() || pod_gpus(pod) > MilliGpu{}) return false;
  const kube::OwnerReference* owner = pod.meta.controller();
  return owner == nullptr || (owner->kind != "DaemonSet" && owner->kind != "Node");
}

/// Records whether a pod sees GPUs of its node without a request or a claim, such as a launcher of sleeping engines.
/// The agents of a node, which DaemonSets run, only look at its GPUs.
void GpuHolders::set_visible(kube::RowId row, const kube::Pod* pod, Changes& changes) {
  if (const auto old = visible_.find(row); old != visible_.end()) {
    const auto on = visible_on_.find(old->second.node);
    on->second.erase(row);
    if (on->second.empty()) visible_on_.erase(on);
    changes.holders.insert(old->second.node);
    visible_.erase(old);
  }
  if (pod == nullptr || !holds_visible(*pod)) return;
  const std::vector<std::string>& visible = pod->spec.visible_gpus;
  const bool sees_all = std::ranges::find(visible, "all") != visible.end();
  std::optional<MilliGpu> gpus;
  if (!sees_all) gpus = whole_gpus(std::ssize(visible));
  visible_.emplace(row, OtherHolder{"Pod", &pod->meta, pod->spec.node, gpus});
  visible_on_[pod->spec.node].insert(row);
  changes.holders.insert(pod->spec.node);
}

std::vector<const OtherHolder*> GpuHolders::others_on(const std::set<std::string>& nodes) const {
  std::vector<const OtherHolder*> claims;
  std::set<kube::RowId> rows;
  for (const std::string& node : nodes) {
    for (const OtherHolder& claim : claimed_.others_on(node)) claims.push_back(&claim);
    const auto visible = visible_on_.find(node);
    if (visible != visible_on_.end()) rows.insert(visible->second.begin(), visible->second.end());
  }
  std::ranges::sort(claims, {},
                    [](const OtherHolder* claim) { return std::tie(claim->meta->ns, claim->meta->name, claim->node); });
  std::vector<const OtherHolder*> others = std::move(claims);
  for (const kube::RowId row : rows) others.push_back(&visible_.find(row)->second);
  std::ranges::stable_partition(others, [](const OtherHolder* other) { return other->gpus.has_value(); });
  return others;
}

bool GpuHolders::any_other_on(std::string_view node) const {
  return claimed_.nodes_with_others().contains(node) || visible_on_.contains(node);
}

std::set<std::string> GpuHolders::nodes_with_others() const {
  std::set<std::string> nodes(claimed_.nodes_with_others().begin(), claimed_.nodes_with_others().end());
  for (const auto& [node, rows] : visible_on_) nodes.insert(node);
  return nodes;
}

std::set<std::string, std::less<>> GpuHolders::used_nodes(const kube::StoreSnapshot<kube::Pod>& pods) const {
  std::set<std::string, std::less<>> used;
  pods.for_each([&](kube::RowId, const kube::Pod& pod) {
    if (pod.bound() && !pod.over() && pod_gpus(pod) > MilliGpu{}) used.insert(pod.spec.node);
  });
  for (const std::string& node : nodes_with_others()) used.insert(node);
  return used;
}

MilliGpu GpuHolders::pod_gpus(const kube::Pod& pod) const {
  return shared_.pod_gpus(pod, gpus_of(pod.spec.requests)) + claimed_.held_by(pod.meta.uid);
}

std::vector<std::uint16_t> GpuHolders::devices_of(const kube::Pod& pod) const {
  std::vector<std::uint16_t> shared = shared_.devices_of(pod);
  if (!shared.empty()) return shared;
  // On a node with divided GPUs, only the divided GPUs have numbers.
  std::vector<std::uint16_t> claimed = claimed_.devices_of(pod.meta.uid);
  if (claimed.empty() || shared_.any_on(pod.spec.node)) return {};
  return pod_gpus(pod) == whole_gpus(std::ssize(claimed)) ? claimed : std::vector<std::uint16_t>();
}

}  // namespace capstan::op
