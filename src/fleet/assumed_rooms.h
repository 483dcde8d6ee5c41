#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "fleet/refusals.h"
#include "fleet/rooms.h"
#include "model/eligibility.h"

namespace capstan::fleet {

/// A pod whose binding was decided, but which no snapshot shows on its node yet.
struct AssumedPod {
  PodId pod;
  NodeId node;
  MilliGpu gpus;
  model::PodClassId pod_class;
  QueueId queue;        ///< queue charged for it; none: no queue
  MilliGpu queue_gpus;  ///< GPUs by which the queue is charged
  friend bool operator==(const AssumedPod&, const AssumedPod&) = default;
};

/// The free room of the nodes of an index after the assumed pods have taken theirs. Nodes that are being given back are
/// left out. Placement keeps this object from cycle to cycle, so that the cost of a cycle depends on what changed since
/// the last one.
///
/// It is a cache: the result of update() depends only on its arguments and not on the earlier content. Therefore it is
/// never saved, a new cache leads to the same decisions, and two caches always compare as equal.
class AssumedRooms {
 public:
  /// A node that changed, and its domains. A node that moved to other domains has two entries: one with the old domains
  /// and one with the new domains.
  struct Change {
    NodeId node;
    model::DomainPath domains;
  };

  /// Notes that the node changed in the rooms of the index.
  void mark_changed(NodeId id);
  /// Notes that the nodes on which pods may run, or the resources for which pods ask, have changed
  /// (model::CatalogChange::eligibility). This changes the room that assumed pods take, and drops every refusal.
  void mark_eligibility_changed();
  /// Makes these rooms equal to `base` less the room of the assumed pods. An assumed pod takes room only if its node
  /// has enough free GPUs. Room that take() took is free again.
  /// @param base         rooms of the index; since the last call, only nodes given to mark_changed() may have changed
  /// @param eligibility  must be equal to that of the last call, unless mark_eligibility_changed() was called
  /// @param pods         assumed pods, ascending by pod id
  /// @param leaving      nodes to leave out
  void update(const Rooms& base, const model::Eligibility& eligibility, std::vector<AssumedPod> pods,
              std::span<const NodeId> leaving);
  /// Takes room until the next update.
  void take(NodeId node, MilliGpu gpus, const model::Resources& others);

  const Rooms& rooms() const { return rooms_; }
  /// Returns the rooms for a `Trial`, which restores them.
  Rooms& rooms_for_trial() { return rooms_; }
  const std::map<NodeId, std::vector<AssumedPod>>& pods_by_node() const { return by_node_; }
  const std::map<QueueId, MilliGpu>& gpus_by_queue() const { return by_queue_; }
  bool has(PodId pod) const;  ///< returns true if the pod is assumed

  /// Returns a number that grows with every change of the rooms.
  std::uint64_t version() const { return first_change_ + changes_.size(); }
  /// Returns the changes since a version, oldest first; no value if some of them are no longer stored.
  std::optional<std::span<const Change>> changes_since(std::uint64_t version) const;
  /// Returns a number that grows when a node is added or removed, and when anything about a node changes except the
  /// GPUs and resources that it has free.
  std::uint64_t layout() const { return layout_; }

  Refusals refusals;  ///< gangs for which these rooms had no place

  friend bool operator==(const AssumedRooms&, const AssumedRooms&) { return true; }

 private:
  void follow_leaving(std::span<const NodeId> leaving);
  void follow_pods(std::vector<AssumedPod> pods);
  void add(const AssumedPod& pod);
  void remove(const AssumedPod& pod);
  void refresh(NodeId id, const NodeRoom* base, const model::Eligibility& eligibility);
  void set(NodeId id, const NodeRoom* next);
  void add_change(NodeId id, const model::DomainPath& domains);

  bool is_built_ = false;
  Rooms rooms_;
  std::vector<AssumedPod> pods_;  ///< ascending by pod id
  std::vector<NodeId> leaving_;   ///< ascending
  std::map<NodeId, std::vector<AssumedPod>> by_node_;
  std::map<QueueId, MilliGpu> by_queue_;
  std::set<NodeId> stale_;       ///< nodes that the next update derives again
  std::vector<Change> changes_;  ///< the latest changes, oldest first
  std::uint64_t first_change_ = 0;
  std::uint64_t layout_ = 0;
};

}  // namespace capstan::fleet
