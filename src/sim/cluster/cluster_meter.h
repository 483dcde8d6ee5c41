#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "model/ids.h"
#include "model/plan.h"

namespace capstan::sim {

/// What a paid GPU does. At every moment each is in exactly one of these.
enum class GpuState : std::uint8_t {
  launching,    ///< its node is paid and does not take pods yet
  unallocated,  ///< no pod has it
  held,         ///< its pod waits for the rest of the gang
  starting,     ///< the whole gang is bound and loads
  busy,         ///< serves, an engine step is running
  idle,         ///< serves, nothing to do
  sleeping,     ///< out of the router, its engine asleep on it
  draining,     ///< out of the router
};
inline constexpr std::size_t kGpuStates = 8;
std::string_view name(GpuState state);

using GpuTime = __int128;  ///< thousandths of a GPU times nanoseconds

/// One start of a replica, for a waterfall: when each phase ended. The node's are those of the last of its nodes that
/// was asked for after the decision, and zero when all of them were there or on their way before.
struct ColdStart {
  model::GangId gang;
  model::ServiceId service;
  model::VariantId variant;
  std::uint32_t ordinal = 0;
  Instant decided_at;         ///< /scale was raised
  Instant created_at;         ///< its pods exist
  Instant node_requested_at;  ///< of the node that came last
  Instant node_launched_at;
  Instant node_booted_at;
  Instant node_ready_at;
  Instant bound_at;    ///< all pods
  Instant image_at;    ///< on all its nodes
  Instant weights_at;  ///< on all its nodes
  Instant init_at;
  Instant ready_at;
};

/// The cost of the nodes of one offering in one pool.
struct Spending {
  model::OfferingId offering;
  model::PoolId pool;  ///< none: nodes that stood at the start and belong to no pool
  GpuTime paid = 0;
  MicroUsd cost;
};

inline constexpr std::size_t kActionKinds = std::variant_size_v<decltype(model::Action::what)>;

/// Actions of one kind that chance let through.
struct ActionCounts {
  std::int64_t asked = 0;
  std::int64_t refused = 0;  ///< by the cluster itself, for what they ask
};

/// Totals since the start of the run.
struct ClusterMeter {
  Instant end;
  std::array<GpuTime, kGpuStates> gpu_time{};
  std::array<MicroUsd, kGpuStates> cost{};  ///< adds up to total_cost exactly
  GpuTime paid_gpu_time = 0;                ///< equals the sum of gpu_time
  MicroUsd total_cost;                      ///< rounded down once an offering
  std::vector<Spending> spending;           ///< by offering, then pool; adds up to total_cost exactly; no empty rows

  std::int64_t launches = 0;           ///< nodes bought
  std::int64_t launches_refused = 0;   ///< capacity errors
  std::int64_t launches_homeless = 0;  ///< of them: in no domain that fits was there room for the machine
  std::int64_t nodes_removed = 0;
  std::int64_t killed_by_termination = 0;  ///< ready replicas that ended with a node we gave back
  std::int64_t killed_by_eviction = 0;     ///< ready replicas that ended with an evicted pod
  std::int64_t killed_by_spot = 0;
  std::int64_t drains_cut = 0;      ///< replicas that still held work when the grace was over
  std::int64_t gangs_deferred = 0;  ///< pending longer than a scheduling cycle
  std::int64_t cold_starts = 0;
  std::int64_t wakes = 0;        ///< replicas that came out of sleep
  std::int64_t conversions = 0;  ///< replicas that came to serve in another role
  std::int64_t actions_refused = 0;
  std::int64_t actions_unknown = 0;
  std::array<ActionCounts, kActionKinds> actions{};  ///< by the alternative of `model::Action::what`
  std::int64_t binds_refused_spread = 0;             ///< a gang would stand in several domains of its level
  std::int64_t binds_refused_full = 0;               ///< a node has no room
  std::int64_t gangs_spread = 0;                     ///< gangs that stand in several domains of their level

  std::int64_t disruptions() const { return killed_by_termination + killed_by_eviction + killed_by_spot; }
  /// Rounded down; 9 million GPUs for a year fit.
  std::int64_t gpu_milliseconds(GpuState state) const {
    return static_cast<std::int64_t>(gpu_time[static_cast<std::size_t>(state)] / 1'000'000'000);
  }
};

}  // namespace capstan::sim
