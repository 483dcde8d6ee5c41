#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "kube/device_views.h"
#include "kube/pod_view.h"
#include "kube/store.h"

namespace capstan::op {

/// An object that holds GPUs of a node and is not a pod with a row.
struct OtherHolder {
  std::string kind;  ///< ResourceClaim or Pod
  const kube::Meta* meta = nullptr;
  std::string node;
  std::optional<MilliGpu> gpus;  ///< none: it may hold any GPU of the node that no other object holds
};

/// The GPUs that ResourceSlices describe and that ResourceClaims hold (dynamic resource allocation), by node. Objects
/// are set one by one. `settle` computes the nodes again on which these objects have, or had, devices. It reads no
/// other objects than those of these nodes.
///
/// A GPU of a claim counts once and as a whole, however many claims share it or hold a MIG device of it. Drivers whose
/// names begin with "gpu." offer GPUs, such as gpu.nvidia.com. The objects must live until they are replaced.
class ClaimedGpus {
 public:
  using Row = kube::RowId;

  /// The known GPUs of a node: all GPUs in ResourceSlices of this node, and the GPUs in other slices that claims hold
  /// on this node.
  struct NodeGpus {
    GpuCount gpus = 0;
    std::string product;  ///< product of its GPUs, as a node label states it: "NVIDIA-H100-80GB-HBM3"
    friend bool operator==(const NodeGpus&, const NodeGpus&) = default;
  };

  // Null empties the row.
  void set_slice(Row row, const kube::ResourceSlice* slice);
  void set_claim(Row row, const kube::ResourceClaim* claim);
  void set_pod(Row row, const kube::Pod* before, const kube::Pod* after);
  void set_node(const std::string& name, bool exists);

  struct Changes {
    std::set<std::string> described;  ///< nodes of which the number or the product of the described GPUs has changed
    std::set<Row> pods;               ///< pods whose claims hold other GPUs, or GPUs with other numbers
    std::set<std::string> holders;    ///< nodes on which the other holders may have changed
  };
  /// Computes the nodes whose objects were set since the last call.
  Changes settle();

  const NodeGpus& on_node(std::string_view node) const;
  /// Returns the GPUs that the claims of a pod hold. Claims for a request of an extended resource are left out, because
  /// the request counts.
  MilliGpu held_by(std::string_view pod_uid) const;
  /// Returns the numbers of the GPUs that the claims of a pod hold, ascending. The GPUs of each node are numbered in
  /// the order of their names.
  std::vector<std::uint16_t> devices_of(std::string_view pod_uid) const;
  /// Returns the claims that hold GPUs of a node and that no existing pod uses, by namespace and name. Claims whose
  /// GPUs are unknown are among them even if a pod uses them, except claims for a request of an extended resource.
  const std::vector<OtherHolder>& others_on(std::string_view node) const;
  const std::set<std::string, std::less<>>& nodes_with_others() const { return nodes_with_others_; }

 private:
  using PoolKey = std::pair<std::string, std::string>;  // driver, pool
  struct Place {
    std::string node;
    std::optional<std::string> gpu;  ///< none: unknown
  };
  struct Pool {
    std::map<Row, const kube::ResourceSlice*> slices;
    std::int64_t newest = 0;              ///< highest generation; other slices do not count
    std::map<std::string, Place> places;  ///< places by device
  };
  struct Claim {
    const kube::ResourceClaim* object = nullptr;
    std::set<std::string> nodes;  ///< nodes of its devices
  };
  /// The GPUs of one node that the claims of one pod hold.
  struct PodPart {
    MilliGpu gpus;
    std::vector<std::uint16_t> devices;
    friend bool operator==(const PodPart&, const PodPart&) = default;
  };
  struct Node {
    std::set<Row> slices;  ///< slices that describe devices of this node only
    std::set<Row> claims;  ///< claims with devices of this node
    NodeGpus described;
    std::set<std::string> users;  ///< UIDs of the pods that hold GPUs here through claims
    std::vector<OtherHolder> others;
  };
  class NodePass;

  void read_pool(Pool& pool);
  void locate(Row row);
  const Place* find(const kube::ResourceClaim::Grant& grant) const;
  std::string node_of(const kube::ResourceClaim& claim, const kube::ResourceClaim::Grant& grant) const;
  const std::string* user_of(const kube::ResourceClaim& claim) const;
  void read_node(const std::string& name, Changes& changes);

  std::map<Row, const kube::ResourceSlice*> slices_;
  std::map<PoolKey, Pool> pools_;
  std::map<Row, Claim> claims_;
  std::map<std::string, std::set<Row>, std::less<>> claims_by_pool_;  ///< claims by the name of a pool of their devices
  std::map<std::string, std::set<Row>, std::less<>> claims_by_user_;  ///< claims by UID of a pod that may use them
  std::unordered_multimap<std::string, Row> pods_;                    ///< pods that have not ended, by UID
  std::unordered_set<std::string> node_names_;                        ///< names of all nodes
  std::map<std::string, Node, std::less<>> nodes_;                    ///< nodes with slices or claims
  std::map<std::string, std::map<std::string, PodPart>, std::less<>> parts_;  ///< parts by UID of the pod and node
  std::set<std::string, std::less<>> nodes_with_others_;

  // Objects that were set since the last call of `settle`.
  std::set<PoolKey> touched_pools_;
  std::set<Row> touched_claims_;
  std::set<std::string> touched_users_;
  std::set<std::string> touched_nodes_;
};

}  // namespace capstan::op
