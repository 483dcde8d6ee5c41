#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/pod_view.h"
#include "kube/workload_views.h"
#include "model/gang.h"

namespace capstan::op {

/// On the pods of a LeaderWorkerSet: its name, the number of their group, and how many pods the group was made with.
/// https://lws.sigs.k8s.io/docs/reference/labels-annotations-and-environment-variables/
inline constexpr std::string_view kSetNameLabel = "leaderworkerset.sigs.k8s.io/name";
inline constexpr std::string_view kGroupIndexLabel = "leaderworkerset.sigs.k8s.io/group-index";
inline constexpr std::string_view kGroupSizeAnnotation = "leaderworkerset.sigs.k8s.io/size";

/// Of one gang: what a snapshot file holds.
inline constexpr std::int64_t kMostGangPods = 1'024;

/// Pods that are one replica of a workload, the one that serves first.
struct PodGroup {
  std::vector<const kube::Pod*> pods;
  std::int64_t expected = 1;             ///< how many make it whole; more than any has where nobody says
  std::optional<std::uint32_t> ordinal;  ///< its number, where its workload numbers its replicas
  std::string name;                      ///< for people: the pod's, or the group's

  static constexpr std::int64_t kNobodySays = std::numeric_limits<std::int64_t>::max();
  bool whole() const { return static_cast<std::int64_t>(pods.size()) >= expected; }
};

/// The replicas of a workload among the pods of its namespace: each pod of a Deployment or a StatefulSet, each group of
/// a LeaderWorkerSet. Pods that have ended are none. In the order of the pods.
std::vector<PodGroup> replicas_of(const kube::Workload& workload, std::span<const kube::Pod* const> pods);

model::Pod::Phase phase_of(const kube::Pod& pod);
model::Gang::Phase phase_of(const PodGroup& group);

}  // namespace capstan::op
