#pragma once

#include <array>
#include <vector>

#include "model/catalog.h"
#include "sim/cluster/cluster_meter.h"

namespace capstan::sim {

/// The GPU time that was paid for, by offering: what the GPUs did, for which service, and which pool paid.
class GpuAccount {
 public:
  explicit GpuAccount(const model::Catalog& catalog);

  /// Adds time in which `gpus` of a node of the offering were in one state.
  /// @param service  the service whose pods had them; none: no pod had them
  void add(model::OfferingId offering, model::ServiceId service, GpuState state, MilliGpu gpus, Duration time);
  /// Adds time in which a node of the offering with `gpus` was paid for.
  /// @param pool  none for a node that belongs to no pool
  void pay(model::OfferingId offering, model::PoolId pool, MilliGpu gpus, Duration time);

  /// Adds the GPU time and its price to `total`: by state, by service, by pool, and in all.
  void charge(ClusterMeter& total) const;

 private:
  struct Row {
    std::array<GpuTime, kGpuStates> by_state{};
    std::vector<GpuTime> by_service;  ///< the last is of GPUs that no pod had
    std::vector<GpuTime> by_pool;     ///< the last is of nodes that belong to no pool
  };

  const model::Catalog& catalog_;
  std::vector<Row> rows_;  ///< rows by offering
};

}  // namespace capstan::sim
