#pragma once

#include "plan/pods/cold_start.h"
#include "plan/pods/engine_command.h"
#include "plan/result/plan.h"

// The pod of a replica.
namespace capstan::plan {

/// The time limits of a pod, derived from the plan.
struct PodTimes {
  std::int64_t startup_s = 0;          ///< time after which the startup probe gives up
  std::int64_t pre_stop_s = 0;         ///< sleep before SIGTERM
  std::int64_t worker_pre_stop_s = 0;  ///< the same for a pod that is not the leader of its replica
  std::int64_t drain_s = 0;            ///< time in which the engine finishes its requests
  std::int64_t grace_s = 0;            ///< terminationGracePeriodSeconds
  std::string startup_why{};
  std::string drain_why{};
  bool is_answer_known = false;  ///< false: the load states no longest answer
};

inline constexpr std::int64_t kPreStopS = 15;  ///< time until routers have dropped a pod

/// Returns the times. The startup probe waits twice the longest start on a node that exists, and at least 10 min. The
/// drain takes as long as the longest answer at the TPOT bound, but at least 105 s, and less than a node waits for its
/// pods. It takes 150 s if the load states no longest answer, and 105 s for a prefill replica.
PodTimes pod_times(const ServiceSpec& service, const ServicePlan& fleet, const RoleFleet& role);

/// The part of a machine that a pod takes.
struct PodResourceNeeds {
  std::int64_t cpu = 0;
  std::int64_t memory_gib = 0;
  std::int64_t shared_memory_gib = 0;  ///< size of /dev/shm; 0: the default is enough
  bool is_machine_known = false;
  std::string why{};
};
PodResourceNeeds resource_needs(const RoleFleet& role);

/// Returns the pod template (metadata and spec) of a replica of one pod, or of the leader of a replica of several pods.
Yaml engine_pod(const PlanSpec& spec, const ServiceSpec& service, const ServicePlan& fleet, const RoleFleet& role);
/// Returns the pod template of the other pods of a replica of several pods.
Yaml worker_pod(const PlanSpec& spec, const ServiceSpec& service, const ServicePlan& fleet, const RoleFleet& role);

/// Returns the name of the ConfigMap of a role's engine.
std::string config_name(const ServiceSpec& service, model::Role role);

}  // namespace capstan::plan
