#include "operator/snapshot/pod_index.h"

#include "operator/view/pod_groups.h"

namespace capstan::op {
namespace {

const PodIndex::List kNone;

std::string key_of(std::string_view ns, std::string_view key, std::string_view value) {
  return std::string(ns) + '\n' + std::string(key) + '\n' +
         std::string(value);  // no name or label contains a line break
}

}  // namespace

PodIndex::PodIndex(const kube::StoreSnapshot<kube::Pod>& pods) {
  pods.for_each([&](kube::RowId, const kube::Pod& pod) {
    if (pod.over()) return;
    by_namespace_[pod.meta.ns].push_back(&pod);
    for (const auto& [key, value] : pod.meta.labels.entries()) {
      by_label_[key_of(pod.meta.ns, key, value)].push_back(&pod);
    }
  });
}

const PodIndex::List& PodIndex::with_label(std::string_view ns, std::string_view key, std::string_view value) const {
  const auto found = by_label_.find(key_of(ns, key, value));
  return found == by_label_.end() ? kNone : found->second;
}

std::span<const kube::Pod* const> PodIndex::candidates(const kube::Workload& workload) const {
  const std::string& ns = workload.meta.ns;
  if (workload.kind == "LeaderWorkerSet") return with_label(ns, kSetNameLabel, workload.meta.name);
  const auto all = by_namespace_.find(ns);
  const List* rarest = all == by_namespace_.end() ? &kNone : &all->second;
  for (const auto& [key, value] : workload.selector.labels.entries()) {
    const List& list = with_label(ns, key, value);
    if (list.size() < rarest->size()) rarest = &list;
  }
  return *rarest;
}

}  // namespace capstan::op
