#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "model/ids.h"
#include "model/reason.h"

namespace capstan::model {

/// Asks the workload object of a service for this many replicas (`/scale`).
struct SetReplicas {
  ServiceId service;
  ReplicaCount replicas = 0;
  std::vector<GangId> drain;  ///< replicas to remove, the least loaded first; they finish their requests
  bool is_stated = false;     ///< true: a person stated the count or the maximum, so it does not depend on signals
};

/// Binds pods to nodes. All pods of a gang are bound in one transaction.
struct BindPods {
  GangId gang;
  struct Binding {
    PodId pod;
    NodeId node;
  };
  std::vector<Binding> bindings;
};

/// Buys nodes. If `hold` > 0 they form a group that is kept only as a whole.
struct LaunchNodes {
  PoolId pool;
  OfferingId offering;
  DomainId domain;  ///< one domain for all nodes; none: anywhere in the offering's zone
  std::int64_t count = 1;
  Duration hold{};  ///< time after which an incomplete group is released as a whole; 0: not a group
  GangId gang;      ///< gang that needs the nodes; none: capacity without a gang
};

/// Releases a whole group: its claims that are not nodes yet, and its nodes without pods.
struct ReleaseGroup {
  ClaimGroupId group;
};

/// Releases a node. Its pods are evicted, and the replicas of these pods lose their running requests.
struct TerminateNode {
  NodeId node;
};

/// Evicts a pod, so that its gang can be placed again elsewhere.
struct EvictPod {
  PodId pod;
};

/// Moves a replica to the other role of its service: the replica leaves its router, finishes its requests and joins the
/// other router. As soon as the action takes effect, the replica counts as a starting replica of the other role. The
/// workload object of `from` then asks for one replica fewer, and that of `to` for one more.
struct ConvertReplica {
  GangId gang;
  ServiceId from;
  ServiceId to;
};

/// One effect of a decision, as data, with its reason.
struct Action {
  std::variant<SetReplicas, BindPods, LaunchNodes, ReleaseGroup, TerminateNode, EvictPod, ConvertReplica> effect;
  Reason why;
};

/// The result of one decision of a layer: actions, and the reasons for every subject that stays unchanged.
struct Plan {
  std::vector<Action> actions;
  struct NoAction {
    enum class Subject : std::uint8_t { service, gang, node, pool } subject{};
    std::uint32_t id = 0;
    Reason why;
  };
  std::vector<NoAction> no_actions;  ///< every subject that was examined and has no action
};

/// Returns a hash of every action and every unchanged subject with their numbers and reasons, in order. Equal plans
/// have equal hashes on every machine.
std::uint64_t plan_hash(const Plan& plan);

}  // namespace capstan::model
