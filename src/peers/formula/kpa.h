#pragma once

#include <optional>

#include "base/quantity.h"
#include "base/time.h"
#include "peers/formula/kpa_metrics.h"

/// Knative's pod autoscaler. Quantities are doubles where Go's are, computed in the same order. Source: knative/serving
/// pkg/autoscaler/scaling/autoscaler.go, pkg/autoscaler/config.
namespace capstan::peers::kpa {

/// Scaling settings of one revision; the defaults are those of the ConfigMap config-autoscaler.
struct Spec {
  double target = 70;                  ///< target per pod: concurrent requests or requests/s
  double total = 100;                  ///< capacity of a pod: target divided by utilization
  double target_burst_capacity = 211;  ///< 0: the activator is never in the path; -1: it always is
  double max_scale_up_rate = 1000;     ///< factor on the ready pods, per decision
  double max_scale_down_rate = 2;
  double panic_threshold = 2;  ///< pods wanted by the panic window divided by ready pods
  Duration stable_window = std::chrono::seconds(60);
  bool reachable = true;              ///< true: a route points at the revision
  ReplicaCount activation_scale = 0;  ///< minimum number of pods if at least one is wanted; 0 or 1: no minimum
  Duration scale_down_delay{};
};

inline constexpr Duration kTick = std::chrono::seconds(2);  ///< time between decisions

struct State {
  std::optional<Instant> last_panic_at;  ///< last time at which the panic threshold was reached; empty: no panic
  ReplicaCount max_panic_pods = 0;
  std::optional<MaxTimeWindow> delay;  ///< empty without a scale-down delay
};

/// Returns the initial state of a decider. Because there is no history yet, a decider with several ready pods begins in
/// panic, which keeps them.
/// @param ready_pods empty: unknown, taken as 0
State begin(const Spec& spec, std::optional<ReplicaCount> ready_pods, Instant now);

struct Observation {
  std::optional<ReplicaCount> ready_pods;  ///< empty: unknown
  std::optional<double> stable, panic;     ///< load of all pods together, mean over each window; empty: no data
};

struct Result {
  bool valid = false;  ///< false: no change
  ReplicaCount desired = 0;
  std::int64_t excess_burst_capacity = 0;  ///< below 0: the activator stays in the request path
};

Result decide(const Spec& spec, State& state, const Observation& observed, Instant now);

/// Settings from which a revision's targets are computed.
struct TargetSettings {
  bool by_rate = false;                       ///< true: metric rps instead of concurrency
  double utilization = 0.7;                   ///< target utilization, 0..1
  double default_target = 100;                ///< target per pod without an annotation; Knative uses 200 for rps
  double container_concurrency = 0;           ///< hard limit per pod; 0: none
  std::optional<double> target_annotation;    ///< target of the annotation, capped at the hard limit
  std::optional<double> utilization_percent;  ///< target utilization from the annotation
};
struct Target {
  double target, total;
};
Target resolve_target(const TargetSettings& settings);

}  // namespace capstan::peers::kpa
