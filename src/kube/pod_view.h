#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kube/common_views.h"
#include "manifest/engine_command.h"

namespace capstan::kube {

struct Toleration {
  std::string key;  ///< empty: every key
  std::string op;   ///< Exists, or Equal (empty)
  std::string value;
  std::string effect;  ///< empty: every effect
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

struct ContainerPort {
  std::string name;
  std::int64_t port = 0;
  friend bool operator==(const ContainerPort&, const ContainerPort&) = default;
};

/// A container, without its environment or its mounts; of its command, what it tells an engine.
struct Container {
  std::string name;
  std::string image;
  std::vector<ContainerPort> ports;
  manifest::StepLimits step_limits;
  friend bool operator==(const Container&, const Container&) = default;
};

/// What of a pod's spec placement and scaling need; of a pod, or of a workload's template.
struct PodSpec {
  std::string node;  ///< bound to; empty: not bound
  std::string scheduler;
  std::string priority_class;
  std::int64_t priority = 0;
  StringMap node_selector;
  std::vector<std::vector<Requirement>> node_affinity;  ///< required: one of the lists must hold whole
  std::vector<Toleration> tolerations;
  std::vector<std::string> scheduling_gates;
  std::vector<std::string> readiness_gates;
  std::vector<Container> containers;
  /// What the scheduler counts: the larger of the sum of the containers and any init container beside the sidecars
  /// before it, plus overhead.
  /// https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers
  Resources requests;
  bool has_resource_claims = false;  ///< dynamic resource allocation
  std::int64_t termination_grace_s = 30;
  friend bool operator==(const PodSpec&, const PodSpec&) = default;
};

PodSpec read_pod_spec(Json spec);

struct Pod {
  Meta meta;
  PodSpec spec;
  std::string phase;   ///< Pending, Running, Succeeded, Failed, Unknown
  std::string reason;  ///< of a failure, such as UnexpectedAdmissionError
  std::string ip;
  std::string nominated_node;
  WallTime started_at;
  std::vector<Condition> conditions;
  std::int64_t restarts = 0;  ///< of all containers together

  bool ready() const { return is_true(conditions, "Ready"); }
  bool bound() const { return !spec.node.empty(); }
  bool over() const { return phase == "Succeeded" || phase == "Failed"; }
  friend bool operator==(const Pod&, const Pod&) = default;
};

Pod read_pod(Json object);

}  // namespace capstan::kube
