#pragma once

#include <optional>
#include <vector>

#include "decide/index.h"
#include "model/catalog.h"
#include "model/reason.h"

namespace capstan::decide::place {

/// What queues hold and may hold, while gangs are placed one after the other. A queue counts for those above it too.
class QueueBudget {
 public:
  /// @param held  by queue, what its own pods hold
  QueueBudget(const model::Catalog& catalog, const std::map<QueueId, MilliGpu>& held);

  /// Why so much more may not be placed now; nothing: it may. No queue refuses nothing.
  std::optional<model::Reason> refuses(QueueId queue, MilliGpu more) const;
  /// The same with all that was promised counted: whether it is any use to wait for room, and to buy it.
  std::optional<model::Reason> refuses_promise(QueueId queue, MilliGpu more) const;

  void place(QueueId queue, MilliGpu gpus);    ///< it is held from now on
  void promise(QueueId queue, MilliGpu gpus);  ///< it will be held once there is room

 private:
  struct Row {
    MilliGpu held;
    MilliGpu promised;
  };
  template <typename Look>
  std::optional<model::Reason> look_up(QueueId queue, MilliGpu more, Look counted) const;

  const model::Catalog& catalog_;
  std::vector<Row> rows_;  // by queue
};

}  // namespace capstan::decide::place
