#include "operator/openness.h"

#include <algorithm>
#include <map>

#include "operator/cluster_view.h"

namespace capstan::op {

model::Closed Openness::closed_to(const kube::PodSpec& pod, std::int64_t count) const {
  if (free_ == nullptr) free_ = std::make_unique<FreeResources>(pods_);
  model::Closed closed;
  for (const OpenNode& each : nodes_) {
    const kube::Node& node = *each.node;
    const bool open = admits(pod, node.meta.labels, node.taints) && free_->enough(node, pod, count);
    if (!open) closed.nodes.push_back(each.id);
  }
  for (const OpenSale& each : sales_) {
    if (!admits(pod, each.sale.labels, each.pool->node.taints)) closed.purchases.push_back(each.purchase);
  }
  std::ranges::sort(closed.nodes);
  std::ranges::sort(closed.purchases);
  return closed;
}

model::GpuKindId Openness::kind_for(const model::Closed& closed) const {
  std::map<model::GpuKindId, MilliGpu> gpus;
  for (const OpenNode& each : nodes_) {
    if (!std::ranges::binary_search(closed.nodes, each.id)) gpus[each.gpu] += gpus_of(each.node->allocatable);
  }
  const auto most = std::ranges::max_element(gpus, {}, [](const auto& entry) { return entry.second; });
  if (most != gpus.end()) return most->first;
  const auto sold = std::ranges::find_if(
      sales_, [&](const OpenSale& each) { return !std::ranges::binary_search(closed.purchases, each.purchase); });
  return sold == sales_.end() ? model::GpuKindId() : sold->gpu;
}

}  // namespace capstan::op
