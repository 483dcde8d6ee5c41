#include <fmt/format.h>

#include <algorithm>

#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace two_autoscalers_one_target {
namespace {

/// An HPA that KEDA made, or hands over to it.
bool is_of(const Object& hpa, const Object& scaled) {
  if (hpa.kind != "HorizontalPodAutoscaler" || scaled.kind != "ScaledObject") return false;
  const Value& name = at(scaled, "spec.advanced.horizontalPodAutoscalerConfig.name");
  return name.is(hpa.name) || hpa.name == "keda-hpa-" + std::string(scaled.name) ||
         annotation(scaled, "scaledobject.keda.sh/transfer-hpa-ownership").is("true");
}

/// AIBrix scales the roles of one workload apart: each PodAutoscaler selects its own.
bool have_other_parts(const Object& a, const Object& b) {
  const Value& mine = at(a, "spec.subTargetSelector.roleName");
  const Value& other = at(b, "spec.subTargetSelector.roleName");
  return mine && other && !mine.is(other.text);
}

/// Returns true if both scale the same pods and may exist at the same time.
bool conflict(const Object& a, const Object& b) {
  // Two files that hold one object by kind and name are two versions of it.
  const bool same_object = a.kind == b.kind && a.name == b.name;
  return !same_object && is_scaler(a.kind) && is_scaler(b.kind) && same_space(a, b) && !is_of(a, b) && !is_of(b, a) &&
         !have_other_parts(a, b);
}

/// Prose, and files whose comments speak of options, show alternatives: one of them is to be chosen.
bool offers_a_choice(const File& file) {
  if (file.is_excerpt()) return true;
  for (const std::string_view word : {"alternative", "Alternative", "# Option", "# option", "# Choose", "# choose",
                                      "# Pick one", "# Either", "# either", "# OR ", "OPTION "}) {
    if (file.text.find(word) != std::string::npos) return true;
  }
  return false;
}

bool surely_together(const Set& set, const Object& a, const Object& b) {
  return set.closed() || (set.deployed_together(a, b) && !(a.file == b.file && offers_a_choice(*a.file)));
}

/// Reports one finding for each target: at the second of those that are surely deployed together, else at the second
/// of all.
void check(const Subject& s) {
  const std::optional<Scaler> mine = scaler_of(s.object);
  if (!*mine->target_name) return;
  const std::vector<const Object*> all = s.set.targeting(mine->target_kind, mine->target_name->text, s.object);
  const Object* first = nullptr;
  std::size_t earlier = 0, earlier_surely = 0;
  bool any_surely = false;
  for (const Object* a : all) {
    for (const Object* b : all) any_surely = any_surely || (conflict(*a, *b) && surely_together(s.set, *a, *b));
    if (a->index >= s.object.index || !conflict(*a, s.object)) continue;
    const bool surely = surely_together(s.set, *a, s.object);
    if (first == nullptr || (surely && earlier_surely == 0)) first = a;
    ++earlier;
    earlier_surely += surely ? 1 : 0;
  }
  if (any_surely ? earlier_surely != 1 : earlier != 1) return;
  s.report(*mine->target_name,
           fmt::format("{} {} is scaled by {} already", mine->target_kind, mine->target_name->text, first->title()))
      .requires_too(*first, any_surely);
}

}  // namespace
}  // namespace two_autoscalers_one_target

extern const Rule rule_two_autoscalers_one_target;
const Rule rule_two_autoscalers_one_target = {
    .id = "two-autoscalers-one-target",
    .severity = Severity::error,
    .kinds = "@scaler",
    .title = "two autoscalers scale one workload",
    .why =
        "Each undoes what the other did, every 15 seconds; KEDA's webhook refuses the second one. Replicas flap, and "
        "every flap of a GPU replica is a cold start. It is advice where nothing shows that both are deployed: they "
        "lie in one folder only, or the file offers a choice.",
    .fix = "delete one of them; several metrics belong into one autoscaler",
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
