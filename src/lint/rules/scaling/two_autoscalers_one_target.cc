#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "lint/pod_shapes.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace two_autoscalers_one_target {
namespace {

/// Returns true if KEDA made the HPA for the ScaledObject, or if the ScaledObject takes over an existing HPA.
bool belongs_to(const Object& hpa, const Object& scaled) {
  if (hpa.kind != "HorizontalPodAutoscaler" || scaled.kind != "ScaledObject") return false;
  const Value& name = at(scaled, "spec.advanced.horizontalPodAutoscalerConfig.name");
  return name.is(hpa.name) || hpa.name == "keda-hpa-" + std::string(scaled.name) ||
         annotation(scaled, "scaledobject.keda.sh/transfer-hpa-ownership").is("true");
}

/// Returns true if two PodAutoscalers of AIBrix scale different roles of one workload.
bool scale_different_roles(const Object& a, const Object& b) {
  const Value& first_role = at(a, "spec.subTargetSelector.roleName");
  const Value& second_role = at(b, "spec.subTargetSelector.roleName");
  return first_role && second_role && !first_role.is(second_role.text);
}

/// Returns true if both scale the same pods and may exist at the same time.
bool do_conflict(const Object& a, const Object& b) {
  // Objects of the same kind and name are versions of one object.
  const bool same_object = a.kind == b.kind && a.name == b.name;
  return !same_object && is_scaler(a.kind) && is_scaler(b.kind) && may_share_namespace(a, b) && !belongs_to(a, b) &&
         !belongs_to(b, a) && !scale_different_roles(a, b);
}

/// Returns true for an excerpt in Markdown, and for a file whose comments offer alternatives.
bool offers_alternatives(const File& file) {
  if (file.is_excerpt()) return true;
  for (const std::string_view word : {"alternative", "Alternative", "# Option", "# option", "# Choose", "# choose",
                                      "# Pick one", "# Either", "# either", "# OR ", "OPTION "}) {
    if (file.text.find(word) != std::string::npos) return true;
  }
  return false;
}

/// Returns the only workload in the folder of an object; null if there is none or more than one.
const Object* only_workload(const Subject& s) {
  const Object* only = nullptr;
  for (const PodShape& shape : pod_shapes()) {
    for (const Object* object : s.set.in_folder(shape.kind, s.object)) {
      if (object->shapes.empty()) continue;  // another API has a kind of this name
      if (only != nullptr && only != object) return nullptr;
      only = object;
    }
  }
  return only;
}

/// Returns true if the folder describes one application: one workload, and two autoscalers of different kinds that
/// scale it in its namespace. Samples that offer a choice have no workload or several, or their comments say so.
bool are_of_one_application(const Subject& s, const Object& a, const Object& b) {
  if (a.kind == b.kind || offers_alternatives(*a.file) || offers_alternatives(*b.file)) return false;
  const std::optional<Scaler> scaler = scaler_of(s.object);
  if (!scaler || s.set.scalers_of_target(scaler->target_kind, scaler->target_name->text, s.object).size() != 2) {
    return false;
  }
  const Object* workload = only_workload(s);
  return workload != nullptr && workload->kind == scaler->target_kind && scaler->target_name->is(workload->name) &&
         workload->name_space == a.name_space && workload->name_space == b.name_space;
}

bool are_surely_together(const Subject& s, const Object& a, const Object& b) {
  if (s.set.is_complete()) return true;
  if (s.set.deployed_together(a, b)) return a.file != b.file || !offers_alternatives(*a.file);
  return are_of_one_application(s, a, b);
}

/// Reports one finding per target, at the second of its conflicting scalers, which names all others. If some are
/// certainly deployed together, only these are considered.
void check_scaler(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  if (!*scaler->target_name) return;
  const std::vector<const Object*> all =
      s.set.scalers_of_target(scaler->target_kind, scaler->target_name->text, s.object);
  const bool has_certain = std::ranges::any_of(all, [&](const Object* a) {
    return std::ranges::any_of(all,
                               [&](const Object* b) { return do_conflict(*a, *b) && are_surely_together(s, *a, *b); });
  });
  std::vector<const Object*> earlier, later;
  for (const Object* other : all) {
    if (!do_conflict(*other, s.object)) continue;
    if (has_certain && !are_surely_together(s, *other, s.object)) continue;
    (other->index < s.object.index ? earlier : later).push_back(other);
  }
  if (earlier.size() != 1) return;
  const Object& first = *earlier.front();
  std::string others;
  for (const Object* other : later) others += fmt::format("{} ({}) and ", other->title(), other->file->path);
  std::string text = fmt::format("{} {} is already scaled by {}{}", scaler->target_kind, scaler->target_name->text,
                                 others, first.title());
  s.report(*scaler->target_name, std::move(text)).require_object(first, has_certain);
}

/// Reports each target that both an InferenceScaler in mode Active and another autoscaler scale. In mode Shadow, which
/// is the default, an InferenceScaler only recommends, so another autoscaler may stay.
void check_inference_scaler(const Subject& s) {
  if (!at(s.object, "spec.mode").is("Active")) return;
  for (const Value& role : at(s.object, "spec.roles").children()) {
    for (const Value& variant : role["variants"].children()) {
      const Value& kind = variant["targetRef"]["kind"];
      const Value& name = variant["targetRef"]["name"];
      if (!kind || !name) continue;
      for (const Object* other : s.set.scalers_of_target(kind.text, name.text, s.object)) {
        if (!may_share_namespace(*other, s.object)) continue;
        Finding& finding =
            s.report(name, fmt::format("{} {} is already scaled by {}", kind.text, name.text, other->title()));
        s.require_object(finding, *other, name.text);
        break;
      }
    }
  }
}

void check(const Subject& s) {
  if (s.object.kind == "InferenceScaler") return check_inference_scaler(s);
  check_scaler(s);
}

}  // namespace
}  // namespace two_autoscalers_one_target

extern const Rule rule_two_autoscalers_one_target;
const Rule rule_two_autoscalers_one_target = {
    .id = "two-autoscalers-one-target",
    .severity = Severity::error,
    .kinds = "@scaler InferenceScaler",
    .title = "two autoscalers scale one workload",
    .why =
        "Each autoscaler reverts the other's decision every 15 seconds, and KEDA's webhook refuses the second one. The "
        "replicas oscillate, and each new GPU replica is a cold start. The same holds for an InferenceScaler of "
        "Capstan "
        "in mode Active. The finding is advice if nothing shows that both are deployed, for example if the file offers "
        "a choice. A folder with one workload and two kinds of autoscalers of it shows that they are.",
    .fix = "delete one of them; put several metrics into one autoscaler",
    .source = "KEDA scaledobject_webhook.go: \"the workload is already managed by the hpa\"",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: a}
spec: {scaleTargetRef: {kind: Deployment, name: llm-inference}, maxReplicas: 4}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: b}
spec: {scaleTargetRef: {name: llm-inference}, maxReplicaCount: 4}
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: b}
spec: {scaleTargetRef: {name: llm-inference}, minReplicaCount: 1, maxReplicaCount: 4}
)",
    .check = two_autoscalers_one_target::check,
};

}  // namespace capstan::lint
