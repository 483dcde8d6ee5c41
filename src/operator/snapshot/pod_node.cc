#include "operator/snapshot/pod_node.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "actuate/bind_intent.h"
#include "operator/snapshot/waiting_gangs.h"

namespace capstan::op {

std::string node_of(const kube::Pod& pod) {
  if (pod.bound()) return pod.spec.node;
  const std::string* annotation = pod.meta.annotations.find(actuate::kBindIntent);
  const auto intent = annotation != nullptr ? actuate::read_bind_intent(*annotation) : std::nullopt;
  return intent ? intent->node : std::string();
}

std::string node_held_by(const kube::Pod& pod, const FleetPolicy& fleet) {
  std::string node = node_of(pod);
  if (node.empty() && !places(fleet, pod.spec.scheduler)) node = pod.nominated_node;
  return node;
}

bool is_annotated_in_part(const PodGroup& group) {
  std::map<std::string, std::int64_t> lacks;
  for (const kube::Pod* pod : group.pods) {
    if (pod->bound()) return false;
    const std::string* text = pod->meta.annotations.find(actuate::kBindIntent);
    const auto intent = text != nullptr ? actuate::read_bind_intent(*text) : std::nullopt;
    if (intent) --lacks.try_emplace(intent->transaction, intent->pods).first->second;
  }
  return std::ranges::any_of(lacks, [](const auto& entry) { return entry.second > 0; });
}

}  // namespace capstan::op
