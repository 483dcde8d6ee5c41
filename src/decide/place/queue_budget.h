#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "decide/fleet_nouns.h"
#include "model/catalog.h"
#include "model/reason.h"
#include "model/snapshot.h"

namespace capstan::decide::place {

/// GPUs that the pods of a gang would add to each queue. Pods without a queue are left out.
using QueueDemand = std::map<QueueId, MilliGpu>;

/// The GPUs that queues hold and may hold while gangs are placed one after the other. GPUs of a queue also count for
/// the queues above it.
class QueueBudget {
 public:
  /// Starts with the GPUs of the snapshot's pods, plus those of assumed pods: bindings that no snapshot shows yet.
  QueueBudget(const model::Snapshot& snapshot, const Index& index);

  /// Returns the GPUs that these pods would add to their queues. Pods that have a node, are assumed, or were placed
  /// with place() add nothing.
  QueueDemand demand_of(std::span<const PodId> pods) const;

  /// Returns the reason why the GPUs may not be placed now. It names the queue that is full or has a fault: a queue of
  /// `ask`, or one of its parents. Returns no value if the GPUs may be placed.
  std::optional<model::Reason> refusal_of(const QueueDemand& ask) const;
  /// Like refusal_of(), but counts promised GPUs as held. If this function refuses, buying nodes for the GPUs would not
  /// help.
  std::optional<model::Reason> refusal_of_promise(const QueueDemand& ask) const;

  /// Counts the GPUs that demand_of() returns for these pods as held.
  void place(std::span<const PodId> pods);
  /// Reserves GPUs that will be held once there is room.
  void promise(const QueueDemand& ask);

 private:
  struct Row {
    MilliGpu held;
    MilliGpu promised;
  };
  std::optional<model::Reason> refusal_of(const QueueDemand& ask, bool promised) const;
  /// Calls `visit(queue, gpus)` for each queue in `ask` and for all queues above it.
  template <typename Visit>
  void visit_queues(const QueueDemand& ask, Visit visit) const;

  const model::Snapshot& snapshot_;
  const model::Catalog& catalog_;
  const AssumedRooms& assumed_;
  std::vector<Row> rows_;  ///< one row for each queue
  std::set<PodId> placed_;
};

}  // namespace capstan::decide::place
