#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace image_registry_frozen {
namespace {

constexpr std::string_view kFrozen = "k8s.gcr.io/";
constexpr std::string_view kCurrent = "registry.k8s.io/";

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    for (const Value* container : all_containers_of(pod)) {
      const Value& image = (*container)["image"];
      if (!image.text.starts_with(kFrozen)) continue;
      Finding& finding = s.report(image, "k8s.gcr.io has been frozen since April 2023");
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
    .severity = Severity::error,
    .kinds = "@pods",
    .title = "the image comes from a frozen registry",
    .why =
        "k8s.gcr.io has received no images since April 2023 and is being switched off. Pulls fail, or are redirected "
        "for an unknown time.",
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
