#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace capstan::model {

/// A field of pods because of which Capstan places none of them: their scheduling gates, requests without GPUs, or a
/// required rule about their nodes that no decision of Capstan follows. kube-scheduler follows all of these rules.
enum class PodRule : std::uint8_t {
  none,
  pod_affinity,       ///< the pods must run near other pods
  pod_anti_affinity,  ///< the pods must not run near other pods
  topology_spread,    ///< the pods must be spread evenly over domains
  node_fields,        ///< the pods choose their nodes by a field other than a label, such as the name
  scheduling_gates,   ///< the pods wait until other controllers have removed their gates
  no_gpus,            ///< no pod of the gang requests GPUs
};

/// The words for a rule: its word in snapshot files, and the field of a pod that states the rule.
struct PodRuleNames {
  std::string_view key;
  std::string_view field;
};

/// Words for the rules, in the order of `PodRule`.
inline constexpr std::array<PodRuleNames, 7> kPodRuleNames{{{"none", ""},
                                                            {"pod_affinity", "affinity.podAffinity"},
                                                            {"pod_anti_affinity", "affinity.podAntiAffinity"},
                                                            {"topology_spread", "topologySpreadConstraints"},
                                                            {"node_fields", "affinity.nodeAffinity with matchFields"},
                                                            {"scheduling_gates", "schedulingGates"},
                                                            {"no_gpus", "resources.requests"}}};

}  // namespace capstan::model
