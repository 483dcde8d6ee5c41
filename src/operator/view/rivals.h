#pragma once

#include <map>
#include <string>
#include <string_view>

#include "operator/view/cluster_view.h"

namespace capstan::op {

/// Others that set the replicas of a target: a HorizontalPodAutoscaler, a ScaledObject of KEDA's that is not paused, a
/// VariantAutoscaling of llm-d's; the object that owns the target, such as one of Dynamo's; or a GitOps controller that
/// wrote the replicas last. Capstan never fights one; it goes on showing what it would do.
class Rivals {
 public:
  explicit Rivals(const ClusterView& view);
  /// "HorizontalPodAutoscaler ns/chat"; empty where nobody else scales the target.
  std::string_view of(std::string_view ns, const kube::TargetRef& target) const;

 private:
  std::map<std::string, std::string, std::less<>> by_target_;  // the first in the order of rows
};

}  // namespace capstan::op
