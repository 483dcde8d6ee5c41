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

/// What the status of the FleetPolicy tells.
struct FleetReport {
  std::string leader;
  GpuCount gpus = 0;        ///< of the nodes of all pools, those on their way included: what the limits are about
  MicroUsd price_per_hour;  ///< of the same, as far as prices are stated
  friend bool operator==(const FleetReport&, const FleetReport&) = default;
};

FleetReport fleet_report(const model::Snapshot& snapshot, std::string leader);

/// The status as the schema has it.
std::string fleet_status_json(const FleetReport& report, const FleetPolicy& policy, kube::WallTime wall);

/// Decides when it is written: soon after it changes. It makes requests and sends none.
class FleetStatusWriter {
 public:
  /// What is to be written now; nothing where there is no policy to write it on.
  std::optional<kube::ApiRequest> look(const FleetReport& report, const FleetPolicy& policy, Instant now,
                                       kube::WallTime wall);
  void answered(const std::string& uid, bool written) { gate_.answered(uid, written); }
  /// Somebody else may have written since.
  void forget() { gate_ = {}; }

 private:
  StatusGate<FleetReport> gate_;
};

}  // namespace capstan::op
