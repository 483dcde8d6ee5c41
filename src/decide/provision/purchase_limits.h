#pragma once

#include <cstdint>
#include <map>

#include "decide/place/expected_nodes.h"
#include "decide/provision/node_account.h"
#include "decide/provision/provision.h"

namespace capstan::decide::provision {

/// The nodes that are on their way and the limits on further purchases, at one moment of one decision.
class PurchaseLimits {
 public:
  PurchaseLimits(const Index& index, const model::Snapshot& snapshot, const Memory& memory, Instant now);

  const model::Catalog& catalog() const { return catalog_; }
  const place::NewNodes& new_nodes() const { return new_nodes_; }
  place::ExpectedNodes& expected_nodes() { return expected_nodes_; }
  const place::ExpectedNodes& expected_nodes() const { return expected_nodes_; }
  /// Returns the number of nodes of a pool. Nodes on their way are included, nodes that were told to terminate are not.
  std::int64_t nodes_of(model::PoolId pool) const;

  /// The cause for which an offering cannot be bought now; `ok` if it can.
  enum class Obstacle : std::uint8_t { ok, backing_off, limit };
  /// Returns the obstacle to buying `count` nodes of an offering.
  Obstacle obstacle(model::PoolId pool, model::OfferingId offering, std::int64_t count) const;
  /// Returns the reason to state for an obstacle that is not `ok`.
  model::Reason reason(Obstacle obstacle, model::PoolId pool, model::OfferingId offering, std::int64_t count) const;

  /// Returns the reason to state for a gang or pod that waits for nodes on their way.
  model::Reason reason(const place::Nomination& nomination, MilliGpu short_by) const;

  /// Returns true if `inner` is `outer` or lies inside it. Every domain lies inside an invalid `outer`.
  bool inside(model::DomainId inner, model::DomainId outer) const;

  /// Adds the launch to the plan and to memory, and counts its nodes from now on. The nodes of the launch are the last
  /// ones in `expected_nodes()`.
  void launch(const model::LaunchNodes& launch, model::Reason why, Decision& decision, Memory& memory);
  /// Notes that a node of the pool was told to terminate. Its GPUs count against the limits until it is gone.
  void give_back(model::PoolId pool) { ++terminating_[pool]; }

 private:
  const model::Catalog& catalog_;
  NodeAccount account_;
  std::map<model::OfferingId, Memory::Backoff> backoffs_;
  /// By pool: number of nodes whose termination was submitted and that still count in the account.
  std::map<model::PoolId, std::int64_t> terminating_;
  place::NewNodes new_nodes_;
  place::ExpectedNodes expected_nodes_;
  Instant now_;
};

}  // namespace capstan::decide::provision
