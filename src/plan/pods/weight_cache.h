#pragma once

#include <string>
#include <vector>

#include "plan/result/plan.h"

// The cache of weights and images on the nodes: the weights are downloaded once per node and not once per start.
namespace capstan::plan {

inline constexpr std::string_view kModelsMount = "/models";

/// Returns true if the plan downloads the weights from Hugging Face. Triton serves engines that were built for the GPU,
/// from a volume of the user's own.
bool downloads_weights(const ServiceSpec& service);
/// Returns true if the weights cannot be loaded without the Secret: the spec names it, or the model is gated.
bool needs_model_secret(const ServiceSpec& service);

/// Returns the folder of the cache on a node. On AWS nodes that the plan launches, it is on the NVMe disks.
std::string node_cache_path(const PlanSpec& spec);
/// Returns the folder of the weights inside a container: "/models/meta-llama--Llama-3.3-70B-Instruct".
std::string model_folder(const ServiceSpec& service);

/// Returns the volumes that a pod needs for its weights.
std::vector<Yaml> weight_volumes(const PlanSpec& spec, const ServiceSpec& service);
/// Returns the init container that waits for the weights, and downloads them if the node does not have them.
Yaml weight_init_container(const ServiceSpec& service);

/// Returns the ConfigMap with the script of the init container, and the DaemonSet that runs the same script and pulls
/// the image on every node of the pools, so that a replica finds both. If the plan does not download the weights,
/// returns only a DaemonSet that pulls the image.
std::vector<Yaml> weight_cache_objects(const PlanSpec& spec, const ServiceSpec& service,
                                       const std::vector<std::string>& pools);

}  // namespace capstan::plan
