#pragma once

#include <string>
#include <string_view>

namespace capstan::kube {

/// A kind of objects, as named in the paths of the API server.
struct Resource {
  std::string group;  ///< API group; empty: the core group
  std::string version;
  std::string plural;
  std::string kind;
  bool namespaced = true;

  std::string api_version() const;  ///< "v1", "apps/v1"
  std::string name() const;         ///< "pods" or "deployments.apps", as kubectl accepts it
  friend bool operator==(const Resource&, const Resource&) = default;
};

/// Returns a path such as "/api/v1/namespaces/a/pods/b/status". An empty name gives the collection, an empty namespace
/// the collection of all namespaces.
std::string path_of(const Resource& resource, std::string_view ns, std::string_view name = {},
                    std::string_view subresource = {});

namespace resources {

// Resources that Capstan reads. A cluster may serve another version of a resource that is not part of Kubernetes;
// `Discovery` finds it.
inline const Resource kPods{"", "v1", "pods", "Pod", true};
inline const Resource kNodes{"", "v1", "nodes", "Node", false};
inline const Resource kServices{"", "v1", "services", "Service", true};
inline const Resource kEndpointSlices{"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", true};
inline const Resource kDeployments{"apps", "v1", "deployments", "Deployment", true};
inline const Resource kStatefulSets{"apps", "v1", "statefulsets", "StatefulSet", true};
inline const Resource kReplicaSets{"apps", "v1", "replicasets", "ReplicaSet", true};
inline const Resource kLeaderWorkerSets{"leaderworkerset.x-k8s.io", "v1", "leaderworkersets", "LeaderWorkerSet", true};
inline const Resource kHorizontalPodAutoscalers{"autoscaling", "v2", "horizontalpodautoscalers",
                                                "HorizontalPodAutoscaler", true};
inline const Resource kScaledObjects{"keda.sh", "v1alpha1", "scaledobjects", "ScaledObject", true};
inline const Resource kVariantAutoscalings{"llmd.ai", "v1alpha1", "variantautoscalings", "VariantAutoscaling", true};
inline const Resource kPodDisruptionBudgets{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", true};
inline const Resource kPriorityClasses{"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", false};
inline const Resource kLeases{"coordination.k8s.io", "v1", "leases", "Lease", true};
inline const Resource kEvents{"events.k8s.io", "v1", "events", "Event", true};
inline const Resource kResourceClaims{"resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", true};
inline const Resource kResourceSlices{"resource.k8s.io", "v1", "resourceslices", "ResourceSlice", false};
inline const Resource kNodeClaims{"karpenter.sh", "v1", "nodeclaims", "NodeClaim", false};
inline const Resource kNodePools{"karpenter.sh", "v1", "nodepools", "NodePool", false};
inline const Resource kKaiPodGroups{"scheduling.run.ai", "v2alpha2", "podgroups", "PodGroup", true};
inline const Resource kKaiQueues{"scheduling.run.ai", "v2", "queues", "Queue", false};

}  // namespace resources

}  // namespace capstan::kube
