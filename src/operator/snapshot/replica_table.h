#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/time.h"
#include "kube/pod_view.h"
#include "kube/store.h"
#include "kube/workload_views.h"
#include "model/ids.h"
#include "operator/snapshot/replica_numbers.h"
#include "operator/snapshot/start_times.h"
#include "operator/view/pod_groups.h"

namespace capstan::op {

/// The pods of a cluster, sorted into the replicas of workloads, which are kept from pass to pass. A changed pod
/// touches its replicas, before and after the change, and a pass makes the rows of the touched replicas again.
///
/// A pod can belong to a replica of each target that selects it. The first target that makes a gang of it takes it. The
/// pods that no target takes are other pods: they form gangs without a service, or hold room on their nodes.
class ReplicaTable {
 public:
  using Key = std::uint32_t;  ///< replica of a target: number of the group of a LeaderWorkerSet, else row of the pod
  static constexpr std::uint32_t kNoTarget = 0xffff'ffff;

  struct Replica {
    std::vector<kube::RowId> members{};     ///< rows of its pods, ascending
    PodGroup group{};                       ///< its pods; none: it is gone
    model::GangId gang{};                   ///< gang of the replica; none: the replica has no row
    std::vector<kube::RowId> taken{};       ///< rows of the pods that its target has taken for the gang
    std::optional<std::uint32_t> number{};  ///< number of the gang within its service
    /// Classes of its pods by pod set, while they wait to be placed by Capstan.
    std::vector<model::PodClassId> pod_classes{};
    std::optional<Duration> start{};  ///< time from the binding of its last pod until it was ready
    bool is_starting = false;
    bool drains_first = false;    ///< Capstan took it out of the router, and its workload still asks for it
    bool serves = false;          ///< its first pod is scraped
    model::GpuKindId node_gpu{};  ///< GPU kind of the node of its first pod
  };

  /// A target of a scaler.
  struct Target {
    model::ServiceId service;
    kube::RowId scaler;
    std::size_t position = 0;                  ///< position in `targets_of`
    const kube::Workload* workload = nullptr;  ///< null: it does not exist
    bool has_gangs = false;                    ///< its replicas have gangs
    model::PodClassId pod_class{};             ///< class of the pods that its template would make
    model::PodClassId leader_class{};          ///< class of the leader, if its template asks for something else
    std::map<Key, Replica> replicas{};
    StartTimes starts{};                             ///< start times of its replicas
    std::set<Key> starting{};                        ///< replicas that start
    std::int64_t draining_first = 0;                 ///< number of replicas that drain first
    std::map<model::GpuKindId, std::size_t> gpus{};  ///< number of replicas by the GPU kind of their node
    ReplicaNumbers numbers{};
    bool has_double_numbers = false;          ///< the workload gave two replicas the same number
    std::vector<const kube::Pod*> scraped{};  ///< first pods of the replicas that serve
  };

  /// A gang among the other pods. Keys of one namespace are adjacent; its gangs that Capstan places come last.
  struct OtherGangKey {
    std::string ns;
    bool placed_here = false;
    std::string gang;  ///< empty: a gang of one pod
    kube::RowId row;   ///< row of the pod if `gang` is empty, else none
    friend auto operator<=>(const OtherGangKey&, const OtherGangKey&) = default;
  };

  struct Pod {
    struct Place {
      std::uint32_t target = 0;
      Key key = 0;
      friend auto operator<=>(const Place&, const Place&) = default;
    };
    const kube::Pod* pod = nullptr;  ///< null: the row is empty, or its pod has ended
    std::vector<Place> places{};     ///< its replicas, by target
    std::uint32_t taken_by = kNoTarget;
    std::optional<OtherGangKey> other_gang{};  ///< its gang among the other pods
    std::string node{};                        ///< node on which it takes room
  };

  /// Adds a target. Targets are added in the order in which they take pods. A target that is added after pods were set
  /// has no pods until `take_pods` is called.
  void add(Target target);
  /// Takes the pods away from a target. Its replicas have no members then.
  void release_pods(std::uint32_t target);
  /// Replaces a target that has no replicas.
  void replace(std::uint32_t at, Target target);
  /// Finds the pods that a target selects, by a search of all pods. Call it for a target that was added or replaced
  /// after pods were set.
  void take_pods(std::uint32_t target);
  /// Sets the pod of a row, or empties the row. Touches the replicas of the old pod and of the new one.
  /// @return the node on which the old pod took room, or an empty text
  std::string set_pod(kube::RowId row, const kube::Pod* pod, std::string node);

  /// Puts the pod of a row into a gang of the other pods, or into none.
  void set_other_gang(kube::RowId row, std::optional<OtherGangKey> key);

  std::vector<Target>& targets() { return targets_; }
  const std::vector<Target>& targets() const { return targets_; }
  std::map<OtherGangKey, Replica>& other_gangs() { return other_gangs_; }
  const std::map<OtherGangKey, Replica>& other_gangs() const { return other_gangs_; }
  Pod& pod(kube::RowId row) { return pods_[row.value]; }
  const Pod& pod(kube::RowId row) const { return pods_[row.value]; }
  std::vector<const kube::Pod*> pods_of(const Replica& replica) const;

  /// Marks a target as touched although none of its replicas is.
  void touch_target(std::uint32_t target) { touched_.try_emplace(target); }
  /// Touches the replicas of a pod in `first_target` and later targets, and its gang among the other pods.
  void touch_pod(kube::RowId row, std::uint32_t first_target = 0);
  bool any_touched() const { return !touched_.empty() || !touched_rows_.empty(); }
  /// Touches the pods of a KAI PodGroup.
  /// @param group  its namespace and name
  void touch_group(const std::string& group);
  /// Returns the first touched target and its touched replicas, which are then no longer touched; none at the end.
  std::optional<std::pair<std::uint32_t, std::set<Key>>> next_touched();
  /// Returns the rows of the pods that were set, touched, taken or released, and forgets them.
  std::set<kube::RowId> take_touched_rows() { return std::exchange(touched_rows_, {}); }

 private:
  /// A workload that selects pods.
  struct SelectingWorkload {
    std::uint32_t target = 0;
    bool is_set = false;        ///< a LeaderWorkerSet, which selects by its name
    kube::Selector selector{};  ///< selector of other workloads
  };
  std::optional<std::pair<std::string, SelectingWorkload>> selecting_workload(std::uint32_t target) const;
  static std::optional<Pod::Place> place_in(const SelectingWorkload& workload, kube::RowId row, const kube::Pod& pod);
  void set_group(kube::RowId row, const kube::Pod* before, const kube::Pod* after);
  std::vector<Pod::Place> places_of(kube::RowId row, const kube::Pod& pod) const;

  std::vector<Target> targets_;
  std::unordered_map<std::string, std::vector<SelectingWorkload>>
      selecting_;                                                    ///< by namespace and one label of the selector
  std::vector<Pod> pods_;                                            ///< pods by row
  std::unordered_map<std::string, std::set<kube::RowId>> by_group_;  ///< rows of pods by KAI PodGroup
  std::map<OtherGangKey, Replica> other_gangs_;
  std::map<std::uint32_t, std::set<Key>> touched_;  ///< touched replicas by target
  std::set<kube::RowId> touched_rows_;
};

/// Sets the fields of a replica that follow from the status of its pods. `serves` is set later, together with the
/// replica's gang.
void read_status(ReplicaTable::Replica& replica);
/// Returns true if the engine of the replica is scraped.
bool is_scraped(const PodGroup& group);

}  // namespace capstan::op
