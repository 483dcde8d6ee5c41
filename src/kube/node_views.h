#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "kube/common_views.h"

namespace capstan::kube {

struct Node {
  Meta meta;
  std::string provider_id;
  bool unschedulable = false;
  std::vector<Taint> taints;
  Resources capacity;
  Resources allocatable;
  std::vector<Condition> conditions;

  bool ready() const { return is_true(conditions, "Ready"); }
  friend bool operator==(const Node&, const Node&) = default;
};

Node read_node(Json object);

/// The requirements on a node in a NodeClaim or in the template of a NodePool (Karpenter).
struct NodeTemplate {
  std::vector<Requirement> requirements;
  std::vector<Taint> taints;
  std::vector<Taint> startup_taints;
  TargetRef node_class;                  ///< reference to the node class; `api_version` has only the group
  std::optional<Duration> expire_after;  ///< age at which the node expires; none: never
  friend bool operator==(const NodeTemplate&, const NodeTemplate&) = default;
};

/// A Karpenter NodeClaim (karpenter.sh/v1): a node that is being launched or that runs.
struct NodeClaim {
  Meta meta;
  NodeTemplate spec;
  Resources requests;
  std::string node;  ///< name of the node after it has registered
  std::string provider_id;
  Resources capacity;
  Resources allocatable;
  std::vector<Condition> conditions;  ///< Launched, Registered, Initialized, Ready, Drifted …

  bool launched() const { return is_true(conditions, "Launched"); }
  bool registered() const { return is_true(conditions, "Registered"); }
  bool initialized() const { return is_true(conditions, "Initialized"); }
  friend bool operator==(const NodeClaim&, const NodeClaim&) = default;
};

NodeClaim read_node_claim(Json object);

/// A limit on the nodes of a pool that may be disrupted at the same time.
struct DisruptionBudget {
  std::string nodes;  ///< share or number of nodes: "10%" or "5"
  std::string schedule;
  std::optional<Duration> duration;
  std::vector<std::string> reasons;
  friend bool operator==(const DisruptionBudget&, const DisruptionBudget&) = default;
};

struct NodePool {
  Meta meta;
  StringMap labels;  ///< labels of the nodes
  NodeTemplate node;
  std::int64_t weight = 0;
  std::optional<Resources> limits;       ///< largest total of the nodes; none: no limit
  std::optional<std::int64_t> replicas;  ///< number of nodes of a static pool; none: not a static pool
  std::string consolidation_policy;
  std::optional<Duration> consolidate_after;  ///< wait before a node is consolidated; none: never
  std::vector<DisruptionBudget> budgets;
  Resources in_use;
  std::vector<Condition> conditions;
  friend bool operator==(const NodePool&, const NodePool&) = default;
};

NodePool read_node_pool(Json object);

}  // namespace capstan::kube
