#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "control/controller.h"
#include "experiment/run/endpoints.h"
#include "experiment/run/fleet_hook.h"
#include "experiment/run/job_waits.h"
#include "experiment/run/limit_watch.h"
#include "experiment/run/queue_watch.h"
#include "experiment/run/result.h"
#include "experiment/run/settling.h"
#include "experiment/run/simulation.h"
#include "experiment/run/watched_world.h"
#include "sim/cluster/cluster.h"
#include "sim/fleet/fleet.h"

namespace capstan::experiment {

/// Measures a run once a simulated minute and gives the result at its end. It reads the true state of the simulation.
/// Nothing that it knows goes back to the controller.
class Observer {
 public:
  /// A function that returns the reason for the last number of replicas of a service, in one sentence.
  using Why = std::function<std::string(model::ServiceId)>;

  /// Keeps references to its arguments, which must outlive the observer.
  Observer(const SimulationSetup& setup, const Endpoints& endpoints, sim::Cluster& cluster, const FleetHook& hook,
           const WatchedWorld& world, const control::Controller& controller, Why why);

  void minute(Instant now);
  /// Measures the rest after the last whole minute. Call it once, after the fleet has ended.
  void finish(Instant end);
  RunResult result(Instant end);

 private:
  /// The replicas of one endpoint at the end of a minute.
  struct Replicas {
    ReplicaCount desired = 0;
    ReplicaCount starting = 0;
    ReplicaCount ready = 0;
    ReplicaCount silent = 0;  ///< ready replicas without a usable reading
  };
  bool has_one_endpoint() const { return endpoints_.all().size() == 1; }
  /// Returns true if one endpoint has the whole cluster, so that the figures of the run are the endpoint's figures.
  bool has_cluster_alone() const { return has_one_endpoint() && setup_.cluster.job_classes.empty(); }
  std::vector<Replicas> watch_replicas(Minute& here);
  void watch_queue(Instant now, std::size_t endpoint, const Replicas& replicas);
  std::string full_queue_of(std::size_t endpoint) const;
  std::string why_so_many(std::size_t endpoint) const;
  void watch_held(Instant now, const sim::ClusterMeter& meter);
  void watch_disruptions(Instant now, const sim::ClusterMeter& meter);
  void watch_groups(Instant now);
  void watch_settling(Instant now);
  void verify(Instant now);
  void read_requests(RunResult& result);
  void read_minutes(RunResult& result);
  void read_services(RunResult& result, const sim::ClusterMeter& meter);
  void read_jobs(RunResult& result, const sim::ClusterMeter& meter);
  void read_queues(RunResult& result, const sim::ClusterMeter& meter);
  void read_cluster(RunResult& result, Instant end);

  /// A sequence of minutes with the same problem: its sum, and the worst moment.
  struct ProblemPeriod {
    Instant from = Instant::never();
    std::int64_t sum = 0;
    Moment worst;
  };
  void close(ProblemPeriod& period);

  const SimulationSetup& setup_;
  const Endpoints& endpoints_;
  sim::Cluster& cluster_;
  const FleetHook& hook_;
  const WatchedWorld& world_;
  const control::Controller& controller_;
  Why why_;

  std::vector<Minute> minutes_;
  std::vector<RoleFigures> roles_;                        // by service
  std::vector<RoleFigures> by_endpoint_;                  // all replicas of each endpoint
  std::vector<std::vector<Minute>> minutes_by_endpoint_;  // minutes of each endpoint; none if one has the cluster alone
  Instant minute_start_{};                                ///< start of the minute that is being measured
  std::vector<Moment> moments_;
  std::vector<ProblemPeriod> queues_;  // by endpoint
  ProblemPeriod held_;
  std::int64_t held_ms_before_ = 0;
  std::int64_t disruptions_before_ = 0;
  RequestCount cut_before_ = 0;
  std::set<model::ClaimGroupId> expired_holds_;
  std::int64_t not_conserved_ = 0;
  Settling settling_;
  LimitWatch limits_;
  QueueWatch queue_watch_;
  JobWaits job_waits_;
  RequestCount arrived_before_ = 0;
  std::size_t starts_seen_ = 0;  ///< number of completed starts that `longest_start_` covers
  Duration longest_start_{};
};

}  // namespace capstan::experiment
