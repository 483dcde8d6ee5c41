#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "model/snapshot.h"

namespace capstan::experiment {

/// The GPUs of one queue and of all queues below it.
struct QueueFigures {
  std::string name;
  std::string parent;               ///< empty: none
  std::optional<MilliGpu> limit{};  ///< none: no limit
  MilliGpu held_peak;               ///< most GPUs that its pods held at the end of a minute
  MilliGpu held_minutes;            ///< sum of the held GPUs at the ends of all minutes
  MilliGpu waiting_peak;            ///< most GPUs for which its pods waited at the end of a minute
  GpuNanoseconds gpu_ns = 0;        ///< GPU time that its pods had
  std::int64_t micro_usd = 0;       ///< price of that GPU time
};

/// Measures the queues of a run at the end of each minute.
class QueueWatch {
 public:
  explicit QueueWatch(const model::Catalog& catalog);

  void minute(const model::Snapshot& truth);
  /// Adds GPU time and its price to a queue and all queues above it. No effect without a queue.
  void charge(model::QueueId queue, GpuNanoseconds gpu_ns, std::int64_t micro_usd);
  std::vector<QueueFigures> figures() const { return figures_; }

 private:
  /// Calls `visit(position)` for the queue and all queues above it.
  template <typename Visit>
  void each_above(model::QueueId queue, Visit visit) const;

  const model::Catalog& catalog_;
  std::vector<QueueFigures> figures_;  ///< by queue of the catalog
};

}  // namespace capstan::experiment
