#include "operator/admission.h"

#include <algorithm>

#include "operator/cluster_view.h"

namespace capstan::op {
namespace {

bool tolerates(const kube::Toleration& toleration, const kube::Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (toleration.key.empty()) return toleration.op == "Exists";
  if (toleration.key != taint.key) return false;
  return toleration.op == "Exists" || toleration.value == taint.value;
}

bool keeps_out(const kube::Taint& taint, const kube::PodSpec& pod) {
  if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") return false;
  return std::ranges::none_of(pod.tolerations, [&](const kube::Toleration& t) { return tolerates(t, taint); });
}

bool is_gpu(std::string_view resource) { return resource.ends_with("/gpu"); }

}  // namespace

bool admits(const kube::PodSpec& pod, const kube::StringMap& labels, std::span<const kube::Taint> taints) {
  if (!labels.contains_all(pod.node_selector)) return false;
  const bool near = pod.node_affinity.empty() ||
                    std::ranges::any_of(pod.node_affinity, [&](const std::vector<kube::Requirement>& term) {
                      return std::ranges::all_of(term, [&](const kube::Requirement& r) { return holds(r, labels); });
                    });
  return near && std::ranges::none_of(taints, [&](const kube::Taint& taint) { return keeps_out(taint, pod); });
}

FreeResources::FreeResources(const kube::StoreSnapshot<kube::Pod>& pods) {
  pods.for_each([&](kube::RowId, const kube::Pod& pod) {
    if (!pod.bound() || pod.over()) return;
    kube::Resources& used = used_[pod.spec.node];
    for (const auto& [name, milli] : pod.spec.requests.milli) used.add(name, milli);
    used.add("pods", 1'000);
  });
}

bool FreeResources::enough(const kube::Node& node, const kube::PodSpec& pod, std::int64_t pods) const {
  const auto found = used_.find(node.meta.name);
  const kube::Resources none;
  const kube::Resources& used = found == used_.end() ? none : found->second;
  const std::int64_t gpus = gpus_of(pod.requests).count;
  const std::int64_t free_gpus = gpus_of(node.allocatable).count - gpus_of(used).count;
  const std::int64_t here = gpus == 0 ? pods : std::min(pods, free_gpus / gpus);
  if (here <= 0) return true;
  const auto fits = [&](std::string_view name, std::int64_t each) {
    // A node that says nothing of a resource has none of it; sums beyond the range do not fit anywhere.
    std::int64_t wanted = 0;
    return !__builtin_mul_overflow(each, here, &wanted) && wanted <= node.allocatable.get(name) - used.get(name);
  };
  const bool named = node.allocatable.get("pods") == 0 || fits("pods", 1'000);
  return named && std::ranges::all_of(pod.requests.milli, [&](const auto& entry) {
           return is_gpu(entry.first) || entry.second == 0 || fits(entry.first, entry.second);
         });
}

}  // namespace capstan::op
