#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "model/catalog.h"
#include "sim/cluster/cluster_meter.h"

namespace capstan::sim {

/// The GPU time that was paid for, by offering: what the GPUs did, for which user, and which pool paid.
class GpuAccount {
 public:
  /// @param job_classes  number of classes of batch jobs
  GpuAccount(const model::Catalog& catalog, std::size_t job_classes);

  /// Adds time in which `gpus` of a node of the offering were in one state.
  /// @param user  position in `ClusterMeter::by_user` of the pods that had them; none: no pod had them
  void add(model::OfferingId offering, std::optional<std::size_t> user, GpuState state, MilliGpu gpus, Duration time);
  /// Adds time in which a node of the offering with `gpus` was paid for.
  /// @param pool  none for a node that belongs to no pool
  void pay(model::OfferingId offering, model::PoolId pool, MilliGpu gpus, Duration time);

  /// Adds time in which a launched node of the offering with `gpus` had no pods. `add` counts this time, too.
  void add_empty_node(model::OfferingId offering, MilliGpu gpus, Duration time);

  /// Adds the GPU time and its price to `total`: by state, by user, by pool, and in all.
  void charge(ClusterMeter& total) const;

 private:
  struct Row {
    std::array<GpuTime, kGpuStates> by_state{};
    std::vector<std::array<GpuTime, kGpuStates>> by_user;  ///< the last row is for GPUs that no pod had
    GpuTime empty_nodes = 0;                               ///< part of the unallocated time: of nodes without a pod
    std::vector<GpuTime> by_pool;                          ///< the last row is for nodes that belong to no pool
  };

  const model::Catalog& catalog_;
  std::size_t users_;
  std::vector<Row> rows_;  ///< rows by offering
};

}  // namespace capstan::sim
