#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "actuate/change.h"
#include "kube/pod_view.h"
#include "kube/wall_clock.h"
#include "kube/workload_views.h"

namespace capstan::actuate {

/// Readiness gate and pod condition: True puts the pod into the router, False takes it out.
inline constexpr std::string_view kServingGate = "capstan.dev/serving";
/// Annotation with the value of the removed router label, which is needed to put the label back.
inline constexpr std::string_view kRouterLabelValue = "capstan.dev/router-label-value";

/// The way to take a replica out of the router before it is removed.
struct DrainMeans {
  enum class Kind : std::uint8_t {
    none,            ///< no way is known: removal would abort running requests
    readiness_gate,  ///< `kServingGate` becomes False
    router_label,    ///< the label by which the router selects the pod is removed
    engine,          ///< the engine finishes its requests by itself after SIGTERM
  };
  Kind kind = Kind::none;
  std::string label;  ///< key of the router label

  /// Returns true if Capstan takes the replica out of the router and waits for its requests.
  bool drains_by_router() const { return kind == Kind::readiness_gate || kind == Kind::router_label; }
  friend bool operator==(const DrainMeans&, const DrainMeans&) = default;
};

/// Returns the drain means of a workload, the first of these that it has:
/// 1. the readiness gate in its pod template;
/// 2. the label that its annotation `capstan.dev/router-label` names, unless the workload's selector uses that label;
/// 3. the engine, if it has the annotation `capstan.dev/drains-itself: "true"`.
DrainMeans drain_means_of(const kube::Workload& workload);

/// Returns true if Capstan has taken the pod out of the router.
bool is_out_of_router(const kube::Pod& pod, const DrainMeans& means);

/// Takes a pod out of the router, or puts it back.
Change set_serving(const Ref& pod, const DrainMeans& means, bool serving, kube::WallTime now);

/// Puts a new pod into the router by setting its gate. A gate that was set in the meantime does not change.
Change open_gate(const Ref& pod, kube::WallTime now);

/// Marks a pod so that its ReplicaSet deletes it first, or removes the mark.
Change mark_for_deletion(const Ref& pod, bool marked);

}  // namespace capstan::actuate
