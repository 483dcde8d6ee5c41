#pragma once

#include <optional>

#include "base/quantity.h"
#include "base/time.h"
#include "decide/scale/peers/kpa_metrics.h"

/// Knative's pod autoscaler. Quantities are doubles where Go's are, and computed in its order.
/// Source: knative/serving pkg/autoscaler/scaling/autoscaler.go, pkg/autoscaler/config.
namespace capstan::decide::scale::kpa {

/// What one revision is scaled by; the defaults are those of the ConfigMap config-autoscaler.
struct Spec {
  double target = 70;                  ///< per pod: concurrent requests, or requests a second
  double total = 100;                  ///< what a pod takes: target over utilization
  double target_burst_capacity = 211;  ///< 0: the activator stays out; -1: it always stays in
  double max_scale_up_rate = 1000;     ///< of the ready pods, a decision
  double max_scale_down_rate = 2;
  double panic_threshold = 2;  ///< pods that the panic window asks for, over those that are ready
  Duration stable_window = std::chrono::seconds(60);
  bool reachable = true;              ///< a route points at it
  ReplicaCount activation_scale = 0;  ///< at least as many where any are wanted; 0 and 1: no such thing
  Duration scale_down_delay{};
};

inline constexpr Duration kTick = std::chrono::seconds(2);  ///< between decisions

struct State {
  std::optional<Instant> panic_since;  ///< the last moment over the threshold
  ReplicaCount max_panic_pods = 0;
  std::optional<MaxTimeWindow> delay;  ///< only where there is a delay: a window of one granule is not the same as none
};

/// The state of a new decider, which knows no history: with several pods ready it holds them as in panic.
/// @param ready_pods nothing: not to be had, taken as 0
State begin(const Spec& spec, std::optional<ReplicaCount> ready_pods, Instant now);

struct Observed {
  std::optional<ReplicaCount> ready_pods;  ///< nothing: not to be had
  std::optional<double> stable, panic;     ///< mean over each window of the sum over all pods; nothing: no data
};

struct Result {
  bool valid = false;  ///< false: nothing is changed
  ReplicaCount desired = 0;
  std::int64_t excess_burst_capacity = 0;  ///< below 0: the activator stays in the path of the requests
};

Result decide(const Spec& spec, State& state, const Observed& observed, Instant now);

/// How a revision's targets follow from its settings.
struct TargetSettings {
  bool by_rate = false;                       ///< metric rps instead of concurrency
  double utilization = 0.7;                   ///< 0..1
  double default_target = 100;                ///< 200 for rps
  double container_concurrency = 0;           ///< hard limit of a pod; 0: none
  std::optional<double> target_annotation;    ///< never above the hard limit
  std::optional<double> utilization_percent;  ///< the annotation of it
};
struct Target {
  double target, total;
};
Target resolve_target(const TargetSettings& settings);

}  // namespace capstan::decide::scale::kpa
