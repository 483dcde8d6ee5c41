#include <algorithm>
#include <iterator>

#include "lint/facts.h"
#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace image_registry_frozen {
namespace {

constexpr std::string_view kFrozen = "k8s.gcr.io/";
constexpr std::string_view kCurrent = "registry.k8s.io/";

/// An image and its first version after the freeze of 3 April 2023. Later patches of older versions are not listed.
struct FirstVersion {
  std::string_view name;
  Version version;
};
constexpr FirstVersion kFirstVersions[] = {
    {"prometheus-adapter", {0, 11, 0}},
    {"cluster-autoscaler", {1, 27, 0}},
    {"metrics-server", {0, 6, 4}},
    {"kube-state-metrics", {2, 9, 0}},
    {"pause", {3, 10, 0}},
    {"kueue", {0, 4, 0}},
    {"lws", {0, 1, 0}},
    {"node-feature-discovery", {0, 14, 0}},
};

/// Returns true if the image was released after the freeze, so that the old registry never received it.
bool is_after_freeze(std::string_view image) {
  const std::optional<Version> version = version_of_tag(image);
  std::string_view name = image.substr(0, image.find_first_of(":@"));
  name.remove_prefix(name.rfind('/') + 1);
  const auto row = std::ranges::find(kFirstVersions, name, &FirstVersion::name);
  return version && row != std::end(kFirstVersions) && *version >= row->version;
}

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    for (const Value* container : all_containers_of(pod)) {
      const Value& image = (*container)["image"];
      if (!image.text.starts_with(kFrozen)) continue;
      const bool is_late = is_after_freeze(image.text);
      Finding& finding = s.report(image, is_late ? "k8s.gcr.io was frozen before this version, so only a redirect to "
                                                   "registry.k8s.io serves it"
                                                 : "k8s.gcr.io has been frozen since April 2023");
      if (is_late) finding.set_severity(Severity::warning);
      const Span host = part_of(*s.object.file, image, 0, kFrozen.size());
      if (host.size() == kFrozen.size()) finding.replace_part(image, host, kCurrent);
    }
  }
}

}  // namespace
}  // namespace image_registry_frozen

extern const Rule rule_image_registry_frozen;
const Rule rule_image_registry_frozen = {
    .id = "image-registry-frozen",
    .severity = Severity::info,
    .kinds = "@pods",
    .title = "the image comes from a frozen registry",
    .why =
        "k8s.gcr.io has received no images since 3 April 2023. It redirects to registry.k8s.io, for an unknown time. "
        "The finding is a warning if the version was released after the freeze, so that the old registry never had "
        "it. Otherwise it is advice.",
    .fix = "replace k8s.gcr.io with registry.k8s.io, which has the same images; this restarts the pods",
    .fix_safety = FixSafety::unsafe,
    .source = "Kubernetes blog, 2023-03",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: "k8s.gcr.io/pause:3.5"}]}
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: "registry.k8s.io/pause:3.5"}]}
)",
    .check = image_registry_frozen::check,
};

}  // namespace capstan::lint
