#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "experiment/run/fleet_hook.h"
#include "experiment/run/simulation.h"
#include "sim/fleet/fleet.h"
#include "workload/closed_loop.h"
#include "workload/source.h"

namespace capstan::experiment {

/// One endpoint of a run: its load, and the fleet that serves it.
class Endpoint {
 public:
  /// @param setup  must outlive the endpoint
  /// @return an input error if the file of the workload is invalid
  static Result<Endpoint> open(const EndpointSetup& setup, std::uint64_t seed);

  const EndpointSetup& setup() const { return *setup_; }
  sim::Fleet& fleet() const { return *fleet_; }

  std::optional<Error> error() const { return source_ ? source_->error() : std::nullopt; }
  /// Returns the finished part of the load, 0 to 1: the part of its stated time that has passed. Without a stated time,
  /// returns the part of its source that was read.
  double part_done(Instant now) const;
  /// Returns true if no request can arrive any more and the stated duration of the load has passed. Nodes cost money
  /// until then, even if there are no requests.
  bool is_load_over(Instant now) const { return now >= load_end() && fleet_->arrivals_over(); }
  Instant load_end() const { return Instant{setup_->workload.duration.value_or(Duration{})}; }  ///< 0: not stated

 private:
  explicit Endpoint(const EndpointSetup& setup) : setup_(&setup) {}

  const EndpointSetup* setup_;
  std::unique_ptr<workload::Source> source_;       ///< source of an open load; null for a closed loop
  std::unique_ptr<workload::ClosedLoop> clients_;  ///< clients of a closed loop; null for an open load
  std::unique_ptr<sim::Fleet> fleet_;
};

/// All endpoints of a run, which share the cluster. Endpoints that act at the same time do so in the order of the
/// setup.
class Endpoints {
 public:
  static Result<Endpoints> open(const SimulationSetup& setup);

  std::span<const Endpoint> all() const { return endpoints_; }
  /// Returns the position of the endpoint to which a service of the catalog belongs.
  std::size_t index_of(model::ServiceId service) const { return by_service_[service.value]; }
  std::vector<FleetRoute> routes() const;  ///< by service of the catalog

  void advance(Instant now) const;
  void finish(Instant now) const;
  std::optional<Error> error() const;
  double part_done(Instant now) const;  ///< the mean of the endpoints; 0 without one
  bool is_over(Instant now) const;      ///< true if all loads are over and all requests have ended
  bool are_loads_over(Instant now) const;
  /// Returns the next moment after `now` at which a stated load ends.
  Instant next_load_end(Instant now) const;

  RequestCount waiting() const;
  sim::RequestCounts counts() const;  ///< the sum over the endpoints
  bool check() const;                 ///< true if every counter of the fleets equals its recount

 private:
  std::vector<Endpoint> endpoints_;
  std::vector<std::size_t> by_service_;
};

}  // namespace capstan::experiment
