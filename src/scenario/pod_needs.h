#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "manifest/fields.h"
#include "model/ids.h"
#include "model/resources.h"

namespace capstan::scenario {

struct Scenario;

/// Values of labels by their names.
using Labels = std::map<std::string, std::string>;

/// CPU, memory and labels that a pod needs from its node. Its place in `Scenario::pod_needs` is its `PodClassId`.
struct PodNeeds {
  model::Resources requests{};
  Labels selector{};  ///< labels that the node must have
  friend bool operator==(const PodNeeds&, const PodNeeds&) = default;
};

/// Reads a Kubernetes quantity such as 8, 500m or 64Gi, in thousandths. An absent key gives nothing.
std::optional<std::int64_t> read_amount(manifest::Fields& fields, std::string_view key, manifest::ErrorList& errors);
/// Reads `cpu`; the unit is a milli-CPU.
std::optional<std::int64_t> read_cpu(manifest::Fields& fields, manifest::ErrorList& errors);
/// Reads `memory`, in MiB, rounded up.
std::optional<std::int64_t> read_memory(manifest::Fields& fields, manifest::ErrorList& errors);

/// Adds the labels of a mapping to `labels`, in place of labels with the same name.
/// @param what  path of the mapping for errors
void read_labels(const manifest::Node& node, const std::string& what, Labels& labels, manifest::ErrorList& errors);

/// Returns the class of pods with these needs, and adds it to the scenario if it is new.
model::PodClassId pod_class_of(Scenario& scenario, const PodNeeds& needs);

/// Reads `cpu`, `memory` and `node_selector`, the needs of one pod.
/// @return no class if all keys are absent
model::PodClassId read_pod_needs(manifest::Fields& fields, Scenario& scenario, manifest::ErrorList& errors);

}  // namespace capstan::scenario
