#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kube/common_views.h"
#include "manifest/engine_command.h"

namespace capstan::kube {

struct Toleration {
  std::string key;  ///< key of the taint; empty: every key
  std::string op;   ///< Exists or Equal; empty: Equal
  std::string value;
  std::string effect;  ///< effect of the taint; empty: every effect
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

struct ContainerPort {
  std::string name;
  std::int64_t port = 0;
  friend bool operator==(const ContainerPort&, const ContainerPort&) = default;
};

/// A container without its environment and mounts. Its command is reduced to the engine's step limits.
struct Container {
  std::string name;
  std::string image;
  std::vector<ContainerPort> ports;
  manifest::StepLimits step_limits;
  friend bool operator==(const Container&, const Container&) = default;
};

/// Required rules about the nodes of a pod besides selectors of node labels and taints. Preferred rules are not read.
struct PlacementRules {
  bool pod_affinity = false;
  bool pod_anti_affinity = false;
  bool topology_spread = false;  ///< a spread constraint with `whenUnsatisfiable: DoNotSchedule`, the default
  bool node_fields = false;      ///< a required node affinity with `matchFields`
  friend bool operator==(const PlacementRules&, const PlacementRules&) = default;
};

/// A required anti-affinity of a pod: no pod that the term selects may run in the same domain.
struct AntiAffinityTerm {
  std::string topology_key;  ///< node label whose values are the domains
  Selector pods{};           ///< with the labels of `matchLabelKeys`, which the API server has added
  std::vector<std::string> namespaces{};
  bool selects_namespaces = false;  ///< the term has a `namespaceSelector`
  friend bool operator==(const AntiAffinityTerm&, const AntiAffinityTerm&) = default;
};

/// The parts of a pod's spec that placement and scaling need, from a pod or from the template of a workload.
struct PodSpec {
  std::string node;  ///< node that the pod is bound to; empty: not bound
  std::string scheduler;
  std::string priority_class;
  std::int64_t priority = 0;
  StringMap node_selector;
  std::vector<std::vector<Requirement>> node_affinity;  ///< required: all requirements of at least one list must be met
  PlacementRules rules;
  std::vector<AntiAffinityTerm> anti_affinity;
  std::vector<Toleration> tolerations;
  std::vector<std::string> scheduling_gates;
  std::vector<std::string> readiness_gates;
  std::vector<Container> containers;
  /// Requests as the scheduler counts them. For each resource, they are the pod's overhead plus the larger of two
  /// amounts: the sum of all containers and sidecars, and the largest init container with the sidecars before it.
  /// https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers
  Resources requests;
  bool has_resource_claims = false;  ///< the pod uses dynamic resource allocation
  /// GPUs that containers make visible to themselves by NVIDIA_VISIBLE_DEVICES, sorted. "all" means every GPU of the
  /// node. The list also contains "all" if the spec does not say which GPUs are visible: the variable takes its value
  /// from elsewhere, a container is privileged, a volume has the device files of the GPUs, or the pod has the runtime
  /// class of NVIDIA without the variable.
  /// https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html
  std::vector<std::string> visible_gpus;
  std::int64_t termination_grace_s = 30;
  friend bool operator==(const PodSpec&, const PodSpec&) = default;
};

PodSpec read_pod_spec(Json spec);

struct Pod {
  Meta meta;
  PodSpec spec;
  std::string phase;   ///< Pending, Running, Succeeded, Failed, Unknown
  std::string reason;  ///< reason of a failure, such as UnexpectedAdmissionError
  std::string ip;
  std::string nominated_node;
  WallTime started_at;
  /// Time at which the last init container ended. Not set if some still run, if it is not known, or if there are none.
  WallTime initialized_at;
  /// Time since which all containers have been running. Not set if some do not run, or if the time is not known.
  WallTime containers_started_at;
  std::vector<Condition> conditions;
  std::int64_t restarts = 0;  ///< restarts of all containers

  bool ready() const { return is_true(conditions, "Ready"); }
  bool bound() const { return !spec.node.empty(); }
  bool over() const { return phase == "Succeeded" || phase == "Failed"; }
  friend bool operator==(const Pod&, const Pod&) = default;
};

Pod read_pod(Json object);

}  // namespace capstan::kube
