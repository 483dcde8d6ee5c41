#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "control/controller.h"
#include "kube/events.h"
#include "kube/request.h"
#include "kube/wall_time.h"
#include "operator/cluster_view.h"
#include "operator/kube_world.h"

namespace capstan::op {

/// Why a gang waits, or in Shadow where it would go: what its pods, and an Event on the first of them, say.
struct GangVerdict {
  std::string uid;     ///< of its first pod
  std::string reason;  ///< a word for machines: "Shortfall", "FleetGpuLimit"; "Unschedulable" where it is handed off
  std::string message;
  bool would_place = false;            ///< there is room, and its scheduler has not bound it
  std::vector<const kube::Pod*> pods;  ///< that wait, the first one first; in the view
};

/// Of every gang that the last decision left waiting. What the nodes layer says of it comes last, and gives the reason.
/// With that layer Off the gang is handed off: whoever provides nodes then acts on pods that are Unschedulable.
/// In Shadow also of those that have waited for a while and that Capstan would bind now.
std::vector<GangVerdict> gang_verdicts(const ClusterView& view, const KubeWorld& world,
                                       const control::Controller& controller);

/// Tells of verdicts when they begin and when their reason changes: by an Event, and where placement is Active by the
/// condition PodScheduled of each pod. It makes requests and sends none.
class GangVerdictWriter {
 public:
  struct Out {
    std::vector<kube::ApiRequest> writes;
    std::vector<kube::EventNote> notes;
  };
  Out look(const std::vector<GangVerdict>& verdicts, Mode placement, kube::WallTime wall);

 private:
  std::map<std::string, std::string> told_;  // reason by the first pod's uid
};

}  // namespace capstan::op
