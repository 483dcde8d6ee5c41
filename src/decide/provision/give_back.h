#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "decide/provision/context.h"

// Steps that are shared by the passes that give nodes back.
namespace capstan::decide::provision {

/// Records for each node of a pool the time since which its pods have not changed.
void note_stable_pods(Memory& memory, const Index& index, const model::Snapshot& snapshot, Instant now);

/// Tells a node to terminate.
void terminate(Context& context, NodeId id, const model::Node& node, model::Reason why);

/// Returns the price of a node per hour; 0 if its offering is not known.
MicroUsd price_of(const Context& context, const model::Node& node);

/// The nodes that a pass may give back now.
class ReturnableNodes {
 public:
  explicit ReturnableNodes(const Context& context);

  /// Returns true if the node may be given back once its pods have not changed for long enough.
  bool contains(NodeId id, const model::Node& node) const;
  /// Returns true if no pod holds GPUs on the node.
  bool is_empty(NodeId id) const { return !context_.index.pods_by_node.contains(id); }
  /// Returns how long the pods of the node have not changed; 0 if that is not known.
  Duration unchanged_for(NodeId id) const;
  /// Returns how many more nodes of a pool may be given back now.
  std::int64_t budget(model::PoolId pool) const;
  /// Returns the reason to state for a node of the pool that may not be given back yet because of the budgets that the
  /// pool states. Returns no value if another limit is the cause.
  std::optional<model::Reason> wait_for_budget(model::PoolId pool) const;
  void count_return(model::PoolId pool);

 private:
  bool is_in_unfinished_group(const model::Node& node) const;
  bool is_awaited(NodeId id, const model::Node& node) const;

  struct Budget {
    std::int64_t allowed = 0;        ///< nodes that may terminate at the same time
    std::int64_t terminating = 0;    ///< nodes that terminate or were told to terminate
    std::int64_t above_minimum = 0;  ///< nodes above the minimum of the policy
  };

  const Context& context_;
  std::map<model::PoolId, Budget> budgets_;
};

}  // namespace capstan::decide::provision
