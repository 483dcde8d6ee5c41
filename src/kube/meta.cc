#include "kube/meta.h"

#include <algorithm>

namespace capstan::kube {
namespace {

/// Annotations that Capstan reads. A name that ends with "/" is a prefix.
constexpr std::string_view kKeptAnnotations[] = {
    "capstan.dev/",
    "autoscaling.keda.sh/paused",
    "autoscaling.keda.sh/paused-replicas",
    "controller.kubernetes.io/pod-deletion-cost",
    "deployment.kubernetes.io/revision",
    "gpu-fraction",
    "gpu-fraction-num-devices",
    "karpenter.sh/",
    "kai.scheduler/",
    "kueue.x-k8s.io/podset-preferred-topology",
    "kueue.x-k8s.io/podset-required-topology",
    "leaderworkerset.sigs.k8s.io/",
    "pod-group-name",
    "prometheus.io/",
    "scheduling.k8s.io/group-name",
};

constexpr auto kByKey = [](const auto& entry, std::string_view key) { return std::string_view(entry.first) < key; };

WallTime time_of(Json text) { return read_wall_time(text.text()).value_or(WallTime{}); }

}  // namespace

StringMap::StringMap(std::initializer_list<std::pair<std::string, std::string>> entries) {
  for (const auto& [key, value] : entries) set(key, value);
}

void StringMap::set(std::string_view key, std::string_view value) {
  const auto at = std::ranges::lower_bound(entries_, key, {}, [](const auto& e) { return std::string_view(e.first); });
  if (at != entries_.end() && at->first == key) {
    at->second = value;
  } else {
    entries_.emplace(at, key, value);
  }
}

const std::string* StringMap::find(std::string_view key) const {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), key, kByKey);
  return at != entries_.end() && at->first == key ? &at->second : nullptr;
}

std::string_view StringMap::get(std::string_view key) const {
  const std::string* value = find(key);
  return value != nullptr ? *value : std::string_view();
}

bool StringMap::contains_all(const StringMap& other) const { return std::ranges::includes(entries_, other.entries_); }

StringMap read_string_map(Json object) {
  std::vector<std::pair<std::string, std::string>> entries;
  object.for_each_field([&](std::string_view key, Json value) { entries.emplace_back(key, value.text()); });
  // In ascending order, each entry is set at the end. In other orders a great many entries would take hours.
  std::ranges::stable_sort(entries, {}, [](const auto& entry) -> const std::string& { return entry.first; });
  StringMap map;
  for (const auto& [key, value] : entries) map.set(key, value);
  return map;
}

std::string key_of(std::string_view ns, std::string_view name) {
  return ns.empty() ? std::string(name) : std::string(ns) + "/" + std::string(name);
}

const OwnerReference* Meta::controller() const {
  const auto found = std::ranges::find_if(owners, &OwnerReference::controller);
  return found == owners.end() ? nullptr : &*found;
}

bool is_kept_annotation(std::string_view key) {
  return std::ranges::any_of(kKeptAnnotations, [&](std::string_view kept) {
    return kept.ends_with('/') ? key.starts_with(kept) : key == kept;
  });
}

Meta read_meta(Json object) {
  const Json metadata = object["metadata"];
  Meta meta;
  meta.ns = metadata["namespace"].text();
  meta.name = metadata["name"].text();
  meta.uid = metadata["uid"].text();
  meta.resource_version = metadata["resourceVersion"].text();
  meta.generation = metadata["generation"].integer();
  meta.created_at = time_of(metadata["creationTimestamp"]);
  meta.deletion_at = time_of(metadata["deletionTimestamp"]);
  meta.labels = read_string_map(metadata["labels"]);
  metadata["annotations"].for_each_field([&](std::string_view key, Json value) {
    if (is_kept_annotation(key)) meta.annotations.set(key, value.text());
  });
  metadata["ownerReferences"].for_each([&](Json owner) {
    meta.owners.push_back({.api_version = std::string(owner["apiVersion"].text()),
                           .kind = std::string(owner["kind"].text()),
                           .name = std::string(owner["name"].text()),
                           .uid = std::string(owner["uid"].text()),
                           .controller = owner["controller"].boolean()});
  });
  return meta;
}

bool is_terminating(Json object) { return object["metadata"]["deletionTimestamp"].exists(); }

}  // namespace capstan::kube
