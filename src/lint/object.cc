#include "lint/object.h"

#include <algorithm>

#include "lint/adapter.h"
#include "lint/value_path.h"

namespace capstan::lint {

std::string Object::title() const {
  std::string title(kind);
  if (!name.empty()) title += " " + (name_space.empty() ? "" : std::string(name_space) + "/") + std::string(name);
  return title;
}

const Value& at(const Value& value, std::string_view path) {
  const Value* found = &value;
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    found = &(*found)[path.substr(0, dot)];
    if (dot == path.npos) break;
    path.remove_prefix(dot + 1);
  }
  return *found;
}

const Value& at(const Object& object, std::string_view path) { return at(*object.root, path); }

namespace {

/// Returns true for values of the chart of NVIDIA's GPU operator.
bool is_operator_values(const Value& root) {
  const bool plugin = at(root, "devicePlugin.config").is_mapping();
  return plugin || root["migManager"].is_mapping() || at(root, "mig.strategy").is_scalar();
}

/// Returns the kind under which rules check the values of a chart; empty for any other document.
std::string_view values_kind(const Value& root) {
  if (root.has("apiVersion")) return {};
  if (is_operator_values(root)) return "GpuOperatorValues";
  return is_adapter_values(root) ? "PrometheusAdapterValues" : std::string_view();
}

/// Returns true if the kind has the same name as a kind that rules check but belongs to another API. Kinds with pods
/// need no row in the table, because find_pods() recognizes them.
bool is_of_another_group(const Object& object) {
  struct Row {
    std::string_view kind, group;
  };
  constexpr Row kRows[] = {{"NodePool", "karpenter.sh"},
                           {"NodeClaim", "karpenter.sh"},
                           {"NodeOverlay", "karpenter.sh"},
                           {"Provisioner", "karpenter.sh"},
                           {"EC2NodeClass", "karpenter.k8s.aws"},
                           {"ScaledObject", "keda.sh"},
                           {"ScaledJob", "keda.sh"},
                           {"HorizontalPodAutoscaler", "autoscaling"},
                           {"PodAutoscaler", "autoscaling.aibrix.ai"},
                           {"PodDisruptionBudget", "policy"},
                           {"Model", "kubeai.org"},
                           {"PrometheusRule", "monitoring.coreos.com"},
                           {"ClusterPolicy", "nvidia.com"},
                           {"PriorityClass", "scheduling.k8s.io"},
                           {"Queue", "scheduling.run.ai"},
                           {"InferenceScaler", "capstan.dev"},
                           {"FleetPolicy", "capstan.dev"},
                           {"ConfigMap", ""}};
  return std::ranges::any_of(kRows,
                             [&](const Row& row) { return row.kind == object.kind && row.group != object.group; });
}

/// Finds the pods of the object: by the table of pod shapes if it has the kind, otherwise by their structure.
void find_pods(Object& object) {
  const bool is_stated = object.intended_api.api_version.empty();
  object.shapes = pod_shapes(object.kind, is_stated ? object.group : object.intended_api.group);
  if (!object.shapes.empty()) return;
  if (!pod_shapes(object.kind).empty() && !(object.kind == "Service" && object.group.empty()))
    object.is_of_other_group = true;
  if (!describes_pods_only(object.group)) object.has_unlisted_pods = holds_pods(*object.root);
}

/// Finds the objects inside an object that creates them.
void find_carried(const File& file, const Value& root, std::string_view kind, std::vector<Object>& out) {
  struct Row {
    std::string_view kind, path;
  };
  constexpr Row kRows[] = {
      {"AppWrapper", "spec.components[].template"},  {"AppWrapper", "spec.resources.GenericItems[].generictemplate"},
      {"ManifestWork", "spec.workload.manifests[]"}, {"ResourceGraphDefinition", "spec.resources[].template"},
      {"Object", "spec.forProvider.manifest"},       {"Template", "objects[]"}};
  for (const Row& row : kRows) {
    if (row.kind == kind) for_each_at(root, row.path, [&](const Value& carried) { find_objects(file, carried, out); });
  }
}

}  // namespace

void find_objects(const File& file, const Value& root, std::vector<Object>& out) {
  const Value& kind = root["kind"];
  const Value& api_version = root["apiVersion"];
  if (const std::string_view values = values_kind(root); !values.empty()) {
    out.push_back({.file = &file,
                   .root = &root,
                   .api_version = {},
                   .group = {},
                   .version = {},
                   .kind = values,
                   .name = {},
                   .name_space = {}});
  }
  if (!kind.is_scalar() || !api_version.is_scalar()) return;
  const Value& items = root["items"];
  if (kind.text.ends_with("List") && items.is_sequence()) {
    for (const Value& item : items.children()) find_objects(file, item, out);
    return;
  }
  Object object{.file = &file,
                .root = &root,
                .api_version = api_version.text,
                .group = {},
                .version = {},
                .kind = kind.text,
                .name = at(root, "metadata.name").text,
                .name_space = at(root, "metadata.namespace").text};
  const std::size_t slash = api_version.text.find('/');
  if (slash != std::string_view::npos) object.group = api_version.text.substr(0, slash);
  object.version = slash == std::string_view::npos ? api_version.text : api_version.text.substr(slash + 1);
  if (const auto intended = intended_api(object.kind, object.api_version)) object.intended_api = *intended;
  object.is_of_other_group = object.intended_api.api_version.empty() && is_of_another_group(object);
  find_pods(object);
  const std::size_t index = out.size();
  out.push_back(object);
  find_carried(file, root, kind.text, out);
  out[index].carries_objects = out.size() > index + 1;
  if (out[index].carries_objects) out[index].has_unlisted_pods = false;  // the pods belong to the carried objects
}

const Value& annotation(const Object& object, std::string_view key) { return at(object, "metadata.annotations")[key]; }

const Value& label(const Object& object, std::string_view key) { return at(object, "metadata.labels")[key]; }

}  // namespace capstan::lint
