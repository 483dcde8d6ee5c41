#include "actuate/scale_target.h"

#include <algorithm>
#include <string_view>

namespace capstan::actuate {
namespace {

using model::ReasonCode;

/// Managers of fields that write what they want again and again. The autoscalers' (kube-controller-manager for the HPA,
/// KEDA's operator) are not among them: they stay the last manager when their object has long gone, and whether it is
/// there is seen from the object.
constexpr std::string_view kPersistent[] = {
    "argocd-controller",              // Argo CD, server-side
    "argocd-application-controller",  // Argo CD, client-side
    "kustomize-controller",           // Flux
    "helm-controller",                // Flux
};

}  // namespace

std::string other_owner(const kube::Workload& workload) {
  if (const kube::OwnerReference* owner = workload.meta.controller()) return owner->kind + " " + owner->name;
  if (workload.replicas_managers.empty()) return {};
  const std::string& last = workload.replicas_managers.back();
  return std::ranges::find(kPersistent, last) != std::end(kPersistent) ? last : std::string();
}

Change check_owner(const Ref& target) {
  return {target, [](kube::Json object) {
            const bool owned = !other_owner(kube::read_workload(object)).empty();
            return owned ? Change::Wish::refuse({ReasonCode::replicas_owned, {}}) : Change::Wish::settled();
          }};
}

Change set_replicas(const Ref& target, ReplicaCount seen, ReplicaCount wanted) {
  const auto look = [object = target.object, seen, wanted](kube::Json scale) {
    const ReplicaCount now = scale["spec"]["replicas"].integer();  // absent means zero: the API leaves zeros out
    if (now == wanted) return Change::Wish::settled();
    if (now != seen) return Change::Wish::refuse({ReasonCode::replicas_changed, {now, seen}});
    return Change::Wish::make(kube::scale(object, wanted, scale["metadata"]["resourceVersion"].text()));
  };
  return {target, look, "scale"};
}

}  // namespace capstan::actuate
