#include "operator/rivals.h"

#include <set>

namespace capstan::op {
namespace {

std::string key_of(std::string_view ns, const kube::TargetRef& target) {
  return target.kind + " " + kube::key_of(ns, target.name);
}

}  // namespace

Rivals::Rivals(const ClusterView& view) {
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
}

std::string_view Rivals::of(std::string_view ns, const kube::TargetRef& target) const {
  const auto found = by_target_.find(key_of(ns, target));
  return found == by_target_.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace capstan::op
