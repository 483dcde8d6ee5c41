#pragma once

#include "base/quantity.h"

/// AIBrix's own two algorithms. Source: vllm-project/aibrix pkg/controller/podautoscaler/algorithm/{apa,kpa}.go.
namespace capstan::peers::aibrix {

/// Annotations autoscaling.aibrix.ai/… with their defaults.
struct Rates {
  double max_up = 2;  ///< factor on the current pods, per decision
  double max_down = 2;
  double up_tolerance = 0.1;  ///< a value exactly 10 % above the target is still within it
  double down_tolerance = 0.1;
};

/// Implements APA: compares the mean over pods with the target. Keeps the current count if the target is 0 or below.
ReplicaCount apa(ReplicaCount current, double target, double average, const Rates& rates);

/// State of AIBrix's KPA. AIBrix loses it between decisions, so that a panic never lasts.
struct PanicState {
  bool in_panic = false;
  ReplicaCount max_panic_pods = 0;
};

/// Returns true if the value of the panic window is more than `threshold` times that of the stable window, or if the
/// latter is 0 or below.
bool is_panic(double stable, double panic, double threshold = 2);

/// Implements the KPA of AIBrix. Its documentation expects totals over all pods, but AIBrix passes means. The tolerance
/// band is around the target of one pod.
/// @param activation_scale minimum if any pod is wanted, whatever the rates allow
ReplicaCount kpa(ReplicaCount current, double target, double stable, double panic, const PanicState& state,
                 ReplicaCount activation_scale, const Rates& rates);

}  // namespace capstan::peers::aibrix
