#pragma once

#include <cstdint>
#include <map>
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

  enum class Limit : std::uint8_t { none, pool_gpus, fleet_gpus, fleet_nodes, fleet_price };
  /// Returns the first limit that `count` more nodes would exceed.
  Limit exceeded(model::PoolId pool, model::OfferingId offering, std::int64_t count) const;
  /// Returns the reason to state for a limit that is not `none`: amount asked for, limit, amount in use or on its way.
  model::Reason reason(Limit limit, model::PoolId pool, model::OfferingId offering, std::int64_t count) const;

  /// Returns the nodes of a pool.
  std::int64_t nodes_of(model::PoolId pool) const;

 private:
  struct Sum {
    GpuCount gpus = 0;
    std::int64_t nodes = 0;
  };
  Sum of(model::PoolId pool) const;
  void add_to_fleet(model::OfferingId offering, std::int64_t count);

  const model::Catalog& catalog_;
  std::map<model::PoolId, Sum> pools_;
  Sum fleet_;
  MicroUsd fleet_price_per_hour_;
};

}  // namespace capstan::decide::provision
