#pragma once

#include <optional>

#include "base/quantity.h"
#include "base/time.h"
#include "decide/fleet_nouns.h"
#include "decide/provision/provision.h"
#include "model/service.h"
#include "model/snapshot.h"

namespace capstan::decide::provision {
class PurchaseLimits;
}

namespace capstan::decide::scale {

/// Price and availability of further replicas of a workload.
struct Supply {
  GpuCount gpus = 1;          ///< GPUs of one replica
  MicroUsd price_per_hour{};  ///< price of one replica: as stated, else the lowest price of its GPUs; 0: unknown
  /// Further replicas that fit now on existing nodes, on nodes on their way and on nodes that pools may still buy;
  /// empty: unknown. The number is an upper bound, because it ignores topology domains and limits that several pools
  /// share.
  std::optional<ReplicaCount> further_replicas{};
  bool refused = false;  ///< true: no pod fits now, and every usable offering is backing off after a capacity error
};

/// @param capacity  capacity on its way and purchasable; null: unknown
/// @param most      the search stops at this many replicas
Supply supply_of(const Index& index, const model::Catalog& catalog, const model::Workload& workload,
                 provision::PurchaseLimits* capacity, ReplicaCount most);

}  // namespace capstan::decide::scale
