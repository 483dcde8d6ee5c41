#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/quantity.h"
#include "decide/fleet_nouns.h"
#include "model/gang_spec.h"
#include "model/reason.h"
#include "model/snapshot.h"

namespace capstan::decide::place {

/// The resources other than GPUs that pods can use on a node that a pool buys. There are two sources. The instance type
/// may state them, and an empty node of the same pool and type shows them, because a new node would have no more than
/// that node. If both are known, the lower amount counts.
class NewNodes {
 public:
  /// Learns the resources from the empty nodes of the snapshot.
  NewNodes(const model::Snapshot& snapshot, const Rooms& rooms);

  const model::Catalog& catalog() const { return catalog_; }
  /// Returns the resources of a new node; none: they are not known and do not limit pods.
  std::optional<model::Resources> resources_of(const model::Purchase& purchase) const;
  /// Returns how many pods fit on one new node.
  std::int64_t pods_on(const model::Purchase& purchase, MilliGpu gpus_per_pod, model::PodClassId pods) const;
  /// Returns the reason for which a new node does not hold the amounts together, although it has the GPUs. The reason
  /// names the scarcest resource. Returns no value if the node holds them.
  /// @param pods  number of pods that need the amounts
  std::optional<model::Reason> lack(const model::Purchase& purchase, const model::Resources& amounts,
                                    std::int64_t pods) const;

 private:
  /// A pool, and the instance type and GPUs of its nodes. An offering that states no instance type is a type of its
  /// own.
  struct Type {
    PoolId pool;
    std::string_view name;
    GpuCount gpus = 0;
    model::OfferingId unnamed{};
    friend auto operator<=>(const Type&, const Type&) = default;
  };
  Type type_of(const model::Purchase& purchase) const;

  const model::Catalog& catalog_;
  std::map<Type, model::Resources> of_empty_nodes_;  ///< largest amount of each resource on an empty node of the type
};

}  // namespace capstan::decide::place
