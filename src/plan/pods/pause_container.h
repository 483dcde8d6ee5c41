#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "plan/objects/yaml.h"

// Parts of pods that several sections write.
namespace capstan::plan {

/// Returns `requests` and `limits` with the same values, which gives the pod the QoS class Guaranteed.
Yaml equal_resources(std::initializer_list<Yaml::Entry> values);

/// Returns a container that does nothing, so that its pod stays.
Yaml pause_container();

/// Returns node selector terms that match the nodes of some pools, by their label.
Yaml node_affinity(const std::vector<std::string>& pools);

}  // namespace capstan::plan
