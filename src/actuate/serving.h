#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "actuate/change.h"
#include "kube/pod_view.h"
#include "kube/wall_clock.h"
#include "kube/workload_views.h"

namespace capstan::actuate {

/// The pod condition by which a pod with this readiness gate is in the router or out of it.
inline constexpr std::string_view kServingGate = "capstan.dev/serving";
/// On a pod that left the router by its label: the label's value, to be put back.
inline constexpr std::string_view kRouterLabelValue = "capstan.dev/router-label-value";

/// How a replica is taken out of the router before it is removed.
struct DrainMeans {
  enum class Kind : std::uint8_t {
    none,            ///< there is none: removing it would cut what runs
    readiness_gate,  ///< `kServingGate` goes False
    router_label,    ///< the label by which the router finds it is taken away
    engine,          ///< it drains by itself when it is told to stop
  };
  Kind kind = Kind::none;
  std::string label;  ///< of router_label: its key

  /// Whether Capstan takes it out of the router, and waits.
  bool waits() const { return kind == Kind::readiness_gate || kind == Kind::router_label; }
  friend bool operator==(const DrainMeans&, const DrainMeans&) = default;
};

/// What a workload says: the readiness gate in its pods' template; else the annotation `capstan.dev/router-label` with
/// the label's key, unless the workload finds its own pods by that label; else `capstan.dev/drains-itself: "true"`.
DrainMeans drain_means_of(const kube::Workload& workload);

/// Whether Capstan has taken the pod out of the router.
bool is_out_of_router(const kube::Pod& pod, const DrainMeans& means);

/// Takes a pod out of the router, or puts it back.
Change set_serving(const Ref& pod, const DrainMeans& means, bool serving, kube::WallTime now);

/// Lets a new pod into the router, whose gate nobody has set yet: one that was taken out meanwhile stays out.
Change let_in(const Ref& pod, kube::WallTime now);

/// Marks a pod as the first that its ReplicaSet should delete, or takes the mark away.
Change mark_for_deletion(const Ref& pod, bool marked);

}  // namespace capstan::actuate
