#pragma once

#include <string_view>

// Well-known labels of nodes and NodeClaims.
namespace capstan::kube::labels {

// https://kubernetes.io/docs/reference/labels-annotations-taints/
inline constexpr std::string_view kInstanceType = "node.kubernetes.io/instance-type";
inline constexpr std::string_view kZone = "topology.kubernetes.io/zone";
inline constexpr std::string_view kHostname = "kubernetes.io/hostname";

// https://karpenter.sh/docs/concepts/
inline constexpr std::string_view kNodePool = "karpenter.sh/nodepool";
inline constexpr std::string_view kCapacityType = "karpenter.sh/capacity-type";

/// Set by NVIDIA's GPU feature discovery.
/// https://github.com/NVIDIA/k8s-device-plugin/tree/main/docs/gpu-feature-discovery
inline constexpr std::string_view kGpuProduct = "nvidia.com/gpu.product";

}  // namespace capstan::kube::labels
