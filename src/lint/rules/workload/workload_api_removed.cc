#include <fmt/format.h>

#include "lint/facts.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace workload_api_removed {
namespace {

bool is_removed(const Subject& s, const RemovedApi* api) {
  return api != nullptr && api->product == "Kubernetes" && s.settings.kube.minor >= minor_of(api->removed_in);
}

std::string_view group_of(std::string_view api_version) { return api_version.substr(0, api_version.find('/')); }

/// Reports a removed API version in the reference to the scaled object. KEDA reads the target under this version and
/// does not find it. An HPA uses only the group and the kind, so it finds the target if the group still has the kind.
void check_target(const Subject& s) {
  const Value& target = at(s.object, "spec.scaleTargetRef");
  const std::string_view kind = target["kind"] ? target["kind"].text : std::string_view("Deployment");
  const RemovedApi* api = removed_api(target["apiVersion"].text, kind);
  if (!is_removed(s, api)) return;
  const bool is_found =
      s.object.kind == "HorizontalPodAutoscaler" && group_of(api->api_version) == group_of(api->instead);
  Finding& finding = s.report(
      target["apiVersion"],
      fmt::format("{} {} was removed in Kubernetes {}, {}", api->api_version, api->kind, api->removed_in,
                  is_found ? "but the HPA finds the target by its group and kind" : "so the target is not found"));
  if (is_found) finding.set_severity(Severity::info);
  finding.replace(target["apiVersion"], api->instead);
}

void check(const Subject& s) {
  if (s.object.kind == "HorizontalPodAutoscaler" || s.object.kind == "ScaledObject") return check_target(s);
  const RemovedApi* api = removed_api(s.object.api_version, s.object.kind);
  if (!is_removed(s, api)) return;
  s.report(s.object["apiVersion"],
           fmt::format("{} {} was removed in Kubernetes {}", api->api_version, api->kind, api->removed_in))
      .replace(s.object["apiVersion"], api->instead);
}

}  // namespace
}  // namespace workload_api_removed

extern const Rule rule_workload_api_removed;
const Rule rule_workload_api_removed = {
    .id = "workload-api-removed",
    .severity = Severity::error,
    .kinds = "Deployment StatefulSet DaemonSet CronJob PodDisruptionBudget HorizontalPodAutoscaler ScaledObject",
    .title = "this version of the workload's API was removed",
    .why =
        "The API server does not know the version and refuses the object. A ScaledObject whose scaleTargetRef names "
        "the "
        "version finds no target and never scales. An HPA looks for the group and the kind only, so the finding is "
        "advice if the group still has the kind: it is an error for extensions/v1beta1, but not for apps/v1beta1.",
    .fix = "set apiVersion to the current version, such as apps/v1; its selector is required",
    .fix_safety = FixSafety::unsafe,
    .source = "Kubernetes deprecation guide, 1.16 and 1.25; pkg/controller/podautoscaler/horizontal.go",
    .bad = R"(apiVersion: policy/v1beta1
kind: PodDisruptionBudget
metadata: {name: a}
spec: {maxUnavailable: 1, selector: {matchLabels: {a: b}}}
)",
    .good = R"(apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: a}
spec: {maxUnavailable: 1, selector: {matchLabels: {a: b}}}
)",
    .check = workload_api_removed::check,
};

}  // namespace capstan::lint
