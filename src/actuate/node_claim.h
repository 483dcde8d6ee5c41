#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "actuate/change.h"
#include "kube/node_views.h"

namespace capstan::actuate {

/// The label by which claims that only make sense together know each other.
inline constexpr std::string_view kClaimGroup = "capstan.dev/claim-group";
/// Of claims that are bought for a gang: given back together where they do not all become nodes.
inline constexpr std::string_view kClaimTogether = "capstan.dev/claim-together";
/// How many claims the group has, so that whoever finds some of them knows whether it is whole.
inline constexpr std::string_view kClaimGroupSize = "capstan.dev/claim-group-size";
/// The level of the domain that all nodes of the launch are in: "zone" or "cluster"; absent: none was asked for.
inline constexpr std::string_view kClaimWithin = "capstan.dev/claim-within";
/// Karpenter leaves a node with this annotation alone, or a claim as long as it has no node.
inline constexpr std::string_view kDoNotDisrupt = "karpenter.sh/do-not-disrupt";

/// Which of a pool's nodes is wanted: labels with the one value that each must have. Instance type, zone, capacity
/// type, and a domain where the gang must stay together.
using NodePick = std::vector<std::pair<std::string, std::string>>;

/// Nodes to be bought together.
struct ClaimGroup {
  kube::NodePool pool;
  NodePick pick;
  kube::Resources requests;  ///< of each node: what its `Initialized` waits for, GPUs above all
  std::string name;          ///< of the group: a name for life, the same for a successor that repeats it
  std::int64_t count = 1;
  bool held = false;   ///< for a gang: all or none, and not to be disrupted before it is there
  std::string within;  ///< as in `kClaimWithin`
};

/// What a claim's annotations say of the launch that it came of.
struct LaunchMarks {
  std::int64_t count = 0;  ///< claims of it in all; 0: they do not say
  bool together = false;   ///< for a gang: all or none
  std::string within;
};
LaunchMarks launch_marks_of(const kube::StringMap& annotations);

/// "POOL-GROUP-INDEX", cut so that it is a name.
std::string claim_name(const ClaimGroup& group, std::int64_t index);

/// The object as Karpenter itself would write it for the pool: its label, labels, hash, class, taints and requirements,
/// each label that is picked with the one value.
std::string claim_body(const ClaimGroup& group, std::int64_t index);

/// Takes away the annotation that holds a claim, or its node.
Change end_hold(const Ref& claim_or_node);

}  // namespace capstan::actuate
