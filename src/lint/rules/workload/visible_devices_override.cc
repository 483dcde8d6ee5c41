#include <fmt/format.h>

#include <algorithm>

#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace visible_devices_override {
namespace {

constexpr std::int64_t kNodeGpus = 8;  // number of GPUs of most nodes

/// Returns true if an image is in a registry that belongs to a project of Google Cloud. The registry of the public
/// images of Kubernetes, k8s.gcr.io, is not one of them.
bool is_in_registry_of_google(const Value* container) {
  const std::string_view image = (*container)["image"].text;
  const std::string_view host = image.substr(0, image.find('/'));
  return host.ends_with(".pkg.dev") || host == "gcr.io" || (host.ends_with(".gcr.io") && host != "k8s.gcr.io");
}

/// Returns true if the pod may run on one host only: the pod is pinned to the host, or only this host has the image.
/// The owner of such a pod knows how many GPUs the host has.
bool is_for_one_host(const Pod& pod) {
  const auto is_local = [](const Value* container) { return (*container)["image"].text.starts_with("localhost"); };
  return (*pod.spec)["nodeName"] || (*pod.spec)["nodeSelector"]["kubernetes.io/hostname"] ||
         std::ranges::any_of(containers_of(pod), is_local);
}

/// Returns true for pods on GPU nodes of GKE, and for pods that probably run there. GKE's device plugin mounts the
/// devices itself and needs no NVIDIA runtime, so the variable has an effect only together with the GPU operator.
bool is_on_gke(const Pod& pod) {
  const auto selects_gke = [](const Value& label) {
    return label.key.starts_with("cloud.google.com/gke-accelerator") ||
           label.key.starts_with("cloud.google.com/gke-gpu");
  };
  return std::ranges::any_of((*pod.spec)["nodeSelector"].children(), selects_gke) ||
         std::ranges::any_of(containers_of(pod), is_in_registry_of_google);
}

void check(const Subject& s) {
  if (s.object.kind == "DaemonSet") return;  // an agent on the node needs to see all its GPUs
  for (const Pod& pod : pods_of(s.object)) {
    for (const Value* container : all_containers_of(pod)) {
      for (const Value& variable : (*container)["env"].children()) {
        const Value& value = variable["value"];
        if (!variable["name"].is("NVIDIA_VISIBLE_DEVICES") || !value || value.is("void") || value.is("none")) continue;
        const std::vector<GpuResource> gpus = gpu_resources(*container);
        const bool has_gpu = !gpus.empty();
        if (!has_gpu && !value.is("all")) continue;
        const bool is_whole_node =
            has_gpu && gpus.front().name == "nvidia.com/gpu" && gpus.front().count() == kNodeGpus;
        Finding& finding =
            s.report(value, has_gpu ? fmt::format("\"{}\" overrides the GPUs that the device plugin gives", value.text)
                                    : "\"all\" takes GPUs that the device plugin did not give to this container");
        if (!has_gpu || is_on_gke(pod) || is_for_one_host(pod) || (is_whole_node && value.is("all")))
          finding.set_severity(Severity::info);
      }
    }
  }
}

}  // namespace
}  // namespace visible_devices_override

extern const Rule rule_visible_devices_override;
const Rule rule_visible_devices_override = {
    .id = "visible-devices-override",
    .severity = Severity::warning,
    .kinds = "@pods",
    .title = "NVIDIA_VISIBLE_DEVICES overrides the GPUs of the device plugin",
    .why =
        "The device plugin sets this variable. Set by hand, \"all\" shows every GPU of the node, including those of "
        "other pods, and the pods together run out of GPU memory. On GPU nodes of GKE, and for images in Google's "
        "registries, the finding is advice, because the device plugin of GKE ignores the variable. It is also advice "
        "for a pod that may run on one host only, for \"all\" with all eight GPUs of a node, and without a request, "
        "which "
        "may share a GPU on purpose. A device plugin that "
        "passes GPUs by CDI ignores the variable, so the finding is no error.",
    .fix = "delete the variable",
    .source = "NVIDIA/k8s-device-plugin #61, #87; bottlerocket #3718",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - name: a
      image: "a:1"
      env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]
      resources: {limits: {nvidia.com/gpu: 1}}
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]}
)",
    .check = visible_devices_override::check,
};

}  // namespace capstan::lint
