#include "operator/view/admission.h"

#include <algorithm>

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

}  // namespace

bool admits(const kube::PodSpec& pod, const kube::StringMap& labels, std::span<const kube::Taint> taints) {
  if (!labels.contains_all(pod.node_selector)) return false;
  const bool near = pod.node_affinity.empty() ||
                    std::ranges::any_of(pod.node_affinity, [&](const std::vector<kube::Requirement>& term) {
                      return std::ranges::all_of(term, [&](const kube::Requirement& r) { return holds(r, labels); });
                    });
  return near && std::ranges::none_of(taints, [&](const kube::Taint& taint) { return keeps_out(taint, pod); });
}

}  // namespace capstan::op
