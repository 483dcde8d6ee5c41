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

/// The content of the status of a Queue. Its GPUs include those of the queues below it.
struct QueueReport {
  std::string name;
  MilliGpu held;      ///< GPUs of pods with a node
  MilliGpu waiting;   ///< GPUs that pending pods of the snapshot request, whichever scheduler places them
  std::string fault;  ///< defect because of which no pod of the queue is placed; empty: none
  friend bool operator==(const QueueReport&, const QueueReport&) = default;
};

/// Returns the status of all queues, in the order of the catalog.
std::vector<QueueReport> queue_reports(const model::Snapshot& snapshot);

/// Returns the status in the form of the schema. Parts of a GPU are rounded up to a whole one.
std::string queue_status_json(const QueueReport& report, const Queue& queue, kube::WallTime wall);

/// Decides when the status of each Capstan Queue is written. It builds requests, but does not send them.
class QueueStatusWriter {
 public:
  struct Write {
    std::string uid;  ///< UID of the queue, to pass to `answered` with the outcome
    kube::ApiRequest request;
  };
  std::vector<Write> update(const model::Snapshot& snapshot, const kube::StoreSnapshot<Queue>& queues, Instant now,
                            kube::WallTime wall);
  void answered(const std::string& uid, bool written) { gate_.answered(uid, written); }
  /// Forgets what was written, because another leader may have written since.
  void forget() { gate_ = {}; }

 private:
  StatusGate<QueueReport> gate_;
};

}  // namespace capstan::op
