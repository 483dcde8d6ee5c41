#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "decide/provision/node_account.h"
#include "decide/provision/provision.h"

namespace capstan::decide::provision {

/// A node that is paid for and not there yet.
struct Coming {
  model::Purchase bought;
  model::GpuKindId gpu;
  model::DomainId within;  ///< the domain it will be in, as far as that is known: at least its zone
  MilliGpu free;           ///< not yet spoken for in this decision
};

/// What is bought already and what may still be bought, at one moment of one decision.
class Capacity {
 public:
  Capacity(const Index& index, const model::Snapshot& snapshot, const Memory& memory, Instant now);

  const model::Catalog& catalog() const { return catalog_; }
  std::vector<Coming>& coming() { return coming_; }
  GpuCount coming_gpus() const { return coming_gpus_; }
  /// Those on their way are included, those that were told to go are not.
  std::int64_t nodes_of(model::PoolId pool) const;

  /// Why an offering cannot be bought now, `count` times; `ok` when it can.
  enum class Obstacle : std::uint8_t { ok, backing_off, limit };
  Obstacle obstacle(model::PoolId pool, model::OfferingId offering, std::int64_t count) const;
  /// The reason to give for it.
  model::Reason reason(Obstacle obstacle, model::PoolId pool, model::OfferingId offering, std::int64_t count) const;

  /// Is `inner` the same domain as `outer` or inside it? Everything is inside none.
  bool inside(model::DomainId inner, model::DomainId outer) const;
  /// The domain of a level that `domain` lies in; none when it is wider itself.
  model::DomainId at_level(model::DomainId domain, model::TopologyLevel level) const;

  /// Writes the launch into the plan and counts it from now on, here and in memory. The new nodes are the last of
  /// coming().
  void launch(const model::LaunchNodes& launch, model::Reason why, Decision& decision, Memory& memory);
  /// A node of the pool has been told to go. Its GPUs count against the limit until it is gone.
  void give_back(model::PoolId pool) { ++going_[pool]; }

 private:
  void add_coming(model::PoolId pool, model::OfferingId offering, model::DomainId within, std::int64_t count);

  const model::Catalog& catalog_;
  NodeAccount account_;
  std::map<model::OfferingId, Memory::Backoff> backoffs_;
  std::map<model::PoolId, std::int64_t> going_;  ///< nodes that were told to go and still count in the account
  std::vector<Coming> coming_;
  GpuCount coming_gpus_ = 0;
  Instant now_;
};

/// Brings memory up to what the snapshot shows: new claims answer launches, failures back offerings off and nodes that
/// came end that, groups complete or are given back.
void follow(Memory& memory, const Index& index, const model::Snapshot& snapshot, const Policy& policy, Instant now,
            Decision& decision);
void back_off(Memory& memory, model::OfferingId offering, const Policy& policy, Instant now);

/// The parts of a decision, one file each.
void buy_minimum(Capacity& capacity, const Policy& policy, Memory& memory, Decision& decision);
void buy_per_pod(Index& index, const model::Snapshot& snapshot, const place::Decision& placed, Capacity& capacity,
                 const Policy& policy, Memory& memory, Instant now, Decision& decision,
                 std::set<model::NodeId>& nominated);
void buy_groups(const Index& index, const place::Decision& placed, Capacity& capacity, const Policy& policy,
                Memory& memory, Decision& decision);
void consolidate(Index& index, const model::Snapshot& snapshot, const place::Decision& placed,
                 const std::set<model::NodeId>& nominated, Capacity& capacity, const Policy& policy, Memory& memory,
                 Instant now, Decision& decision);

/// Does some row equal `value`, or have a field that does?
template <typename Rows, typename Value, typename Field = std::identity>
bool has(const Rows& rows, const Value& value, Field field = {}) {
  return std::ranges::find(rows, value, field) != std::ranges::end(rows);
}

}  // namespace capstan::decide::provision
