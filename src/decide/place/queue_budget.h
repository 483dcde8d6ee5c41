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

/// How many GPUs more each queue is to hold, for one gang. What is in no queue is not in it.
using QueueAsk = std::map<QueueId, MilliGpu>;

/// What queues hold and may hold, while gangs are placed one after the other. A queue counts for those above it too.
class QueueBudget {
 public:
  QueueBudget(const model::Snapshot& snapshot, const Index& index);

  /// What these pods ask for: of those that have no node, and were not placed here before.
  QueueAsk ask_of(std::span<const PodId> pods) const;

  /// Returns why so much more may not be placed now, with the queue that is full: one that asks, or one above it.
  /// Nothing if it may be placed.
  std::optional<model::Reason> refuses(const QueueAsk& ask) const;
  /// The same with all that was promised counted: whether it is any use to wait for room, and to buy it.
  std::optional<model::Reason> refuses_promise(const QueueAsk& ask) const;

  /// These pods hold what they ask for from now on.
  void place(std::span<const PodId> pods);
  /// So much will be held once there is room.
  void promise(const QueueAsk& ask);

 private:
  struct Row {
    MilliGpu held;
    MilliGpu promised;
  };
  std::optional<model::Reason> refuses(const QueueAsk& ask, bool promised) const;
  /// Visits each queue that asks, and those above it, with what it asks for.
  template <typename Visit>
  void each(const QueueAsk& ask, Visit visit) const;

  const model::Snapshot& snapshot_;
  const model::Catalog& catalog_;
  std::vector<Row> rows_;  // by queue
  std::set<PodId> placed_;
};

}  // namespace capstan::decide::place
