#pragma once

#include "base/quantity.h"

/// AIBrix's two own algorithms. Source: vllm-project/aibrix pkg/controller/podautoscaler/algorithm/{apa,kpa}.go.
namespace capstan::decide::scale::aibrix {

/// Annotations autoscaling.aibrix.ai/… with their defaults.
struct Rates {
  double max_up = 2;  ///< of the current pods, a decision
  double max_down = 2;
  double up_tolerance = 0.1;  ///< the band is open: exactly 10 % more is no reason
  double down_tolerance = 0.1;
};

/// APA: the mean over pods against its target. A target that is not above 0 holds.
ReplicaCount apa(ReplicaCount current, double target, double average, const Rates& rates);

/// What its KPA has learned. In the product both are lost between decisions, so that nothing is held there.
struct PanicState {
  bool in_panic = false;
  ReplicaCount max_panic_pods = 0;
};

/// Whether the panic window is that much above the stable one.
bool is_panic(double stable, double panic, double threshold = 2);

/// KPA: totals over all pods, so it is said; the product hands it means (replicas.md §4.4a), and the band around the
/// target is that of one pod.
/// @param activation_scale at least as many where any are wanted, whatever the rates allow
ReplicaCount kpa(ReplicaCount current, double target, double stable, double panic, const PanicState& state,
                 ReplicaCount activation_scale, const Rates& rates);

}  // namespace capstan::decide::scale::aibrix
