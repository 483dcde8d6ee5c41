#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "model/ids.h"
#include "model/reason.h"

namespace capstan::model {

/// Ask the workload object of a service for this many replicas (`/scale`).
struct SetReplicas {
  ServiceId service;
  VariantId variant;
  ReplicaCount replicas = 0;
  std::vector<GangId> drain;  ///< when lowering: which replicas go, least to lose first; they drain, nothing is cut
};

/// Bind pods to nodes. For a gang all pods at once: one transaction.
struct BindPods {
  GangId gang;
  struct Binding {
    PodId pod;
    NodeId node;
  };
  std::vector<Binding> bindings;
};

/// Buy nodes: all or none of a group when `count` > 1 and `hold` > 0.
struct LaunchNodes {
  PoolId pool;
  OfferingId offering;
  DomainId within;  ///< one domain for all of them; none = anywhere in the offering's zone
  std::int64_t count = 1;
  Duration hold{};  ///< a group that is not whole by then is released whole; 0 = not a group
  GangId gang;      ///< for whom; none for plain capacity
};

/// Give a whole group back: claims that are still on their way, and nodes that came of it and that nobody uses yet.
struct ReleaseGroup {
  ClaimGroupId group;
};

/// Give a node back. Pods on it are evicted: replicas among them lose what they hold.
struct TerminateNode {
  NodeId node;
};

/// End a pod's placement; its gang starts anew elsewhere.
struct EvictPod {
  PodId pod;
};

/// Let a replica serve in the other role of its service: it leaves its router, finishes what it holds, and joins the
/// other's. From the moment that this takes effect it counts there, as one that starts, and both workload objects ask
/// for one replica fewer and one more.
struct ConvertReplica {
  GangId gang;
  ServiceId from;
  ServiceId to;
};

/// One small typed effect, as data, with its reason.
struct Action {
  std::variant<SetReplicas, BindPods, LaunchNodes, ReleaseGroup, TerminateNode, EvictPod, ConvertReplica> what;
  Reason why;
};

/// What one decision of a layer says should happen: actions, and the reasons of what it left alone.
struct Plan {
  std::vector<Action> actions;
  struct Kept {
    enum class Subject : std::uint8_t { service, gang, node, pool } subject{};
    std::uint32_t id = 0;
    Reason why;
  };
  std::vector<Kept> kept;  ///< every subject that was looked at and not acted on
};

/// A hash of every action, its numbers and reasons, in order: equal plans have equal hashes on every machine.
std::uint64_t plan_hash(const Plan& plan);

}  // namespace capstan::model
