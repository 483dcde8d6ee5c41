#pragma once

#include <set>
#include <string>
#include <string_view>

#include "manifest/yaml.h"
#include "plan/objects/yaml.h"

// The parts of a workload's pods, in the plan and in existing manifests.
namespace capstan::plan {

/// Returns the pod template of a Deployment, a DaemonSet or the leader of a LeaderWorkerSet; null: it has none.
const manifest::Node* pod_template(const manifest::Node& body);
const Yaml* pod_template(const Yaml& body);

/// Returns the labels of the pods of a workload; null: it states none.
const manifest::Node* pod_labels_of(const manifest::Node& body);
const Yaml* pod_labels_of(const Yaml& body);

/// Returns the labels that the selector of a workload or a monitor states; null: it states none.
const manifest::Node* selected_labels(const manifest::Node& body);
const Yaml* selected_labels(const Yaml& body);

/// Returns true for a container that asks for a GPU, or for a part of one.
bool asks_for_gpu(const Yaml& container);

/// Returns the engine that a container starts, by its image and its command: "vllm", "sglang", "tensorrt", "triton";
/// empty: unknown.
std::string_view engine_word(const Yaml& container);

/// Returns the existing container that does the work of the planned one: the container with the same name or, if the
/// planned one asks for a GPU, the most similar one by GPU, engine and image, else the only one. Null: there is none.
/// @param list  existing containers
/// @param used  containers that are taken
const manifest::Node* find_container(const Yaml& planned, const manifest::Node& list,
                                     const std::set<const manifest::Node*>& used);

/// Returns the first container of a planned workload that asks for a GPU; null: there is none.
const Yaml* planned_engine(const Yaml& body);

/// Returns the name of an image without its registry and its version: "vllm-openai".
std::string image_name(std::string_view image);

}  // namespace capstan::plan
