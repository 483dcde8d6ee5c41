#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "kube/request.h"
#include "kube/wall_time.h"
#include "model/snapshot.h"
#include "operator/status/status_gate.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {

/// What the status of a Queue tells; queues below it are counted.
struct QueueReport {
  std::string name;
  MilliGpu held;     ///< by pods that have a node
  MilliGpu waiting;  ///< asked for by pods that wait for one, of gangs that Capstan places and that are there whole
  bool closed = false;
  friend bool operator==(const QueueReport&, const QueueReport&) = default;
};

/// Of all queues of the catalog, in its order.
std::vector<QueueReport> queue_reports(const model::Snapshot& snapshot);

/// The status as the schema has it. What is not whole GPUs counts as the next whole one.
std::string queue_status_json(const QueueReport& report, const Queue& queue, kube::WallTime wall);

/// Decides when the status of our Queues is written. It makes requests and sends none.
class QueueStatusWriter {
 public:
  struct Write {
    std::string uid;  ///< of the queue: its answer goes to `answered`
    kube::ApiRequest request;
  };
  std::vector<Write> look(const model::Snapshot& snapshot, const kube::StoreSnapshot<Queue>& queues, Instant now,
                          kube::WallTime wall);
  void answered(const std::string& uid, bool written) { gate_.answered(uid, written); }
  /// Somebody else may have written since.
  void forget() { gate_ = {}; }

 private:
  StatusGate<QueueReport> gate_;
};

}  // namespace capstan::op
