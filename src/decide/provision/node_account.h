#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "decide/provision/provision.h"

namespace capstan::decide::provision {

/// Counts the nodes of each pool and of all pools together: those that stand, those on their way, and those
/// that were asked for and that no claim shows yet. Policies and the loop's guard check launches against this one
/// account, so that no policy plans what the guard would refuse.
class NodeAccount {
 public:
  NodeAccount(const Index& index, const model::Snapshot& snapshot, std::span<const Memory::Asked> asked);

  /// Counts so many more nodes.
  void add(model::PoolId pool, model::OfferingId offering, std::int64_t count);

  /// The first limit that so many more nodes would exceed.
  enum class Limit : std::uint8_t { none, pool_gpus, fleet_gpus, fleet_nodes, fleet_price };
  Limit exceeded(model::PoolId pool, model::OfferingId offering, std::int64_t count) const;
  /// Returns the reason to give for a limit that is not `none`: asked for, limit, in use or on its way.
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
