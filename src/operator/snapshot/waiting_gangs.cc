#include "operator/snapshot/waiting_gangs.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>

namespace capstan::op {
namespace {

// https://lws.sigs.k8s.io/docs/reference/labels-annotations-and-environment-variables/
constexpr std::string_view kLwsTopology = "leaderworkerset.sigs.k8s.io/exclusive-topology";
constexpr std::string_view kTopologyAnnotation = "capstan.dev/gang-topology";
constexpr std::string_view kPreferredAnnotation = "capstan.dev/gang-preferred-topology";
// https://github.com/kai-scheduler/KAI-Scheduler/tree/main/docs/topology
constexpr std::string_view kKaiTopology = "kai.scheduler/topology";
constexpr std::string_view kKaiRequired = "kai.scheduler/topology-required-placement";
constexpr std::string_view kKaiPreferred = "kai.scheduler/topology-preferred-placement";
// https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/
constexpr std::string_view kKueueRequired = "kueue.x-k8s.io/podset-required-topology";
constexpr std::string_view kKueuePreferred = "kueue.x-k8s.io/podset-preferred-topology";

std::int64_t size_in(std::string_view text) {
  std::int64_t value = 1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::clamp<std::int64_t>(value, 1, kMaxGangPods);
}

/// The gang of a pod; with an empty key, the pod is a gang of its own.
struct Membership {
  std::string key;
  std::int64_t expected = 1;
};

Membership membership_of(const kube::Pod& pod, const GangSizes& sizes) {
  const kube::StringMap& notes = pod.meta.annotations;
  if (const std::string* kai = notes.find(kKaiGroupAnnotation)) {
    const auto size = sizes.find(kube::key_of(pod.meta.ns, *kai));
    // Without the PodGroup the size of the gang is unknown, so the gang never counts as complete.
    return {"kai/" + *kai,
            size == sizes.end() ? PodGroup::kUnknownSize : std::clamp<std::int64_t>(size->second, 1, kMaxGangPods)};
  }
  if (const std::string* index = pod.meta.labels.find(kGroupIndexLabel)) {
    return {"lws/" + std::string(pod.meta.labels.get(kSetNameLabel)) + "/" + *index,
            size_in(notes.get(kGroupSizeAnnotation))};
  }
  if (const std::string* gang = notes.find(kGangAnnotation)) {
    return {"gang/" + *gang, size_in(notes.get(kGangMinAnnotation))};
  }
  return {};
}

}  // namespace

bool places(const FleetPolicy& fleet, std::string_view scheduler) {
  if (fleet.placement == Mode::off || scheduler == kScheduler) return fleet.placement != Mode::off;
  return fleet.placement == Mode::shadow && std::ranges::find(fleet.shadow_of, scheduler) != fleet.shadow_of.end();
}

std::string kai_group_of(const kube::Pod& pod) {
  const std::string* group = pod.meta.annotations.find(kKaiGroupAnnotation);
  return group != nullptr ? kube::key_of(pod.meta.ns, *group) : std::string();
}

std::string gang_key_of(const kube::Pod& pod) { return membership_of(pod, {}).key; }

std::vector<PodGroup> gangs_of(std::span<const kube::Pod* const> pods, const GangSizes& sizes) {
  std::vector<PodGroup> gangs;
  std::map<std::string, std::size_t> known;
  for (const kube::Pod* pod : pods) {
    Membership of = membership_of(*pod, sizes);
    const auto [at, is_new] = of.key.empty() ? std::pair{known.end(), true} : known.emplace(of.key, gangs.size());
    if (!is_new) {
      gangs[at->second].pods.push_back(pod);
      continue;
    }
    std::string name =
        of.key.empty() ? pod->meta.key() : kube::key_of(pod->meta.ns, of.key.substr(of.key.find('/') + 1));
    gangs.push_back({.pods = {pod}, .expected = of.expected, .ordinal = 0, .name = std::move(name)});
  }
  return gangs;
}

kube::TopologyConstraint constraint_of(const kube::StringMap& annotations) {
  const auto first_of = [&](std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
      if (const std::string_view value = annotations.get(key); !value.empty()) return std::string(value);
    }
    return std::string();
  };
  return {.topology = first_of({kKaiTopology}),
          .required_level = first_of({kLwsTopology, kTopologyAnnotation, kKaiRequired, kKueueRequired}),
          .preferred_level = first_of({kPreferredAnnotation, kKaiPreferred, kKueuePreferred})};
}

kube::TopologyConstraint constraint_of(const kube::Pod& pod, const KaiConstraints& by_group) {
  const std::string group = by_group.empty() ? std::string() : kai_group_of(pod);
  const auto found = group.empty() ? by_group.end() : by_group.find(group);
  return found != by_group.end() ? found->second : constraint_of(pod.meta.annotations);
}

}  // namespace capstan::op
