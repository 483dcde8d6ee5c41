#pragma once

#include <optional>
#include <string>

#include "plan/fleet/capacity.h"
#include "plan/pods/cold_start.h"

namespace capstan::plan {

/// The ready replicas that a burst needs, by a formula.
struct WarmMinimum {
  ReplicaCount replicas = 1;
  std::string why{};  ///< the formula with its numbers
};

/// Returns the fewest ready replicas that serve the load outside bursts, and with which the late requests of a burst
/// stay within the share that the SLO allows. Replicas that are added for a burst serve only after a cold start. Until
/// then the requests beyond the capacity of the ready replicas wait, and they are late, except the few that the ready
/// replicas still serve within the TTFT bound:
///
///   (burst rate - n x capacity) x lead time <= n x capacity x TTFT + (1 - attainment) x requests of a cycle
///
/// The lead time is at most the length of a burst. A cycle lasts from the start of one burst to the start of the next.
///
/// @return nothing for a recorded load, whose bursts the spec does not state
std::optional<WarmMinimum> warm_minimum(const ServiceSpec& service, const ServicePlan& fleet, const RoleFleet& role);

/// The time from a burst to a decision: a scrape, KEDA's reading and the HPA's period, 15 s each.
inline constexpr Duration kDetection = std::chrono::seconds(45);

}  // namespace capstan::plan
