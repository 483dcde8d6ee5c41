#include "lint/object.h"

#include <algorithm>

#include "lint/adapter.h"

namespace capstan::lint {

std::string Object::title() const {
  std::string words(kind);
  if (!name.empty()) words += " " + (space.empty() ? "" : std::string(space) + "/") + std::string(name);
  return words;
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

/// Values for the chart of NVIDIA's GPU operator.
bool is_operator_values(const Value& root) {
  const bool plugin = at(root, "devicePlugin.config").is_mapping();
  return plugin || root["migManager"].is_mapping() || at(root, "mig.strategy").is_scalar();
}

/// Values of a chart that rules look at; empty for any other document.
std::string_view values_kind(const Value& root) {
  if (root.has("apiVersion")) return {};
  if (is_operator_values(root)) return "GpuOperatorValues";
  return is_adapter_values(root) ? "PrometheusAdapterValues" : std::string_view();
}

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
                           {"Rollout", "argoproj.io"},
                           {"RayCluster", "ray.io"},
                           {"RayService", "ray.io"},
                           {"RayJob", "ray.io"},
                           {"JobSet", "jobset.x-k8s.io"},
                           {"InferenceService", "serving.kserve.io"},
                           {"LLMInferenceService", "serving.kserve.io"},
                           {"DisaggregatedSet", "disaggregatedset.x-k8s.io"},
                           {"PodCliqueSet", "grove.io"},
                           {"DynamoGraphDeployment", "nvidia.com"},
                           {"NIMService", "apps.nvidia.com"},
                           {"Model", "kubeai.org"},
                           {"Job", "batch"},
                           {"CronJob", "batch"},
                           {"PrometheusRule", "monitoring.coreos.com"},
                           {"ClusterPolicy", "nvidia.com"},
                           {"PriorityClass", "scheduling.k8s.io"},
                           {"Queue", "scheduling.run.ai"},
                           {"Service", ""},
                           {"ConfigMap", ""},
                           {"Pod", ""}};
  return std::ranges::any_of(kRows,
                             [&](const Row& row) { return row.kind == object.kind && row.group != object.group; });
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
                   .space = {},
                   .index = 0});
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
                .space = at(root, "metadata.namespace").text,
                .index = 0};
  const std::size_t slash = api_version.text.find('/');
  if (slash != std::string_view::npos) object.group = api_version.text.substr(0, slash);
  object.version = slash == std::string_view::npos ? api_version.text : api_version.text.substr(slash + 1);
  object.foreign = is_of_another_group(object);
  out.push_back(object);
}

const Value& annotation(const Object& object, std::string_view key) { return at(object, "metadata.annotations")[key]; }

const Value& label(const Object& object, std::string_view key) { return at(object, "metadata.labels")[key]; }

}  // namespace capstan::lint
