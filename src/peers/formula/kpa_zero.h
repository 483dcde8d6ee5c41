#pragma once

#include "base/quantity.h"
#include "base/time.h"

/// The part of Knative that bounds and applies the decider's count, and scales to zero step by step. Source:
/// knative/serving pkg/reconciler/autoscaling/kpa/scaler.go.
namespace capstan::peers::kpa {

inline constexpr ReplicaCount kUnknown = -1;

struct ZeroSettings {
  bool scale_to_zero = true;
  Duration stable_window = std::chrono::seconds(60);
  Duration grace = std::chrono::seconds(30);  ///< time for which the activator must have been in the path
  Duration retention{};                       ///< time for which the last pod is kept, if the revision has a route
  Duration activation_timeout = std::chrono::seconds(630);  ///< progress deadline (600 s) plus 30 s
  double target_burst_capacity = 211;                       ///< -1: the activator is always in the path
  ReplicaCount min_scale = 0;                               ///< minimum replicas; 0: none
  ReplicaCount max_scale = 0;                               ///< maximum replicas; 0: none
  ReplicaCount initial_scale = 1;
};

struct Revision {
  /// `unset`: the condition was never written. Knative treats this as activating, for an unknown time.
  enum class Activity : std::uint8_t { unset, active, inactive, activating };
  enum class Reachability : std::uint8_t { unknown, reachable, unreachable };
  ReplicaCount replicas = 0;
  Activity activity = Activity::unset;
  Duration activity_for{};
  bool initial_scale_reached = false;
  Reachability reachability = Reachability::unknown;
  bool activator_answers = true;  ///< true: the activator answered a probe
  bool proxied = false;           ///< true: the activator was told to be in the path
  Duration proxied_for{};         ///< time for which the activator has been in the path
};

struct Step {
  ReplicaCount desired = 0;  ///< kUnknown: not known yet; 0 without `applied`: no pod runs, or the last one stays
  bool applied = false;      ///< true: the replica count changes
  bool recheck = false;      ///< true: check again when a known time has passed
  bool probe = false;        ///< true: the activator did not answer and is probed in the background
};

/// @param wanted count of the decider; below 0: no metrics yet
Step apply_bounds_and_zero(const ZeroSettings& settings, const Revision& revision, ReplicaCount wanted);

}  // namespace capstan::peers::kpa
