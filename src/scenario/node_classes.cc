#include "scenario/node_classes.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace capstan::scenario {
namespace {

/// Returns true if the labels contain every label of the selector.
bool has_labels(const Labels& labels, const Labels& selector) {
  return std::ranges::all_of(selector, [&](const auto& asked) {
    const auto found = labels.find(asked.first);
    return found != labels.end() && found->second == asked.second;
  });
}

}  // namespace

std::vector<model::NodeClassId> classify_nodes(std::span<const PodNeeds> needs, std::span<const NodeLabels> nodes,
                                               model::Eligibility& out) {
  std::set<std::string> asked;
  for (const PodNeeds& pods : needs) {
    for (const auto& [name, value] : pods.selector) asked.insert(name);
  }
  std::map<Labels, model::NodeClassId> classes;
  std::vector<model::NodeClassId> found(nodes.size());
  for (std::size_t i = 0; i < nodes.size() && !asked.empty(); ++i) {
    Labels relevant = nodes[i].labels;
    std::erase_if(relevant, [&](const auto& label) { return !asked.contains(label.first); });
    const model::NodeClassId next{static_cast<std::uint32_t>(classes.size())};
    found[i] = classes.try_emplace(std::move(relevant), next).first->second;
    for (const model::Purchase& purchase : nodes[i].purchases) out.purchases[purchase] = found[i];
  }
  for (const PodNeeds& pods : needs) {
    model::PodClass& pod_class = out.pod_classes.emplace_back();
    pod_class.requests = pods.requests;
    pod_class.node_classes.resize(classes.size());
    for (const auto& [labels, id] : classes) pod_class.node_classes[id.value] = has_labels(labels, pods.selector);
  }
  return found;
}

}  // namespace capstan::scenario
