#include "operator/view/competing_controllers.h"

#include <set>

#include "actuate/scale_target.h"

namespace capstan::op {
namespace {

std::string key_of(std::string_view ns, const kube::TargetRef& target) {
  return target.kind + " " + kube::key_of(ns, target.name);
}

}  // namespace

CompetingControllers::CompetingControllers(const ClusterView& view) {
  std::set<std::string> of_paused;  // autoscalers that a paused ScaledObject has made
  view.scaled_objects.for_each([&](kube::RowId, const kube::ScaledObject& scaled) {
    if (scaled.paused) {
      if (!scaled.hpa.empty()) of_paused.insert(kube::key_of(scaled.meta.ns, scaled.hpa));
      return;
    }
    by_target_.emplace(key_of(scaled.meta.ns, scaled.target), "ScaledObject " + scaled.meta.key());
  });
  view.autoscalers.for_each([&](kube::RowId, const kube::HorizontalPodAutoscaler& hpa) {
    if (of_paused.contains(hpa.meta.key())) return;
    by_target_.emplace(key_of(hpa.meta.ns, hpa.target), "HorizontalPodAutoscaler " + hpa.meta.key());
  });
  view.variant_autoscalings.for_each([&](kube::RowId, const kube::VariantAutoscaling& scaling) {
    by_target_.emplace(key_of(scaling.meta.ns, scaling.target), "VariantAutoscaling " + scaling.meta.key());
  });
  const auto inspect = [&](const kube::Workload& workload) {
    std::string owner = actuate::other_owner(workload);
    if (!owner.empty()) by_target_.emplace(workload.kind + " " + workload.meta.key(), std::move(owner));
  };
  for (const auto* workloads : {&view.deployments, &view.stateful_sets, &view.leader_worker_sets}) {
    workloads->for_each([&](kube::RowId, const kube::Workload& workload) { inspect(workload); });
  }
  for (const ScaledTargets::Target& target : view.scaled->targets) inspect(target.workload);
}

std::string_view CompetingControllers::find(std::string_view ns, const kube::TargetRef& target) const {
  const auto found = by_target_.find(key_of(ns, target));
  return found == by_target_.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace capstan::op
