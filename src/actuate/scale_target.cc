#include "actuate/scale_target.h"

#include <algorithm>
#include <string_view>

namespace capstan::actuate {
namespace {

using model::ReasonCode;

/// Field managers that write their value again and again. Autoscalers (kube-controller-manager for the HPA, KEDA's
/// operator) are not listed: Capstan finds them by their objects, and they stay the last manager after the object is
/// deleted.
constexpr std::string_view kGitOpsManagers[] = {
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
  return std::ranges::find(kGitOpsManagers, last) != std::end(kGitOpsManagers) ? last : std::string();
}

Change check_owner(const Ref& target) {
  return {target, [](kube::Json object) {
            const bool owned = !other_owner(kube::read_workload(object)).empty();
            return owned ? Change::Decision::refuse({ReasonCode::replicas_owned, {}}) : Change::Decision::settled();
          }};
}

Change set_replicas(const Ref& target, ReplicaCount requested_before, ReplicaCount wanted) {
  const auto decide = [object = target.object, requested_before, wanted](kube::Json scale) {
    const ReplicaCount now = scale["spec"]["replicas"].integer();  // absent means zero, because the API omits zeros
    if (now == wanted) return Change::Decision::settled();
    if (now != requested_before)
      return Change::Decision::refuse({ReasonCode::replicas_changed, {now, requested_before}});
    return Change::Decision::to_write(kube::scale(object, wanted, scale["metadata"]["resourceVersion"].text()));
  };
  return {target, decide, "scale"};
}

}  // namespace capstan::actuate
