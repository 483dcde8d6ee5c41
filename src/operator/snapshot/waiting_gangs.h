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

/// Whether the pods of a scheduler are Capstan's to place, or, in Shadow, to say where it would.
bool places(const FleetPolicy& fleet, std::string_view scheduler);

/// On pods of no kind that Capstan knows gangs of: the gang's name within the namespace, and how many pods it needs.
inline constexpr std::string_view kGangAnnotation = "capstan.dev/gang";
inline constexpr std::string_view kGangMinAnnotation = "capstan.dev/gang-min";

/// On pods that KAI's PodGroup of this name makes a gang.
inline constexpr std::string_view kKaiGroupAnnotation = "pod-group-name";

/// How many pods each of KAI's PodGroups needs, by namespace and name.
using GangSizes = std::map<std::string, std::int64_t>;
GangSizes gang_sizes(const kube::StoreSnapshot<kube::KaiPodGroup>& groups);

/// The gangs among pods of one namespace, whoever made them: those of one KAI PodGroup, of one group of a
/// LeaderWorkerSet, with one `capstan.dev/gang`; else each pod alone. In the order of their first pods.
/// https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/batch/README.md
std::vector<PodGroup> gangs_of(std::span<const kube::Pod* const> pods, const GangSizes& sizes);

/// The node label whose value all pods of a gang must share, from the annotations of one of them or of their
/// LeaderWorkerSet; empty: none is asked for.
std::string_view topology_label_of(const kube::StringMap& annotations);

}  // namespace capstan::op
