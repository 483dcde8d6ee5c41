#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lint/misspelling.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace scale_target_missing {
namespace {

/// The kinds whose objects a scaler may confuse.
constexpr std::string_view kWorkloads[] = {"Deployment", "StatefulSet", "LeaderWorkerSet", "ReplicaSet"};

/// Returns a name without a last word that says what the object is: "vllm" for "vllm-deployment".
std::string_view stem_of(std::string_view name) {
  for (const std::string_view end : {"-deployment", "-deploy", "-statefulset", "-server"}) {
    if (name.size() > end.size() && name.ends_with(end)) return name.substr(0, name.size() - end.size());
  }
  return name;
}

/// Returns the workloads of a kind in the file of the scaler.
std::vector<const Object*> in_file(const Subject& s, std::string_view kind) {
  std::vector<const Object*> found;
  for (const Object* object : s.set.in_folder(kind, s.object)) {
    const bool is_in_file = object->file == s.object.file && may_share_namespace(*object, s.object);
    if (is_in_file && !is_template_variable(object->name)) found.push_back(object);
  }
  return found;
}

bool is_scaled(const Subject& s, const Object& workload) {
  return !s.set.scalers_of_target(workload.kind, workload.name, workload).empty();
}

/// Returns the workload in the file of the scaler that its target misspells; null if there is none or several. No other
/// scaler may name the workload: then the target is probably another one.
const Object* misspelt_target(const Subject& s, const Scaler& scaler) {
  const std::string_view name = scaler.target_name->text;
  std::vector<const Object*> meant;
  const std::vector<const Object*> candidates = in_file(s, scaler.target_kind);
  for (const Object* candidate : candidates) {
    const bool is_only = candidates.size() == 1 && stem_of(candidate->name) == stem_of(name);
    if ((is_only || is_misspelling(name, candidate->name)) && !is_scaled(s, *candidate)) meant.push_back(candidate);
  }
  return meant.size() == 1 ? meant.front() : nullptr;
}

/// Returns the workload of the target's name in the file of the scaler that has another kind; null if there is none.
const Object* of_other_kind(const Subject& s, const Scaler& scaler) {
  for (const std::string_view kind : kWorkloads) {
    for (const Object* object : in_file(s, kind)) {
      if (object->name == scaler.target_name->text && !is_scaled(s, *object)) return object;
    }
  }
  return nullptr;
}

/// Returns the workload in the file of the scaler that is probably meant; null if there is none.
const Object* probable_target(const Subject& s, const Scaler& scaler) {
  const bool is_workload = std::ranges::find(kWorkloads, scaler.target_kind) != std::end(kWorkloads);
  if (!is_workload || is_template_variable(scaler.target_name->text)) return nullptr;
  const Object* of_kind = misspelt_target(s, scaler);
  return of_kind != nullptr ? of_kind : of_other_kind(s, scaler);
}

void check(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  const Value& name = *scaler->target_name;
  const auto has_name = [&](const Object* object) { return object->name == name.text; };
  const auto is_target = [&](const Object* object) {
    return has_name(object) && may_share_namespace(*object, s.object);
  };
  if (!name || std::ranges::any_of(s.set.in_folder(scaler->target_kind, s.object), is_target)) return;
  const Object* meant = probable_target(s, *scaler);
  const bool may_be_elsewhere = meant == nullptr || std::ranges::any_of(s.set.of_kind(scaler->target_kind), has_name);
  if (!s.set.is_complete() && may_be_elsewhere) return;
  std::string message = fmt::format("the input has no {} {}", scaler->target_kind, name.text);
  if (meant == nullptr) {
    s.report(name, std::move(message));
    return;
  }
  Finding& finding = s.report(name, fmt::format("{}; this file has {}", message, meant->title()));
  if (meant->kind == scaler->target_kind) {
    finding.replace(name, meant->name);
  } else {
    finding.suggest(fmt::format("set kind to {} and apiVersion to {}", meant->kind, meant->api_version));
  }
}

}  // namespace
}  // namespace scale_target_missing

extern const Rule rule_scale_target_missing;
const Rule rule_scale_target_missing = {
    .id = "scale-target-missing",
    .severity = Severity::error,
    .kinds = "@scaler",
    .title = "the autoscaler's target is not in the input",
    .why =
        "The autoscaler scales nothing and reports this only in its conditions. With --closed-world every target that "
        "is not in the input is a finding. Otherwise the target may be elsewhere, and it is a finding only if the file "
        "of the autoscaler has a workload with almost the same name or of another kind, and no other autoscaler names "
        "this workload.",
    .fix = "correct the name or the kind",
    .fix_safety = FixSafety::unsafe,
    .source = "kube-linter dangling-horizontalpodautoscaler",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: vllm}
spec: {scaleTargetRef: {kind: Deployment, name: vllm}, maxReplicas: 4}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: vllm-deployment}
spec: {selector: {matchLabels: {app: vllm}}}
)",
    .good = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: vllm}
spec: {scaleTargetRef: {kind: Deployment, name: vllm-deployment}, maxReplicas: 4}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: vllm-deployment}
spec: {selector: {matchLabels: {app: vllm}}}
)",
    .check = scale_target_missing::check,
};

}  // namespace capstan::lint
