#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "control/controller.h"
#include "kube/events.h"
#include "kube/request.h"
#include "kube/wall_time.h"
#include "operator/act/kube_world.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {

/// The reason why a gang is pending or, in Shadow, the nodes on which Capstan would place it. The gang's pods and an
/// Event on its first pending pod show the verdict.
struct GangVerdict {
  std::string uid;  ///< UID of its first pending pod
  std::string
      reason;  ///< code in CamelCase: "Shortfall", "FleetGpuLimit"; "Unschedulable" if another provisioner has to act
  /// The nodes on which Capstan would place the gang, a fault of its pods, or three lines of `explain`, joined.
  std::string message;
  bool would_place = false;            ///< there is room, and its scheduler has not bound it
  std::vector<const kube::Pod*> pods;  ///< pending pods in their order; owned by the view
};

/// Returns a verdict for every gang that the last decision left pending and, in Shadow, for every gang that Capstan
/// would bind now. In Shadow, a gang has no verdict at first, so that its own scheduler can bind it. A gang whose pods
/// are still being created has none either. If the nodes layer states a reason, the verdict has this reason instead of
/// that of placement. If the nodes layer is Off, the reason of a gang that needs nodes is "Unschedulable", on which
/// another node provisioner acts. More nodes do not help a gang that lacks pods, waits for the limit of a queue, has
/// gated pods or has a rule that Capstan does not support, so it keeps its own reason.
std::vector<GangVerdict> gang_verdicts(const ClusterView& view, const KubeWorld& world,
                                       const control::Controller& controller);

/// Publishes a verdict when it begins, when its reason changes and when its gang has more pending pods. It does so with
/// an Event and, if placement is Active, with the condition PodScheduled of the first 64 pending pods. It builds
/// requests, but does not send them.
class GangVerdictWriter {
 public:
  struct Output {
    std::vector<kube::ApiRequest> writes;
    std::vector<kube::EventNote> notes;
  };
  Output update(const std::vector<GangVerdict>& verdicts, Mode placement, kube::WallTime wall);

 private:
  struct Published {
    std::string reason;
    std::size_t pods = 0;  ///< number of pending pods at the last update
  };
  std::map<std::string, Published> published_;  ///< published verdicts by UID of the first pending pod
};

}  // namespace capstan::op
