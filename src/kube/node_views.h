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

/// What a NodeClaim, or the template of a NodePool, asks of a node (Karpenter).
struct NodeTemplate {
  std::vector<Requirement> requirements;
  std::vector<Taint> taints;
  std::vector<Taint> startup_taints;
  TargetRef node_class;                  ///< `api_version` holds the group
  std::optional<Duration> expire_after;  ///< nothing: never
  friend bool operator==(const NodeTemplate&, const NodeTemplate&) = default;
};

/// A node on its way, and then the claim on it (karpenter.sh/v1).
struct NodeClaim {
  Meta meta;
  NodeTemplate spec;
  Resources requests;
  std::string node;  ///< once registered
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

/// How many nodes of a pool may be disrupted at a time.
struct DisruptionBudget {
  std::string nodes;  ///< "10%" or "5"
  std::string schedule;
  std::optional<Duration> duration;
  std::vector<std::string> reasons;
  friend bool operator==(const DisruptionBudget&, const DisruptionBudget&) = default;
};

struct NodePool {
  Meta meta;
  StringMap labels;  ///< of the nodes
  NodeTemplate node;
  std::int64_t weight = 0;
  std::optional<Resources> limits;       ///< nothing: without a limit
  std::optional<std::int64_t> replicas;  ///< a static pool
  std::string consolidation_policy;
  std::optional<Duration> consolidate_after;  ///< nothing: never
  std::vector<DisruptionBudget> budgets;
  Resources in_use;
  std::vector<Condition> conditions;
  friend bool operator==(const NodePool&, const NodePool&) = default;
};

NodePool read_node_pool(Json object);

}  // namespace capstan::kube
