#pragma once

#include "base/quantity.h"
#include "base/time.h"

/// How Knative bounds and carries out what its decider wants, and above all how it goes to zero.
/// Source: knative/serving pkg/reconciler/autoscaling/kpa/scaler.go.
namespace capstan::decide::scale::kpa {

inline constexpr ReplicaCount kUnknown = -1;

struct ZeroSettings {
  bool scale_to_zero = true;
  Duration stable_window = std::chrono::seconds(60);
  Duration grace = std::chrono::seconds(30);                ///< the activator has been in the path for so long
  Duration retention{};                                     ///< of the last pod; 0 for a revision that no route reaches
  Duration activation_timeout = std::chrono::seconds(630);  ///< progress deadline (600 s) and 30 s
  double target_burst_capacity = 211;                       ///< -1: the activator is always in the path
  ReplicaCount min_scale = 0;                               ///< 0: none
  ReplicaCount max_scale = 0;                               ///< 0: none
  ReplicaCount initial_scale = 1;
};

struct Revision {
  /// unset: its condition was never written, which Knative takes for activating, since no moment known.
  enum class Activity : std::uint8_t { unset, active, inactive, activating };
  enum class Reachability : std::uint8_t { unknown, reachable, unreachable };
  ReplicaCount replicas = 0;
  Activity activity = Activity::unset;
  Duration activity_for{};
  bool initial_scale_reached = false;
  Reachability reachability = Reachability::unknown;
  bool activator_answers = true;  ///< what a probe would find
  bool proxied = false;           ///< the activator was told to be in the path
  Duration proxied_for{};         ///< how long it has been there
};

struct Step {
  ReplicaCount desired = 0;  ///< kUnknown: not known yet; 0 without `applied`: the revision becomes inactive first
  bool applied = false;      ///< replicas are changed
  bool look_again = false;   ///< once a time that is known has passed
  bool probe = false;        ///< the activator did not answer: it is asked again in the background
};

/// @param wanted by the decider; below 0: no metrics yet
Step carry_out(const ZeroSettings& settings, const Revision& revision, ReplicaCount wanted);

}  // namespace capstan::decide::scale::kpa
