#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <variant>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "model/ids.h"
#include "model/plan.h"
#include "sim/cluster/serving_hook.h"

namespace capstan::sim {

/// The states of a paid GPU. At every moment, each GPU is in exactly one of them.
enum class GpuState : std::uint8_t {
  launching,    ///< its node is paid for and does not take pods yet
  unallocated,  ///< no pod has it; its node takes pods, is cordoned or shuts down
  held,         ///< its pod waits for the rest of the gang
  starting,     ///< all pods of the gang are bound, and the replica starts
  busy,         ///< its replica serves and the engine computes, or its batch job computes
  idle,         ///< its replica serves, and the engine has nothing to do
  sleeping,     ///< its replica left the router, and the engine is asleep
  draining,     ///< its replica left the router and finishes its requests
};
inline constexpr std::size_t kGpuStates = 8;
std::string_view name(GpuState state);

using GpuTime = __int128;  ///< product of MilliGpu and nanoseconds

/// The times at which the phases of one replica's start ended. The node times belong to a single
/// node: the last one to become ready of the nodes requested for the replica after the decision. They are
/// zero if all nodes were ready or on their way before the decision.
struct ColdStart {
  model::GangId gang;
  model::ServiceId service;
  std::uint32_t ordinal = 0;
  Instant decided_at;         ///< time at which the replica count was raised
  Instant created_at;         ///< time at which the pods were created
  Instant node_requested_at;  ///< request of the node that became ready last
  Instant node_launched_at;
  Instant node_booted_at;
  Instant node_ready_at;
  Instant bound_at;    ///< time from which all pods were bound
  Instant image_at;    ///< time from which all nodes had the image
  Instant weights_at;  ///< time from which all nodes had the weights
  Instant init_at;
  Instant ready_at;
};

/// The cost of the nodes of one offering in one pool.
struct Spending {
  model::OfferingId offering;
  model::PoolId pool;  ///< none for nodes that existed at the start and belong to no pool
  GpuTime paid = 0;
  MicroUsd cost;
};

/// The GPU time that the pods of one user had, and its price. A user is a service or a class of batch jobs.
struct GpuUse {
  GpuTime gpu_time = 0;
  MicroUsd cost;
  std::array<GpuTime, kGpuStates> by_state{};  ///< parts of `gpu_time`
};

inline constexpr std::size_t kActionKinds = std::variant_size_v<decltype(model::Action::effect)>;

/// The actions of one kind that the cluster tried to carry out. An action that is refused by chance, or because a
/// replica on which it is based has ended, does not count.
struct ActionCounts {
  std::int64_t asked = 0;
  std::int64_t refused = 0;  ///< actions that the cluster cannot carry out
};

/// Totals since the start of the run.
struct ClusterMeter {
  Instant end;
  std::array<GpuTime, kGpuStates> gpu_time{};
  std::array<MicroUsd, kGpuStates> cost{};  ///< adds up to total_cost exactly
  GpuTime paid_gpu_time = 0;                ///< equals the sum of gpu_time
  MicroUsd total_cost;                      ///< rounded down once per offering
  std::vector<Spending> spending;           ///< by offering, then pool; adds up to total_cost exactly; no empty rows
  /// Nodes without pods, from the end of their launch until they are gone; a part of the state unallocated. `by_state`
  /// stays empty.
  GpuUse empty_nodes;
  /// By service, then by class of jobs, then one row for GPUs without pods. Adds up to total_cost.
  std::vector<GpuUse> by_user;

  std::int64_t launches = 0;               ///< nodes bought
  std::int64_t launches_refused = 0;       ///< launches that failed for lack of capacity
  std::int64_t launches_without_room = 0;  ///< the part of launches_refused for which no domain had room for a machine
  std::int64_t nodes_removed = 0;
  std::int64_t killed_by_termination = 0;  ///< serving or draining replicas killed because their node was given back
  std::int64_t killed_by_eviction = 0;     ///< serving or draining replicas killed because a pod was evicted
  std::int64_t killed_by_spot = 0;
  std::int64_t drains_cut = 0;      ///< replicas that held requests at the end of the grace period
  std::int64_t gangs_deferred = 0;  ///< gangs that were pending for longer than a scheduling cycle
  std::int64_t cold_starts = 0;
  std::int64_t wakes = 0;        ///< replicas that serve again after sleep
  std::int64_t conversions = 0;  ///< replicas that serve in another role
  std::int64_t actions_refused = 0;
  std::int64_t actions_unknown = 0;
  std::array<ActionCounts, kActionKinds> actions{};  ///< counts by index of the alternative in `model::Action::effect`
  std::int64_t binds_refused_spread = 0;      ///< binds that would spread a gang over several domains of its level
  std::int64_t binds_refused_full = 0;        ///< binds to a node without room
  std::vector<std::int64_t> replicas_spread;  ///< by service: replicas bound in several domains of their level
  /// Refused actions about a service or a class of jobs, by kind of action, then in the order of `by_user`. Each list
  /// ends with its last number that is not 0.
  std::array<std::vector<std::int64_t>, kActionKinds> refused_by_user{};

  std::array<std::int64_t, kInterruptions> job_restarts{};  ///< restarts of batch jobs, by cause

  std::int64_t all_replicas_spread() const {
    return std::accumulate(replicas_spread.begin(), replicas_spread.end(), std::int64_t{0});
  }
  std::int64_t disruptions() const { return killed_by_termination + killed_by_eviction + killed_by_spot; }
  /// Returns the GPU time of a state, rounded down. The result can hold the time of 290 million GPUs for a year.
  std::int64_t gpu_milliseconds(GpuState state) const {
    return static_cast<std::int64_t>(gpu_time[static_cast<std::size_t>(state)] / 1'000'000'000);
  }
};

}  // namespace capstan::sim
