#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "large_cluster/layout.h"
#include "operator/view/cluster_view.h"

namespace capstan::bench {

/// The time of the first snapshot of a KubeCluster. All objects are older, as in a cluster with synchronized clocks.
inline constexpr Instant kFirstSnapshotAt{std::chrono::seconds(1'800'000'000)};

/// The cluster as Kubernetes objects, as the controller has them after its first list: nodes, pods, one
/// LeaderWorkerSet and one InferenceScaler for each service, and one FleetPolicy. Every gang is a group of a
/// LeaderWorkerSet. There are no NodePools and no queues.
class KubeCluster {
 public:
  explicit KubeCluster(const Layout& layout);
  ~KubeCluster();
  KubeCluster(const KubeCluster&) = delete;
  KubeCluster& operator=(const KubeCluster&) = delete;

  op::ClusterView view() const;

  /// Returns readings of the leader of every bound gang.
  const op::Readings& readings() const { return readings_; }

  /// Makes the pods of `pods` bound gangs of one pod unready; the next call makes them ready again.
  void change_pods(std::uint32_t pods);

  /// Creates gangs with `pods` pods in total, which wait for nodes. They belong to 40 services in turn.
  void create_pods(std::uint32_t pods);
  /// Binds created gangs with `pods` pods in total, the oldest pending ones first. All pods of a gang get
  /// the same node.
  void bind_created_gangs(std::uint32_t pods);
  /// Deletes created gangs with `pods` pods in total, the oldest first.
  void delete_created_gangs(std::uint32_t pods);

  /// Creates pods of another scheduler. Each holds a GPU on a different node.
  void create_foreign_pods(std::uint32_t pods);
  void delete_foreign_pods();

  /// Adds a node without pods after the last one. The new node exists until `remove_node()`.
  void add_node();
  void remove_node();

 private:
  struct Stores;
  void add_services();
  void add_nodes();
  void add_pods();
  void set_node(std::uint32_t node);
  void set_pod(const Gang& gang, std::uint32_t index, bool is_ready);

  const Layout& layout_;
  std::unique_ptr<Stores> stores_;
  op::Readings readings_;
  std::uint64_t version_ = 0;
  bool changed_pods_are_ready_ = true;
  std::deque<Gang> created_;                 ///< created gangs that exist, the oldest first
  std::uint32_t created_count_ = 0;          ///< number of gangs that were created so far
  std::vector<std::string> foreign_pods_{};  ///< names of the pods of another scheduler
};

}  // namespace capstan::bench
