#include <fmt/format.h>

#include <string>

#include "lint/embedded.h"
#include "lint/facts.h"
#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace ray_serve_key_removed {
namespace {

/// Returns the Ray version of the cluster, from its rayVersion or from the tag of an image of the Ray project; the
/// older one if both state a version. Returns none if no version is stated.
std::optional<Version> ray_version(const Object& object) {
  std::optional<Version> oldest;
  const auto add = [&](const std::optional<Version>& version) {
    if (version && (!oldest || *version < *oldest)) oldest = version;
  };
  const Value& stated = at(object, "spec.rayClusterConfig.rayVersion");
  if (stated.is_scalar()) add(version_of_tag("ray:" + std::string(stated.text)));
  for (const Pod& pod : pods_of(object)) {
    for (const Value* container : containers_of(pod)) {
      const std::string_view image = (*container)["image"].text;
      if (image.starts_with("rayproject/ray")) add(version_of_tag(image));
    }
  }
  return oldest;
}

/// Reports the key if the mapping has it and lacks the key that replaced it.
void check_key(const Subject& s, const Value& parent, std::string_view key, std::string_view instead,
               const std::optional<Version>& version) {
  const Value& entry = parent[key];
  if (!entry || parent[instead]) return;
  const std::string_view since = since_version("ray-serve-keys-removed");
  Finding& finding = s.report_key(
      entry,
      version
          ? fmt::format("Ray Serve ignores {} since Ray {}, and this cluster has Ray {}.{}: the value {} has "
                        "no effect",
                        key, since, (*version)[0], (*version)[1], entry.text)
          : fmt::format("Ray Serve ignores {} since Ray {}; the version of this cluster is not stated", key, since));
  finding.replace_entry(entry, instead, entry.text);
  if (!version) finding.set_severity(Severity::info);
}

void check(const Subject& s) {
  const Value& config = s.object["spec"]["serveConfigV2"];
  if (!config.is_scalar()) return;
  const std::optional<Version> version = ray_version(s.object);
  const Version removed_in = {2, minor_of(since_version("ray-serve-keys-removed")).value_or(0), 0};
  if (version && *version < removed_in) return;
  const Embedded embedded(*s.object.file, config);
  for (const Value& application : embedded.root()["applications"].children()) {
    for (const Value& deployment : application["deployments"].children()) {
      check_key(s, deployment, "max_concurrent_queries", "max_ongoing_requests", version);
      check_key(s, deployment["autoscaling_config"], "target_num_ongoing_requests_per_replica",
                "target_ongoing_requests", version);
    }
  }
}

}  // namespace
}  // namespace ray_serve_key_removed

extern const Rule rule_ray_serve_key_removed;
const Rule rule_ray_serve_key_removed = {
    .id = "ray-serve-key-removed",
    .severity = Severity::warning,
    .kinds = "RayService",
    .title = "the version of Ray no longer has this key of its Serve configuration",
    .why =
        "Ray drops the key without an error. A replica then takes the number of requests that the application or "
        "Ray's default states: at most 5 ongoing requests, and 2 as the target of the autoscaler. The version comes "
        "from rayVersion or from the tag of Ray's own image. Without a version the finding is advice.",
    .fix = "use max_ongoing_requests and target_ongoing_requests",
    .fix_safety = FixSafety::unsafe,
    .source = "ray-project/ray#46392 and ray-project/ray#46427",
    .bad = R"(apiVersion: ray.io/v1
kind: RayService
metadata: {name: chat}
spec:
  serveConfigV2: |
    applications:
      - name: chat
        import_path: chat:app
        deployments:
          - name: model
            max_concurrent_queries: 100
  rayClusterConfig:
    rayVersion: 2.40.0
    headGroupSpec: {template: {spec: {containers: [{name: head, image: "rayproject/ray:2.40.0"}]}}}
)",
    .good = R"(apiVersion: ray.io/v1
kind: RayService
metadata: {name: chat}
spec:
  serveConfigV2: |
    applications:
      - name: chat
        import_path: chat:app
        deployments:
          - name: model
            max_ongoing_requests: 100
  rayClusterConfig:
    rayVersion: 2.40.0
    headGroupSpec: {template: {spec: {containers: [{name: head, image: "rayproject/ray:2.40.0"}]}}}
)",
    .check = ray_serve_key_removed::check,
};

}  // namespace capstan::lint
