#pragma once

#include <optional>
#include <vector>

#include "decide/scale/capstan/capacity.h"
#include "decide/scale/capstan/forecast.h"
#include "decide/scale/capstan/load.h"
#include "decide/scale/scale.h"

// Working data of one decision of Capstan's policy, for a single variant or a mix: observations, the capacity of each
// variant, and the need. Capacities are in replicas of the first variant. The decision reads only these values.
namespace capstan::decide::scale {

inline constexpr double kRoundingTolerance = 0.05;  // part of a replica above a whole number that is ignored
inline constexpr double kUsableMargin = 0.25;  // part of the safety margin that may be used before a replica is added
inline constexpr double kClearSurplus = 0.5;   // part of a replica: surplus beyond it is removed after the short window

/// One variant in a decision.
struct VariantStep {
  /// View of this variant. In a mix, the view of the first variant holds the replicas of all variants.
  const WorkloadView* role = nullptr;
  ReplicaCount min = 0;  ///< minimum, including scheduled floors that begin before a new replica could serve
  EngineEstimate engine;
  Capacity capacity;
  double relative_capacity = 1;  ///< capacity of one of its replicas; 0: not used for planning
  Lead lead;
  bool denied = false;  ///< true: its GPUs are or were unavailable, or it missed the SLO; no more replicas are planned
};

/// The number of replicas that must be ready after the lead time, and the values from which it follows. The unit is
/// replicas unless another one is named.
struct RequiredReplicas {
  double arriving_tokens_per_s = 0;  ///< prompt tokens of all arrivals, queued ones included; smoothed
  double served = 0;                 ///< demand from arriving prompts and generated tokens
  double arriving = 0;               ///< demand from arriving prompts and the answers to expect for them
  bool queue_drains = false;         ///< true: a queue is draining, so that generation exceeds arrivals
  double demand = 0;                 ///< `arriving` while a queue drains, else the larger of the two
  double in_flight = 0;              ///< running and queued requests, the gateway's included, divided by the batch
  double backlog = 0;                ///< demand of the queue that will remain when a new replica is ready
  Duration backlog_drains{};         ///< time until the serving and starting replicas empty the queue; 0: none
  Outlook outlook{};
  double total = 0;

  /// Returns the part of `total` that exceeds the forecast and the backlog.
  double margin() const;
};

struct Step {
  const WorkloadView& role;  ///< view with the replicas of all variants
  const Capstan& policy;
  CapstanMemory& memory;
  Instant now;
  Duration since_last;
  Load load;
  Shape shape;
  std::vector<VariantStep> variants;  ///< variants in the order of `load.variants`
  Duration lead{};                    ///< time from a decision to a serving replica, of the slowest variant
  bool lead_known = false;
  double missed_share = 0;  ///< estimated share of requests that miss their SLO now
  /// Set while there is no load and when load has just begun, if cold starts count against the SLO.
  std::optional<WarmSizing> warm{};
  RequiredReplicas need{};
  Duration window{};  ///< time for which a lower count must have sufficed

  const Capacity& first_variant_capacity() const { return variants.front().capacity; }
  double serving() const;               ///< capacity of the serving replicas
  double counted() const;               ///< capacity of the serving replicas and those on their way
  double sequences_serving() const;     ///< sequences that the serving replicas carry
  double queued() const;                ///< requests in flight beyond `sequences_serving()`
  double requests_per_s() const;        ///< requests/s that one replica serves
  RequestCount gateway_queued() const;  ///< requests queued at the gateway; 0 without a usable reading
};

/// Reads all signals once and updates the learned values.
/// @param role  for a mix, one view with the replicas of all variants
Step observe(const WorkloadView& role, const Capstan& policy, CapstanMemory& memory, Instant now);

/// Computes the demand and the number of replicas that must be ready after the lead time. They suffice for the forecast
/// with its safety margin, and for the backlog. Returns this number, `RequiredReplicas::total`, without rounding it.
double compute_need(Step& step);

/// Rounds up to whole replicas, at least 1, after subtracting `tolerated`.
ReplicaCount whole_replicas(double replicas, double tolerated = kRoundingTolerance);

/// The highest need in two windows.
struct NeedHistory {
  Duration round_trip{};       ///< first window: time to stop a replica and to start it again
  Duration longest{};          ///< second window: longest time for which surplus is held
  Duration seen{};             ///< time since the first decision
  double round_trip_need = 0;  ///< highest need in the window `round_trip`, raised by the forecast error
  double longest_need = 0;     ///< highest need in the window `longest`
};
/// Stores the need and returns the history of needs.
NeedHistory need_history(Step& step, double needed);

/// Returns how many replicas must serve now if replicas can be converted from the other role within seconds. The number
/// includes no forecast. It suffices to drain the queue within the time of a few conversions.
ReplicaCount needed_now(const Step& step);

/// Returns true if the load has been idle long enough to stop the last replica, the minimum is 0, and a gateway with a
/// usable reading holds new requests.
bool can_sleep(const Step& step);

/// Returns how many replicas stay without load. With fewer, cold starts would use too much of the SLO's error budget.
ReplicaCount warm_replicas(const Step& step);

/// Returns the reason why replicas stay warm.
model::Reason warm_reason(const WarmSizing& warm);

/// Returns the numbers of the decision, for its explanation.
Sizing sizing_of(const Step& step);

/// Decides all variants of a service in one decision.
Decision decide_mix(const Capstan& policy, const WorkloadView& role, CapstanMemory& memory, Instant now);

}  // namespace capstan::decide::scale
