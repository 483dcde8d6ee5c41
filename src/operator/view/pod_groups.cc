#include "operator/view/pod_groups.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

#include "actuate/serving.h"

namespace capstan::op {
namespace {

using actuate::kRouterLabelValue;
using actuate::kServingGate;

// https://lws.sigs.k8s.io/docs/reference/labels-annotations-and-environment-variables/
constexpr std::string_view kWorkerIndex = "leaderworkerset.sigs.k8s.io/worker-index";

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// Returns the ordinal in the name of a StatefulSet's pod: 3 for "web-3".
std::optional<std::uint32_t> last_number(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  return dash == name.npos ? std::nullopt : number(name.substr(dash + 1));
}

std::vector<PodGroup> single_pods(const kube::Workload& workload, std::span<const kube::Pod* const> pods) {
  std::vector<PodGroup> groups;
  for (const kube::Pod* pod : pods) {
    if (pod->over() || !workload.selector.matches(pod->meta.labels)) continue;
    const bool numbered = workload.kind == "StatefulSet";
    groups.push_back({.pods = {pod},
                      .expected = 1,
                      .ordinal = numbered ? last_number(pod->meta.name) : std::nullopt,
                      .name = pod->meta.key()});
  }
  return groups;
}

std::vector<PodGroup> leader_groups(const kube::Workload& workload, std::span<const kube::Pod* const> pods) {
  std::map<std::uint32_t, PodGroup> groups;
  for (const kube::Pod* pod : pods) {
    const std::optional<std::uint32_t> index = group_index_of(*pod);
    if (pod->over() || !index || pod->meta.labels.get(kSetNameLabel) != workload.meta.name) continue;
    PodGroup& group = groups[*index];
    group.pods.push_back(pod);
    // The annotation states the size with which the group was created. The workload may state another size by now.
    const auto size = number(pod->meta.annotations.get(kGroupSizeAnnotation));
    group.expected = std::clamp<std::int64_t>(size ? *size : workload.pods_per_replica, 1, kMaxGangPods);
    group.ordinal = index;
    group.name = workload.meta.key() + "-" + std::to_string(*index);
  }
  std::vector<PodGroup> out;
  for (auto& [index, group] : groups) {
    std::ranges::stable_sort(group.pods, {}, [](const kube::Pod* pod) {
      return number(pod->meta.labels.get(kWorkerIndex)).value_or(~std::uint32_t{0});
    });
    out.push_back(std::move(group));
  }
  return out;
}

}  // namespace

std::optional<std::uint32_t> group_index_of(const kube::Pod& pod) {
  return number(pod.meta.labels.get(kGroupIndexLabel));
}

std::vector<PodGroup> replicas_of(const kube::Workload& workload, std::span<const kube::Pod* const> pods) {
  return workload.kind == "LeaderWorkerSet" ? leader_groups(workload, pods) : single_pods(workload, pods);
}

model::Pod::Phase phase_of(const kube::Pod& pod) {
  if (pod.meta.terminating()) return model::Pod::Phase::terminating;
  if (!pod.bound()) return model::Pod::Phase::pending;
  return pod.ready() ? model::Pod::Phase::ready : model::Pod::Phase::starting;
}

model::Gang::Phase phase_of(const PodGroup& group) {
  const auto any = [&](auto which) { return std::ranges::any_of(group.pods, which); };
  if (any([](const kube::Pod* pod) { return pod->meta.terminating(); })) return model::Gang::Phase::draining;
  if (static_cast<std::int64_t>(group.pods.size()) < group.expected ||
      any([](const kube::Pod* pod) { return !pod->bound(); })) {
    return model::Gang::Phase::pending;
  }
  if (any([](const kube::Pod* pod) {
        const kube::Condition* serving = kube::find_condition(pod->conditions, kServingGate);
        return (serving != nullptr && serving->is_false) || pod->meta.annotations.has(kRouterLabelValue);
      })) {
    return model::Gang::Phase::draining;  // Capstan has taken it out of the router
  }
  // A LeaderWorkerSet's workers are ready when they run; the replica serves once its leader does.
  return group.pods.front()->ready() ? model::Gang::Phase::ready : model::Gang::Phase::starting;
}

}  // namespace capstan::op
