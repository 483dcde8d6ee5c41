#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "control/controller.h"
#include "experiment/run/foreseen_plan.h"
#include "experiment/run/result.h"
#include "model/slo.h"
#include "scenario/job_spec.h"
#include "scenario/peer_spec.h"
#include "sim/cluster/cluster_config.h"
#include "sim/fleet/fleet.h"
#include "workload/spec.h"

namespace capstan::experiment {

/// One endpoint of a run: its load, its router and the engines of its replicas.
struct EndpointSetup {
  std::string name;
  std::string team{};                       ///< empty: none
  model::ServiceId first{0};                ///< its first service of the catalog; the others follow
  sim::FleetConfig fleet;                   ///< its seed is set by the run
  std::vector<sim::FleetVariant> variants;  ///< by service, from `first`; models and work prices outlive the run
  model::Slo slo;
  workload::WorkloadSpec workload;
};

/// Returns the seed of an endpoint's load, router and engine errors. A further endpoint does not change the seeds of
/// the endpoints before it.
constexpr std::uint64_t endpoint_seed(std::uint64_t run_seed, std::size_t endpoint) {
  return run_seed + endpoint * 0xd1b5'4a32'd192'ed03;
}

/// Everything that one simulated run needs: a scenario with one of its policies.
struct SimulationSetup {
  sim::ClusterConfig cluster;
  std::vector<EndpointSetup> endpoints;                     ///< in the order of the catalog's services; may be empty
  std::vector<std::optional<scenario::JobGoal>> job_goals;  ///< by class of jobs
  std::vector<std::string> job_teams;                       ///< by class of jobs; empty: none
  control::Policies policies;
  std::uint64_t seed = 1;
  /// Time at which the run ends. No value: it ends when every request and job has ended, at the latest `settle_time`
  /// after the last arrival.
  std::optional<Duration> duration;
  /// Longest time from the last arrival to the end, without `duration`.
  Duration settle_time = std::chrono::minutes(15);
  control::InputObserver input_observer;        ///< is called with the inputs of every decision; may be empty
  control::OutcomeObserver outcome_observer{};  ///< is called with the end of every action; may be empty
  /// By service: a peer that scales it in place of the policy; may be empty.
  std::vector<std::optional<scenario::PeerSpec>> peers;
  std::vector<std::string> warnings;  ///< facts about the policy without which its figures mislead
  /// Replica counts of the first service, which replace its policy. If there is a script, no service is scaled by its
  /// peer. May be empty.
  Script script;
  std::function<bool()> should_end;  ///< ends the run when it returns true after a decision; may be empty
  std::stop_token stop{};            ///< a requested stop ends the run at its next event, with an error
  /// The run ends at the next minute after more requests than this have missed the SLO; none: no limit.
  std::optional<RequestCount> miss_limit{};
  bool keep_history = false;  ///< note what happens to nodes and replicas (RunResult::history)
  /// True: checks the invariants during the run and makes every decision twice, which is slower; for tests.
  bool verify = false;
};

/// The progress of a run, reported about once per simulated minute.
struct Progress {
  Instant at;       ///< simulated moment; with several runs, their mean
  double part = 0;  ///< finished part of the workload, 0 to 1
  RequestCount arrived = 0;
  Duration simulated{};  ///< simulated time of all runs together
  std::string stage{};   ///< name of a later stage, such as "constant fleet, runs 3 to 4"; empty: the policies run
};
using ProgressCallback = std::function<void(const Progress&)>;

/// Runs simulation and control together: the fleet serves, the cluster starts and ends replicas, and the control loop
/// sees the cluster only through its port. If several things are due at the same time, requests are handled first, then
/// the cluster, then the loop.
/// @return an input error if the file of the workload is invalid, or if the run was stopped
Result<RunResult> simulate(const SimulationSetup& setup, const ProgressCallback& progress = {});

}  // namespace capstan::experiment
