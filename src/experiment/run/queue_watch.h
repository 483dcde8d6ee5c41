#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "model/snapshot.h"

namespace capstan::experiment {

/// The state of one queue, with all queues below it, at the end of a minute.
struct QueueMinute {
  MilliGpu held;
  MilliGpu waiting;
  std::int64_t jobs_waiting = 0;
};

/// The GPUs and jobs of one queue and of all queues below it.
struct QueueFigures {
  std::string name;
  std::string parent;               ///< empty: none
  std::optional<MilliGpu> limit{};  ///< none: no limit
  MilliGpu held_peak;               ///< most GPUs that its pods held at the end of a minute
  MilliGpu held_minutes;            ///< sum of the held GPUs at the ends of all minutes
  MilliGpu waiting_peak;            ///< most GPUs for which its pods waited at the end of a minute
  MilliGpu waiting_minutes;         ///< sum of these GPUs at the ends of all minutes
  /// Most batch jobs that waited for GPUs at the end of a minute. A job waits until all its pods have a node.
  std::int64_t jobs_waiting_peak = 0;
  std::int64_t jobs_waiting_minutes = 0;  ///< sum of the waiting jobs at the ends of all minutes
  GpuNanoseconds gpu_ns = 0;              ///< GPU time that its pods had
  std::int64_t micro_usd = 0;             ///< price of that GPU time
  std::vector<QueueMinute> minutes{};     ///< empty unless the run keeps its history
};

/// Returns the batch jobs of each queue of the catalog that wait for GPUs, without the jobs of the queues below it.
std::vector<std::int64_t> waiting_jobs(const model::Snapshot& snapshot);

/// Measures the queues of a run at the end of each minute.
class QueueWatch {
 public:
  /// @param keep_minutes  true: the figures contain every minute
  QueueWatch(const model::Catalog& catalog, bool keep_minutes);

  void minute(const model::Snapshot& truth);
  /// Adds GPU time and its price to a queue and all queues above it. No effect without a queue.
  void charge(model::QueueId queue, GpuNanoseconds gpu_ns, std::int64_t micro_usd);
  std::vector<QueueFigures> figures() const { return figures_; }

 private:
  /// Calls `visit(position)` for the queue and all queues above it.
  template <typename Visit>
  void visit_with_parents(model::QueueId queue, Visit visit) const;

  const model::Catalog& catalog_;
  bool keep_minutes_;
  std::vector<QueueFigures> figures_;  ///< by queue of the catalog
};

}  // namespace capstan::experiment
