#include "operator/snapshot/waiting_gangs.h"

#include <algorithm>
#include <charconv>

namespace capstan::op {
namespace {

// https://lws.sigs.k8s.io/docs/reference/labels-annotations-and-environment-variables/
constexpr std::string_view kLwsTopology = "leaderworkerset.sigs.k8s.io/exclusive-topology";
constexpr std::string_view kTopologyAnnotation = "capstan.dev/gang-topology";

std::int64_t size_in(std::string_view text) {
  std::int64_t value = 1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::clamp<std::int64_t>(value, 1, kMostGangPods);
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
    // The size is unknown without the PodGroup, so the gang cannot be whole.
    return {"kai/" + *kai,
            size == sizes.end() ? PodGroup::kUnknownSize : std::clamp<std::int64_t>(size->second, 1, kMostGangPods)};
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

GangSizes gang_sizes(const kube::StoreSnapshot<kube::KaiPodGroup>& groups) {
  GangSizes sizes;
  groups.for_each([&](kube::RowId, const kube::KaiPodGroup& group) { sizes[group.meta.key()] = group.min_member; });
  return sizes;
}

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

std::string_view topology_label_of(const kube::StringMap& annotations) {
  const std::string_view lws = annotations.get(kLwsTopology);
  return lws.empty() ? annotations.get(kTopologyAnnotation) : lws;
}

}  // namespace capstan::op
