#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "decide/index.h"
#include "model/catalog.h"
#include "model/reason.h"
#include "model/snapshot.h"

namespace capstan::decide::place {

/// GPUs that the pods of a gang would add to each queue; without the pods that are in no queue.
using QueueAsk = std::map<QueueId, MilliGpu>;

/// The GPUs that queues hold and may hold while gangs are placed one after the other. A queue also counts for its
/// parents.
class QueueBudget {
 public:
  /// Assumed pods of the index hold their GPUs.
  QueueBudget(const model::Snapshot& snapshot, const Index& index);

  /// Returns the GPUs for which these pods ask: pods without a node that are not assumed and were not placed here.
  QueueAsk ask_of(std::span<const PodId> pods) const;

  /// Returns why the GPUs may not be placed now, with the queue that is full: a queue that asks, or one of its parents.
  /// Returns nothing if they may be placed.
  std::optional<model::Reason> refuses(const QueueAsk& ask) const;
  /// Returns the same with everything that was promised counted as held: whether it helps to buy room.
  std::optional<model::Reason> refuses_promise(const QueueAsk& ask) const;

  /// Makes these pods hold the GPUs for which they ask.
  void place(std::span<const PodId> pods);
  /// Reserves GPUs that will be held once there is room.
  void promise(const QueueAsk& ask);

 private:
  struct Row {
    MilliGpu held;
    MilliGpu promised;
  };
  std::optional<model::Reason> refuses(const QueueAsk& ask, bool promised) const;
  /// Calls `visit(queue, gpus)` for each queue that asks and for its parents.
  template <typename Visit>
  void each(const QueueAsk& ask, Visit visit) const;

  const model::Snapshot& snapshot_;
  const model::Catalog& catalog_;
  const AssumedRooms& assumed_;
  std::vector<Row> rows_;  ///< by queue
  std::set<PodId> placed_;
};

}  // namespace capstan::decide::place
