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

/// Labels and annotation of a LeaderWorkerSet's pods: name of the set, number of the group, size of the group in pods.
/// https://lws.sigs.k8s.io/docs/reference/labels-annotations-and-environment-variables/
inline constexpr std::string_view kSetNameLabel = "leaderworkerset.sigs.k8s.io/name";
inline constexpr std::string_view kGroupIndexLabel = "leaderworkerset.sigs.k8s.io/group-index";
inline constexpr std::string_view kGroupSizeAnnotation = "leaderworkerset.sigs.k8s.io/size";

/// Largest size of a gang that is read from a cluster. A larger size counts as this one.
inline constexpr std::int64_t kMaxGangPods = 1'024;

/// The pods of one replica of a workload. The first pod serves requests.
struct PodGroup {
  std::vector<const kube::Pod*> pods;
  std::int64_t expected = 1;             ///< pods of the whole replica; `kUnknownSize` if unknown
  std::optional<std::uint32_t> ordinal;  ///< number of the replica, if its workload numbers replicas
  std::string name;                      ///< name of the pod or group in texts

  static constexpr std::int64_t kUnknownSize = std::numeric_limits<std::int64_t>::max();
  bool whole() const { return static_cast<std::int64_t>(pods.size()) >= expected; }
};

/// Returns the replicas of a workload among pods of its namespace: the pods of a Deployment or a StatefulSet in the
/// given order, or the groups of a LeaderWorkerSet in the order of their numbers. Pods that have ended are left out.
std::vector<PodGroup> replicas_of(const kube::Workload& workload, std::span<const kube::Pod* const> pods);

/// Returns the number of a pod's group in a LeaderWorkerSet, or none.
std::optional<std::uint32_t> group_index_of(const kube::Pod& pod);

model::Pod::Phase phase_of(const kube::Pod& pod);
model::Gang::Phase phase_of(const PodGroup& group);

}  // namespace capstan::op
