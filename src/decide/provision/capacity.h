#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "decide/provision/node_account.h"
#include "decide/provision/provision.h"

namespace capstan::decide::provision {

/// A node that is on its way: asked for or bought, and not ready yet.
struct Coming {
  model::Purchase bought;
  model::GpuKindId gpu;
  model::DomainId within;  ///< smallest domain known to contain the node; its zone or smaller
  MilliGpu free;           ///< GPUs that this decision has not yet assigned to waiting pods
};

/// The nodes that are on their way and the limits on further purchases, at one moment of one decision.
class Capacity {
 public:
  Capacity(const Index& index, const model::Snapshot& snapshot, const Memory& memory, Instant now);

  const model::Catalog& catalog() const { return catalog_; }
  std::vector<Coming>& coming() { return coming_; }
  GpuCount coming_gpus() const { return coming_gpus_; }
  /// Returns the nodes of a pool. Nodes on their way are included, nodes that were told to terminate are not.
  std::int64_t nodes_of(model::PoolId pool) const;

  /// The cause for which an offering cannot be bought now; `ok` if it can.
  enum class Obstacle : std::uint8_t { ok, backing_off, limit };
  /// Returns the obstacle to buying `count` nodes of an offering.
  Obstacle obstacle(model::PoolId pool, model::OfferingId offering, std::int64_t count) const;
  /// Returns the reason to state for an obstacle that is not `ok`.
  model::Reason reason(Obstacle obstacle, model::PoolId pool, model::OfferingId offering, std::int64_t count) const;

  /// Returns true if `inner` is `outer` or lies inside it. Every domain lies inside an invalid `outer`.
  bool inside(model::DomainId inner, model::DomainId outer) const;
  /// Returns the domain of `level` that contains `domain`, or an invalid id if `domain` is above that level.
  model::DomainId at_level(model::DomainId domain, model::TopologyLevel level) const;

  /// Adds the launch to the plan and to memory, and counts its nodes from now on. They are the last ones of coming().
  void launch(const model::LaunchNodes& launch, model::Reason why, Decision& decision, Memory& memory);
  /// Notes that a node of the pool was told to terminate. Its GPUs count against the limits until it is gone.
  void give_back(model::PoolId pool) { ++going_[pool]; }

 private:
  void add_coming(model::PoolId pool, model::OfferingId offering, model::DomainId within, std::int64_t count);

  const model::Catalog& catalog_;
  NodeAccount account_;
  std::map<model::OfferingId, Memory::Backoff> backoffs_;
  std::map<model::PoolId, std::int64_t> going_;  ///< nodes that were told to terminate and still count in the account
  std::vector<Coming> coming_;
  GpuCount coming_gpus_ = 0;
  Instant now_;
};

}  // namespace capstan::decide::provision
