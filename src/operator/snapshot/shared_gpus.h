#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "kube/pod_view.h"
#include "kube/store.h"

namespace capstan::op {

/// The GPUs that KAI divides among pods. Such a pod states its share in an annotation and requests no GPU. The
/// reservation pod of KAI requests the GPU from the device plugin. A label of both pods names the GPU, which KAI calls
/// a GPU group: https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/gpu-sharing/README.md
class SharedGpus {
 public:
  explicit SharedGpus(const kube::StoreSnapshot<kube::Pod>& pods);

  /// Returns the `requested` GPUs of a pod plus the shares that it holds or will hold, and 0 for the reservation pod of
  /// a divided GPU. If a pod states its share as an amount of memory, the share is not known, and the reservation pod
  /// holds the whole GPU.
  MilliGpu pod_gpus(const kube::Pod& pod, MilliGpu requested) const;
  /// Returns the numbers of the GPUs of which a pod holds shares, ascending. The divided GPUs of each node are numbered
  /// from 0.
  std::vector<std::uint16_t> devices_of(const kube::Pod& pod) const;
  /// Returns true if a GPU of the node is divided.
  bool any_on(std::string_view node) const { return divided_.contains(node); }

  /// Returns true if a change or the deletion of this pod could change what other pods hold.
  static bool depends_on(const kube::Pod& pod);

 private:
  struct Group {
    std::string node{};  ///< node of the reservation pod; empty: there is none
    bool has_share = false;
    bool has_unknown_share = false;
    std::uint16_t number = 0;
    bool is_divided() const { return !node.empty() && has_share && !has_unknown_share; }
  };
  const Group* divided(std::string_view group) const;

  std::map<std::string, Group, std::less<>> groups_;
  std::map<std::string, std::uint16_t, std::less<>> divided_;  ///< number of divided GPUs by node
};

}  // namespace capstan::op
