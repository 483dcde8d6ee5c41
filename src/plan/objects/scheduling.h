#pragma once

#include <string>
#include <string_view>

#include "plan/fleet/fleet.h"
#include "plan/objects/yaml.h"
#include "plan/spec/spec.h"

// The scheduler of the pods of a plan, and the labels by which it finds their queue. The section on gangs writes the
// queues; the section on the workload writes the pods.
namespace capstan::plan {

/// Returns true if a tenant runs jobs.
bool has_jobs(const PlanSpec& spec);
/// Returns true if a service has replicas of several pods, which must start together or not at all.
bool needs_gangs(const PlanSpec& spec);

/// Returns true if the plan writes Karpenter's objects for the cluster. GKE has its own Cluster Autoscaler.
bool has_karpenter(const ClusterSpec& cluster);

/// Returns the scheduler of all GPU pods. It is none if no replica is a gang, no tenant runs jobs and one tenant owns
/// the cluster, because the default scheduler is then enough. Otherwise it is the scheduler of the spec, for every pod:
/// if two schedulers place pods on one node, they assign the same GPU twice.
GangScheduler pod_scheduler(const PlanSpec& spec);

/// Returns the name for `schedulerName` of a pod: "kai-scheduler"; empty for the default scheduler, which Kueue uses
/// too.
std::string_view scheduler_name(const PlanSpec& spec);

/// Returns the labels that put a tenant's workload into its queue: `kai.scheduler/queue: serving` or
/// `kueue.x-k8s.io/queue-name: serving`. They belong on the workload and on its pods. The mapping is empty if the pods
/// have no queue. The pods of a tenant with a stated quota are marked preemptible, because KAI would start
/// non-preemptible pods only within the quota of their queue. KAI never reclaims GPUs inside a queue's quota.
Yaml queue_labels(const PlanSpec& spec, std::string_view tenant);

/// Returns the annotations that place the pods of one replica near each other. For Kueue they belong on the pod
/// template, otherwise on the workload. The mapping is empty for replicas of one pod. Kueue places pods of two
/// templates in one domain only if both templates name the same group, so the leader and the workers do.
Yaml topology_annotations(const PlanSpec& spec, const ServiceSpec& service, const RoleFleet& role);

/// Returns the name that the topology and the parent of the tenants' queues have: the name of the plan as a DNS label.
std::string cluster_queue_name(const PlanSpec& spec);

/// Returns the node label that the pods of a replica must share: the host if one node has the GPUs of all pods, as the
/// simulations assume; the NVLink domain if one NVLink domain joins them; otherwise the zone.
std::string_view required_level(const PlanSpec& spec, const RoleFleet& role);

/// The label by which the GPU Operator marks the nodes of one NVLink domain.
inline constexpr std::string_view kNvlinkLabel = "nvidia.com/gpu.clique";
inline constexpr std::string_view kZoneLabel = "topology.kubernetes.io/zone";
inline constexpr std::string_view kHostLabel = "kubernetes.io/hostname";

}  // namespace capstan::plan
