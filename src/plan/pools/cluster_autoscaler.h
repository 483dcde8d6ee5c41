#pragma once

#include <string>
#include <vector>

#include "plan/pools/pools.h"
#include "plan/result/plan.h"

// Nodes without Karpenter: groups of the Cluster Autoscaler on AWS, and node pools of GKE and AKS.
namespace capstan::plan {

/// Returns the node groups as an eksctl file, the values of the Cluster Autoscaler's chart, and the ConfigMap of its
/// priority expander.
std::vector<Manifest> node_groups(const PlanSpec& spec, const std::vector<GpuPool>& pools);

/// Returns the gcloud commands that create the node pools of GKE, whose own Cluster Autoscaler then resizes them. A
/// pool has no command if GKE does not offer its GPU.
std::vector<std::string> gke_node_pools(const PlanSpec& spec, const std::vector<GpuPool>& pools);

/// Returns the az commands that create the node pools of AKS with its Cluster Autoscaler.
std::vector<std::string> aks_node_pools(const PlanSpec& spec, const std::vector<GpuPool>& pools);

/// Returns the kubectl commands that give existing nodes the label and the taint of their pool.
std::vector<std::string> label_nodes(const PlanSpec& spec, const std::vector<GpuPool>& pools);

/// Returns GKE's name of a GPU, "nvidia-h100-80gb"; empty if GKE does not offer it.
std::string_view gke_accelerator(const MachineSpec& machine);

}  // namespace capstan::plan
