#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "actuate/change.h"
#include "kube/node_views.h"

namespace capstan::actuate {

/// Label with the name of the group that a claim belongs to.
inline constexpr std::string_view kClaimGroup = "capstan.dev/claim-group";
/// Annotation of claims that are bought for a gang. If one claim does not become a node, all claims are deleted.
inline constexpr std::string_view kClaimTogether = "capstan.dev/claim-together";
/// Annotation with the number of claims in the group, which shows whether the group is complete.
inline constexpr std::string_view kClaimGroupSize = "capstan.dev/claim-group-size";
/// Annotation with the level of the domain that all nodes of the launch share: "zone" or "cluster". Absent: any domain.
inline constexpr std::string_view kClaimWithin = "capstan.dev/claim-within";
/// Annotation that stops Karpenter from disrupting a node, or a claim while it has no node.
inline constexpr std::string_view kDoNotDisrupt = "karpenter.sh/do-not-disrupt";

/// Labels that the nodes must have, with their values: instance type, zone, capacity type, and the domain of a gang
/// that must stay together.
using RequiredLabels = std::vector<std::pair<std::string, std::string>>;

/// Nodes that are bought together.
struct ClaimGroup {
  kube::NodePool pool;
  RequiredLabels required_labels;
  kube::Resources requests;  ///< requests per node; a node becomes `Initialized` only when it offers them
  std::string name;          ///< permanent name of the group; a new leader that repeats the launch uses the same name
  std::int64_t count = 1;
  bool is_all_or_none =
      false;           ///< true for a gang: launch all nodes or none, and do not disrupt them before the gang runs
  std::string domain;  ///< value of `kClaimWithin`
};

/// The launch of a claim, as read from its annotations.
struct LaunchMarks {
  std::int64_t count = 0;       ///< number of claims in the group; 0: not known
  bool is_all_or_none = false;  ///< true for a gang: launch all nodes or none
  std::string domain;
};
LaunchMarks launch_marks_of(const kube::StringMap& annotations);

/// Returns "POOL-GROUP-INDEX", shortened to a valid name.
std::string claim_name(const ClaimGroup& group, std::int64_t index);

/// Returns the claim as Karpenter itself would write it for the pool, with its labels, hash, class, taints and
/// requirements. Each of the group's `required_labels` becomes a requirement with exactly one value.
std::string claim_body(const ClaimGroup& group, std::int64_t index);

/// Removes the annotation that protects a claim or a node from disruption.
Change allow_disruption(const Ref& claim_or_node);

}  // namespace capstan::actuate
