#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "experiment/run/scrape_log.h"
#include "experiment/run/scraped_series.h"
#include "model/service.h"
#include "sim/cluster/serving_hook.h"
#include "sim/fleet/fleet.h"

namespace capstan::experiment {

/// The fleet that serves with the replicas of a service, and the service's number among the fleet's variants.
struct FleetRoute {
  sim::Fleet* fleet = nullptr;
  std::size_t variant = 0;
};

/// Connects the cluster, which starts and ends gangs, to the fleets, which serve requests. A ready gang is a replica of
/// its endpoint's fleet. The variants of a fleet are services of the cluster.
class FleetHook final : public sim::ServingHook {
 public:
  /// Keeps references to its arguments, which must outlive the hook. `services` are the services of the catalog.
  /// @param series  receivers of every scrape, by service; an entry may be null, and entries at the end may be absent
  FleetHook(std::vector<FleetRoute> routes, std::span<const model::Service> services,
            std::vector<ScrapedSeries*> series = {})
      : routes_(std::move(routes)), services_(services), series_(std::move(series)) {}

  void ready(const sim::ReplicaStart& replica, Instant at) override;
  void drain(model::GangId gang, Instant at) override;
  bool drained(model::GangId gang) override;
  void killed(model::GangId gang, Instant at, sim::Interruption why) override;
  sim::EngineReading sample(model::GangId gang, Instant at, bool scrape) override;
  RequestCount gateway_waiting(model::ServiceId service, Instant at) override;

  ReplicaCount serving_peak() const { return serving_peak_; }  ///< most replicas in routers at the same time
  /// Returns the number of requests that replicas held when they were ended for this reason.
  RequestCount cut(sim::Interruption why) const { return cut_[static_cast<std::size_t>(why)]; }
  const ScrapeLog& scraped() const { return scraped_; }

 private:
  struct Replica {
    sim::ReplicaHandle handle;
    model::ServiceId service;
    Duration weights{};
  };
  sim::Fleet& fleet_of(model::ServiceId service) const { return *routes_[service.value].fleet; }
  void forget(model::GangId gang);
  ScrapedSeries* series_of(model::ServiceId service) const {
    return service.value < series_.size() ? series_[service.value] : nullptr;
  }

  std::vector<FleetRoute> routes_;
  std::span<const model::Service> services_;
  std::vector<ScrapedSeries*> series_;
  std::map<model::GangId, Replica> replicas_;
  std::set<model::GangId> draining_;
  ReplicaCount serving_ = 0;
  ReplicaCount serving_peak_ = 0;
  std::array<RequestCount, sim::kInterruptions> cut_{};
  ScrapeLog scraped_;
};

}  // namespace capstan::experiment
