#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "decide/provision/provision.h"

namespace capstan::decide::provision {

/// Counts the nodes of each pool and of all pools together: existing nodes, claims without a node yet, and nodes that
/// were asked for but have no claim yet. Policies and the guard of the control loop both check launches with this
/// class, so no policy plans a launch that the guard would refuse.
class NodeAccount {
 public:
  NodeAccount(const Index& index, const model::Snapshot& snapshot, std::span<const Memory::PendingLaunch> asked);

  /// Adds `count` nodes to the account.
  void add(model::PoolId pool, model::OfferingId offering, std::int64_t count);

  /// Returns the reason why `count` more nodes may not be bought: the first limit that they would exceed, with the
  /// amount asked for, the limit, and the amount in use or on its way. Returns no value if they may be bought.
  std::optional<model::Reason> refusal(model::PoolId pool, model::OfferingId offering, std::int64_t count) const;

  /// Returns the nodes of a pool that are not terminating.
  std::int64_t nodes_of(model::PoolId pool) const;

 private:
  struct Sum {
    /// Amounts of the existing nodes and of those on their way. Amounts other than GPUs include the existing nodes only
    /// if some pool limits one of them.
    model::NodeAmounts in_use;
    std::int64_t nodes = 0;  ///< nodes that are not terminating
  };
  Sum sum_of(model::PoolId pool) const;
  void add_to_fleet(model::OfferingId offering, std::int64_t count);
  std::optional<model::Reason> refusal_of_fleet(model::OfferingId offering, std::int64_t count) const;

  const model::Catalog& catalog_;
  std::map<model::PoolId, Sum> pools_;
  model::NodeAmounts fleet_;
  MicroUsd fleet_price_per_hour_;
};

}  // namespace capstan::decide::provision
