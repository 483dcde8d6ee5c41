#include "plan/against/double_scaler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace capstan::plan {

namespace {

using manifest::Node;

const Node* scaler_target(const ExistingObject& object) {
  const Node* spec = object.body.find("spec");
  const bool is_scaler = object.kind() == "HorizontalPodAutoscaler" || object.kind() == "ScaledObject";
  return spec == nullptr || !is_scaler ? nullptr : spec->find("scaleTargetRef");
}

/// Returns the kind of a target. KEDA's default for a target without a kind is Deployment.
std::string target_kind(const Node& target) {
  const std::string kind = text_at(target, "kind");
  return kind.empty() ? "Deployment" : kind;
}

/// Returns the target of an autoscaler as one text: "llm/Deployment/chat"; empty: it has none.
std::string target_key(const ExistingObject& object) {
  const Node* target = scaler_target(object);
  if (target == nullptr || text_at(*target, "name").empty()) return "";
  return fmt::format("{}/{}/{}", object.namespace_name(), target_kind(*target), text_at(*target, "name"));
}

/// Returns true if a `targetRef` of an InferenceScaler names the workload.
bool has_target(const Node& node, const ExistingObject& workload) {
  const auto is_target = [&](const Node::Entry& entry) {
    const bool is_named = entry.key == "targetRef" && text_at(entry.value, "name") == workload.name();
    return (is_named && target_kind(entry.value) == workload.kind()) || has_target(entry.value, workload);
  };
  return std::ranges::any_of(node.entries, is_target) ||
         std::ranges::any_of(node.items, [&](const Node& item) { return has_target(item, workload); });
}

/// Returns true if KEDA made the HPA for the ScaledObject, or has to take it over.
bool is_made_by(const ExistingObject& hpa, const ExistingObject& scaled) {
  if (hpa.kind() != "HorizontalPodAutoscaler" || scaled.kind() != "ScaledObject") return false;
  if (hpa.name() == "keda-hpa-" + scaled.name()) return true;
  const Node* node = scaled.body.find("metadata");
  const Node* annotations = node == nullptr ? nullptr : node->find("annotations");
  if (annotations != nullptr && text_at(*annotations, "scaledobject.keda.sh/transfer-hpa-ownership") == "true") {
    return true;
  }
  for (const std::string_view key : {"spec", "advanced", "horizontalPodAutoscalerConfig"}) {
    node = key == "spec" ? scaled.body.find(key) : node == nullptr ? nullptr : node->find(key);
  }
  return node != nullptr && text_at(*node, "name") == hpa.name();
}

/// Returns the preference for an existing autoscaler: 2 if it matches the object that the plan chose, 1 if it matches
/// another object of the plan, otherwise 0.
int preference(const ExistingObject& object, const std::vector<ObjectMatch>& matches) {
  for (const ObjectMatch& match : matches) {
    if (match.existing == &object) return match.planned->alternative.is_chosen ? 2 : 1;
  }
  return 0;
}

/// Returns true if the object is in a file that `--out` wrote. Such files contain all alternatives, of which the user
/// applies one.
bool is_file_of_plan(const ExistingObject& object, const std::vector<ObjectMatch>& matches) {
  return std::ranges::any_of(matches, [&](const ObjectMatch& match) {
    return match.existing == &object && ("/" + object.file).ends_with("/" + match.planned->file);
  });
}

}  // namespace

std::vector<DoubleScaler> double_scalers(const std::vector<ObjectMatch>& matches,
                                         const std::vector<ExistingObject>& existing) {
  std::vector<DoubleScaler> out;
  for (const ExistingObject& object : existing) {
    const std::string target = target_key(object);
    if (target.empty() || is_file_of_plan(object, matches)) continue;
    const ExistingObject* stays = nullptr;  // the first of the most preferred scalers of the target
    for (const ExistingObject& other : existing) {
      if (target_key(other) != target) continue;
      if (stays == nullptr || preference(other, matches) > preference(*stays, matches)) stays = &other;
    }
    if (stays == &object || preference(*stays, matches) == 0 || is_made_by(object, *stays) ||
        is_made_by(*stays, object)) {
      continue;
    }
    out.push_back({&object, stays});
  }
  return out;
}

bool is_scaled(const ExistingObject& workload, const std::vector<ObjectMatch>& matches,
               const std::vector<ExistingObject>& existing) {
  const std::string key = fmt::format("{}/{}/{}", workload.namespace_name(), workload.kind(), workload.name());
  return std::ranges::any_of(existing, [&](const ExistingObject& object) {
    if (is_file_of_plan(object, matches)) return false;
    return object.kind() == "InferenceScaler" ? has_target(object.body, workload) : target_key(object) == key;
  });
}

Difference delete_scaler(const DoubleScaler& scaler) {
  const Node* target = scaler_target(*scaler.deleted);
  return {.kind = Difference::Kind::remove,
          .file = scaler.deleted->file,
          .line = scaler.deleted->body.place.line,
          .object = scaler.deleted->kind() + " " + scaler.deleted->name(),
          .why = fmt::format("{} {} ({}) scales {} {} too; of the two, the plan keeps the {}", scaler.stays->kind(),
                             scaler.stays->name(), scaler.stays->file, target_kind(*target), text_at(*target, "name"),
                             scaler.stays->kind()),
          .saving = {.removed_risk = "two autoscalers that undo each other's decisions", .grade = 1}};
}

}  // namespace capstan::plan
