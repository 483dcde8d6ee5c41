#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "kube/request.h"
#include "kube/wall_time.h"
#include "model/snapshot.h"
#include "operator/status/status_gate.h"
#include "operator/view/scaler_view.h"

namespace capstan::op {

/// The content of the status of the FleetPolicy.
struct FleetReport {
  std::string leader;
  GpuCount gpus = 0;        ///< GPUs of the nodes of all pools and of open claims; the fleet limits apply to them
  MicroUsd price_per_hour;  ///< price of the same nodes; a node without a stated price counts as zero
  friend bool operator==(const FleetReport&, const FleetReport&) = default;
};

FleetReport fleet_report(const model::Snapshot& snapshot, std::string leader);

/// Returns the status in the form of the schema.
std::string fleet_status_json(const FleetReport& report, const FleetPolicy& policy, kube::WallTime wall);

/// Builds the requests that write the status, soon after a change. The caller sends them.
class FleetStatusWriter {
 public:
  /// Returns the request to write the status now, or nothing if no write is due or there is no FleetPolicy.
  std::optional<kube::ApiRequest> update(const FleetReport& report, const FleetPolicy& policy, Instant now,
                                         kube::WallTime wall);
  void answered(const std::string& uid, bool written) { gate_.answered(uid, written); }
  /// Forgets what was written, because another leader may have written since.
  void forget() { gate_ = {}; }

 private:
  StatusGate<FleetReport> gate_;
};

}  // namespace capstan::op
