#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/eligibility.h"
#include "scenario/pod_needs.h"

namespace capstan::scenario {

/// The labels of the nodes that one entry of the file describes.
struct NodeLabels {
  Labels labels{};
  std::vector<model::Purchase> purchases{};  ///< purchases that bring such nodes
};

/// Divides nodes into classes. The nodes of a class have the same values of all labels that some pod asks for; without
/// such labels there are no classes.
/// @param needs  by `PodClassId`
/// @param out    receives the classes of pods and of the purchases
/// @return the class of each entry of `nodes`
std::vector<model::NodeClassId> classify_nodes(std::span<const PodNeeds> needs, std::span<const NodeLabels> nodes,
                                               model::Eligibility& out);

}  // namespace capstan::scenario
