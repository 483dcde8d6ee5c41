#pragma once

#include <optional>
#include <vector>

#include "base/quantity.h"
#include "model/snapshot.h"

namespace capstan::sim {

/// The GPUs that the pods of each queue hold, at one moment. The GPUs of a queue also count for all queues above it.
class QueueRoom {
 public:
  /// Starts with the pods that have a node.
  /// @param rows  its catalog must outlive this object
  explicit QueueRoom(const model::Snapshot& rows);

  /// Returns the GPUs that the queue may still hold by its own limit and the limits of all queues above it. The result
  /// is negative if a limit is exceeded. Returns no value if there is no limit.
  std::optional<MilliGpu> left(model::QueueId queue) const;
  /// Adds GPUs to the queue and all queues above it. No effect without a queue.
  void hold(model::QueueId queue, MilliGpu gpus);

  const std::vector<MilliGpu>& held() const { return held_; }  ///< by queue of the catalog

 private:
  const std::vector<model::Queue>& queues_;
  std::vector<MilliGpu> held_;
};

}  // namespace capstan::sim
