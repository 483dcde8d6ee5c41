#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "kube/pod_view.h"
#include "kube/scheduling_views.h"
#include "kube/store.h"
#include "operator/view/pod_groups.h"
#include "operator/view/scaler_view.h"

namespace capstan::op {

/// The `schedulerName` of pods that Capstan binds.
inline constexpr std::string_view kScheduler = "capstan";

/// Returns true if Capstan places the pods of this scheduler or, in Shadow, decides where it would.
bool places(const FleetPolicy& fleet, std::string_view scheduler);

/// Annotations of pods whose gang follows from no other object: the gang's name in the namespace, and its size in pods.
inline constexpr std::string_view kGangAnnotation = "capstan.dev/gang";
inline constexpr std::string_view kGangMinAnnotation = "capstan.dev/gang-min";

/// The annotation that names the KAI PodGroup of a pod.
inline constexpr std::string_view kKaiGroupAnnotation = "pod-group-name";

/// Number of pods that each KAI PodGroup needs, by namespace and name.
using GangSizes = std::map<std::string, std::int64_t>;

/// Returns the namespace and name of the KAI PodGroup of a pod; empty: it names none.
std::string kai_group_of(const kube::Pod& pod);

/// Returns a text that is the same for the pods of one gang of a namespace; empty: the pod is a gang of its own.
std::string gang_key_of(const kube::Pod& pod);

/// Returns the gangs of the pods of one namespace, in the order of their first pods. A gang is a KAI PodGroup, a group
/// of a LeaderWorkerSet, the pods with the same `capstan.dev/gang`, or else a single pod.
/// https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/batch/README.md
std::vector<PodGroup> gangs_of(std::span<const kube::Pod* const> pods, const GangSizes& sizes);

/// Returns the topology constraint of a gang, from the annotations of a pod or of its workload: those of KAI and Kueue,
/// the exclusive topology of a LeaderWorkerSet, and `capstan.dev/gang-topology`. The levels are node labels. Fields
/// that no annotation states are empty.
kube::TopologyConstraint constraint_of(const kube::StringMap& annotations);

/// The topology constraints of KAI PodGroups that have one, by namespace and name.
using KaiConstraints = std::map<std::string, kube::TopologyConstraint>;
/// Returns the constraint of a pod's KAI PodGroup, else that of its annotations.
kube::TopologyConstraint constraint_of(const kube::Pod& pod, const KaiConstraints& by_group);

}  // namespace capstan::op
