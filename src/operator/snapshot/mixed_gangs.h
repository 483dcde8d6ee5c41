#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "kube/pod_view.h"
#include "kube/store.h"
#include "kube/workload_views.h"
#include "operator/view/scaler_view.h"

namespace capstan::op {

/// The gangs that Capstan places and in which some pods need GPUs and others do not, such as a leader without GPUs and
/// its workers. While there is one, nodes without GPUs have rows in the snapshot, because the pods without GPUs may
/// need them.
class MixedGangs {
 public:
  /// Counts a pod that has not ended. A pod that Capstan does not place, or that belongs to no gang, is not counted.
  void add(const kube::Pod& pod, const FleetPolicy& fleet) { count(pod, fleet, 1); }
  /// Stops counting a pod that was added.
  void remove(const kube::Pod& pod, const FleetPolicy& fleet) { count(pod, fleet, -1); }
  /// Finds out whether the template of a LeaderWorkerSet would make such gangs.
  void read_templates(const kube::StoreSnapshot<kube::Workload>& leader_worker_sets, const FleetPolicy& fleet);

  bool any() const { return has_template_ || mixed_ > 0; }

 private:
  /// The pods of a gang, counted.
  struct Pods {
    std::int64_t with_gpus = 0;
    std::int64_t without = 0;
    bool is_mixed() const { return with_gpus > 0 && without > 0; }
  };
  void count(const kube::Pod& pod, const FleetPolicy& fleet, std::int64_t sign);

  std::unordered_map<std::string, Pods> gangs_;  ///< by namespace and gang
  std::size_t mixed_ = 0;                        ///< gangs with pods of both kinds
  bool has_template_ = false;
};

}  // namespace capstan::op
