#pragma once

#include <map>
#include <string>
#include <string_view>

#include "operator/view/cluster_view.h"

namespace capstan::op {

/// Finds other controllers that set the replicas of a target: a HorizontalPodAutoscaler, a ScaledObject of KEDA that is
/// not paused, a VariantAutoscaling of llm-d, the owner of the target (for example an object of Dynamo), or a GitOps
/// controller that wrote the replicas last. Capstan does not scale such a target; it only shows what it would do.
class CompetingControllers {
 public:
  explicit CompetingControllers(const ClusterView& view);
  /// Returns the competitor of a target, such as "HorizontalPodAutoscaler ns/chat", or an empty text.
  std::string_view find(std::string_view ns, const kube::TargetRef& target) const;

 private:
  std::map<std::string, std::string, std::less<>> by_target_;  // by target: the first competitor that was read
};

}  // namespace capstan::op
