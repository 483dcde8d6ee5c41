#pragma once

#include <optional>

#include "base/quantity.h"
#include "base/time.h"
#include "decide/index.h"
#include "decide/provision/provision.h"
#include "model/service.h"
#include "model/snapshot.h"

namespace capstan::decide::provision {
class Capacity;
}

namespace capstan::decide::scale {

/// What more replicas of a variant cost, and how many of them there can be.
struct Supply {
  GpuCount gpus = 1;          ///< of a replica
  MicroUsd price_per_hour{};  ///< of a replica: stated, or what its GPUs cost where they are cheapest; 0: not known
  /// Further replicas for which there is room now, on nodes that stand, on those on their way and on those that pools
  /// may still buy; nothing: not known. An upper bound: domains and what several pools share are not looked at.
  std::optional<ReplicaCount> more{};
  bool refused = false;  ///< every offering that would do is backing off after a capacity error
};

/// @param capacity  what is bought and what may be; null: nobody here knows
/// @param most      more than so many are not counted
Supply supply_of(const Index& index, const model::Catalog& catalog, const model::Variant& variant,
                 provision::Capacity* capacity, ReplicaCount most);

}  // namespace capstan::decide::scale
