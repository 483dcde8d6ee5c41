#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lint/pods.h"
#include "lint/rule.h"
#include "lint/selector.h"

namespace capstan::lint {
namespace service_selects_no_pod {
namespace {

/// The kinds that hold pods. The most frequent ones come first, because the search ends at the first selected pod.
const std::vector<std::string_view>& kinds_with_pods() {
  static const std::vector<std::string_view> kinds = [] {
    std::vector<std::string_view> list = {"Deployment", "StatefulSet", "DaemonSet", "Pod", "LeaderWorkerSet"};
    for (const PodShape& shape : pod_shapes()) {
      if (std::ranges::find(list, shape.kind) == list.end()) list.push_back(shape.kind);
    }
    return list;
  }();
  return kinds;
}

/// Facts about the objects that are deployed together with a Service.
struct Nearby {
  bool is_selected = false;         ///< true if the Service selects a pod of the folder
  bool may_be_set = false;          ///< true if an operator, which adds labels, makes some of the pods
  std::size_t in_file = 0;          ///< workloads in the file of the Service
  const Object* nearest = nullptr;  ///< workload with the most labels of the selector
  Pod pod{};                        ///< its pod
  LabelDifference difference{};     ///< labels of this pod
};

/// Returns true if `a` is nearer to the selector than `b`.
bool is_nearer(const LabelDifference& a, const LabelDifference& b) {
  return std::pair(a.equal + a.misspelt, a.equal) > std::pair(b.equal + b.misspelt, b.equal);
}

void add(const Subject& s, const Object& workload, Nearby& nearby) {
  const Pods pods = pods_of(workload);
  if (pods.size() == 0 || !may_share_namespace(workload, s.object)) return;
  const bool together = s.set.deployed_together(s.object, workload);
  if (together && is_operated(workload)) nearby.may_be_set = true;
  if (workload.file == s.object.file) ++nearby.in_file;
  for (const Pod& pod : pods) {
    const LabelDifference difference = compare_labels(s.object["spec"]["selector"], (*pod.metadata)["labels"]);
    if (difference.first == nullptr) nearby.is_selected = true;
    if (!together || (nearby.nearest != nullptr && !is_nearer(difference, nearby.difference))) continue;
    nearby.nearest = &workload;
    nearby.pod = pod;
    nearby.difference = difference;
  }
}

Nearby look_around(const Subject& s) {
  Nearby nearby;
  for (const std::string_view kind : kinds_with_pods()) {
    for (const Object* workload : s.set.in_folder(kind, s.object)) add(s, *workload, nearby);
    if (nearby.is_selected) break;
  }
  return nearby;
}

/// Returns true if the Service selects a pod anywhere in the input.
bool selects_elsewhere(const Subject& s) {
  const auto is_selected = [&](const Object* workload) {
    return std::ranges::any_of(pods_of(*workload), [&](const Pod& pod) {
      return compare_labels(s.object["spec"]["selector"], (*pod.metadata)["labels"]).first == nullptr;
    });
  };
  return std::ranges::any_of(s.set.with_unlisted_pods(), is_selected) ||
         std::ranges::any_of(kinds_with_pods(), [&](std::string_view kind) {
           return std::ranges::any_of(s.set.of_kind(kind), is_selected);
         });
}

/// Returns true if a controller or the program itself may give the pod this label when it runs, such as
/// leaderworkerset.sigs.k8s.io/worker-index or the role of a database.
bool may_be_added(const Object& workload, const Value& wanted) {
  const bool has_domain = wanted.key.find('/') != wanted.key.npos && !wanted.key.starts_with("app.kubernetes.io/");
  return has_domain || wanted.key == "job-name" || wanted.key.ends_with("-hash") || workload.kind == "StatefulSet";
}

/// Returns a name without the words that tell the kinds of objects apart: "vllm" for "vllm-service".
std::string_view stem_of(std::string_view name) {
  for (const std::string_view end : {"-service", "-svc", "-headless", "-deployment", "-deploy", "-server"}) {
    if (name.ends_with(end)) name.remove_suffix(end.size());
  }
  return name;
}

bool names_workload(const Object& service, const Object& workload) {
  return stem_of(service.name) == stem_of(workload.name) || workload["spec"]["serviceName"].is(service.name);
}

/// Returns true if a port of the Service leads to a port that a container of the pod has.
bool fits_ports(const Object& service, const Pod& pod) {
  const auto fits = [&](const Value& entry) {
    const Value& target = entry["targetPort"] ? entry["targetPort"] : entry["port"];
    return std::ranges::any_of(containers_of(pod), [&](const Value* container) {
      return std::ranges::any_of((*container)["ports"].children(), [&](const Value& port) {
        return target.is_scalar() && (port["containerPort"].is(target.text) || port["name"].is(target.text));
      });
    });
  };
  return std::ranges::any_of(service["spec"]["ports"].children(), fits);
}

/// Returns the severity of a selector that matches no pod; off without enough evidence that `nearest` is meant.
Severity severity_for(const Subject& s, const Nearby& nearby) {
  const Object& workload = *nearby.nearest;
  const LabelDifference& difference = nearby.difference;
  const bool is_changed = s.object.file->is_patched("Service") || workload.file->is_patched(workload.kind);
  if (difference.is_only_misspelt()) return is_changed ? Severity::info : Severity::warning;
  if (difference.absent > 0 && may_be_added(workload, *difference.first)) return Severity::off;
  const bool is_pair = workload.file == s.object.file && nearby.in_file == 1 && names_workload(s.object, workload) &&
                       fits_ports(s.object, nearby.pod);
  if (is_pair) return is_changed ? Severity::info : Severity::warning;
  return difference.equal > 0 && difference.equal * 2 >= difference.wanted() ? Severity::info : Severity::off;
}

void check(const Subject& s) {
  const Value& selector = s.object["spec"]["selector"];
  if (!selector.is_mapping() || selector.count == 0 || s.object["spec"]["type"].is("ExternalName")) return;
  const Nearby nearby = look_around(s);
  if (nearby.is_selected || nearby.may_be_set || nearby.nearest == nullptr || is_partial(*nearby.nearest)) return;
  const Value& labels = (*nearby.pod.metadata)["labels"];
  const LabelDifference own = compare_labels(at(*nearby.nearest, "spec.selector.matchLabels"), labels);
  if (own.first != nullptr) return;  // selector-labels-mismatch reports that the labels of the template are wrong
  const Severity severity = severity_for(s, nearby);
  if (severity == Severity::off || selects_elsewhere(s)) return;
  const Value& wanted = *nearby.difference.first;
  const Value& label = labels[wanted.key];
  const std::string found =
      label ? fmt::format("have {}: {}", wanted.key, label.text) : fmt::format("have no label {}", wanted.key);
  Finding& finding =
      s.report(wanted, fmt::format("the selector matches no pod of the input: it wants {}: {}, but the pods of {} {}",
                                   wanted.key, wanted.text, nearby.nearest->title(), found));
  finding.set_severity(severity);
  if (nearby.difference.is_only_misspelt()) finding.replace(wanted, label.text);
  if (!label) finding.mark_absence();
  s.require_object(finding, *nearby.nearest, nearby.nearest->name);
}

}  // namespace
}  // namespace service_selects_no_pod

extern const Rule rule_service_selects_no_pod;
const Rule rule_service_selects_no_pod = {
    .id = "service-selects-no-pod",
    .severity = Severity::warning,
    .kinds = "Service",
    .title = "a Service selects no pod, because its selector differs from the labels of the pods",
    .why =
        "A Service without pods refuses every connection, and Kubernetes does not report it. The finding is a warning "
        "if a label is misspelt, or if the only workload in the file of the Service has its name and its port. It is "
        "advice if a workload that is deployed together with the Service has half of the labels or more.",
    .fix = "write the selector as the pods are labelled, or give the pods the labels of the selector",
    .fix_safety = FixSafety::unsafe,
    .source = "Kubernetes documentation, Service",
    .bad = R"(apiVersion: v1
kind: Service
metadata: {name: chat}
spec: {selector: {app: chat, model: llama-8b}, ports: [{port: 8000}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat, model: llama8b}}
    spec: {containers: [{name: vllm, image: "vllm/vllm-openai:v0.20.0", ports: [{containerPort: 8000}]}]}
)",
    .good = R"(apiVersion: v1
kind: Service
metadata: {name: chat}
spec: {selector: {app: chat, model: llama8b}, ports: [{port: 8000}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat, model: llama8b}}
    spec: {containers: [{name: vllm, image: "vllm/vllm-openai:v0.20.0", ports: [{containerPort: 8000}]}]}
)",
    .check = service_selects_no_pod::check,
};

}  // namespace capstan::lint
