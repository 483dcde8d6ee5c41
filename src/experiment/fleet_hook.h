#pragma once

#include <cstddef>
#include <map>
#include <set>

#include "sim/cluster/serving_hook.h"
#include "sim/fleet/fleet.h"

namespace capstan::experiment {

/// Joins the cluster, which starts and ends gangs, to the fleet, which serves requests with them: a gang that is ready
/// is a replica of the fleet, variant for variant.
class FleetHook final : public sim::ServingHook {
 public:
  explicit FleetHook(sim::Fleet& fleet) : fleet_(fleet) {}  ///< `fleet` outlives the hook

  void ready(const sim::ReplicaStart& replica, Instant at) override;
  void drain(model::GangId gang, Instant at) override;
  bool drained(model::GangId gang) override;
  void killed(model::GangId gang, Instant at) override;
  sim::EngineReading sample(model::GangId gang, Instant at, bool scrape) override;
  RequestCount gateway_waiting(model::ServiceId service, Instant at) override;

  ReplicaCount serving_peak() const { return serving_peak_; }  ///< most replicas in the router at once

 private:
  sim::Fleet& fleet_;
  std::map<model::GangId, sim::ReplicaHandle> replicas_;
  std::set<model::GangId> draining_;
  ReplicaCount serving_ = 0;
  ReplicaCount serving_peak_ = 0;
};

}  // namespace capstan::experiment
