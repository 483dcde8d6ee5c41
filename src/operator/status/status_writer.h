#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "kube/events.h"
#include "kube/request.h"
#include "kube/wall_time.h"
#include "operator/status/report.h"

namespace capstan::op {

/// Decides when a scaler's status is written, and makes Events of changed recommendations and of roll-backs. A change
/// of the state or of the decision is written as soon as the last write is `kMinInterval` ago. If only ages, messages,
/// ledgers and times have changed, they are written when the last write is `kRefresh` ago. It builds requests, but does
/// not send them.
class StatusWriter {
 public:
  static constexpr Duration kMinInterval = std::chrono::seconds(2);
  static constexpr Duration kRefresh = std::chrono::minutes(1);

  struct Write {
    std::string uid;  ///< UID of the scaler, to pass to `answered` with the outcome
    kube::ApiRequest request;
  };
  struct Output {
    std::vector<Write> writes;
    std::vector<kube::EventNote> notes;
  };

  /// Returns the statuses and Events to write now.
  Output update(const std::vector<ScalerReport>& reports, const ClusterView& view, Instant now, kube::WallTime wall);
  /// Notes the answer to a write. A status that was not written is written again.
  void answered(const std::string& uid, bool written);

  std::uint64_t writes() const { return writes_; }

 private:
  struct ScalerState {
    std::string written;  // status without ages and messages, as last sent; empty: write again
    Instant written_at{};
    bool in_flight = false;
    InferenceScaler::LastDecision decision;
    bool rolled_back = false;
    bool seen = false;
  };

  std::optional<kube::EventNote> roll_back(const ScalerReport& report, ScalerState& state) const;
  std::optional<kube::EventNote> decide(const ScalerReport& report, ScalerState& state, kube::WallTime wall) const;

  std::map<std::string, ScalerState> scaler_states_;  // scalers by UID
  std::uint64_t writes_ = 0;
};

/// Returns the status in the form of the schema.
/// @param exact  includes ages, messages and times, which change all the time
std::string status_json(const ScalerReport& report, const InferenceScaler& scaler,
                        const InferenceScaler::LastDecision& decision, kube::WallTime wall, bool exact);

}  // namespace capstan::op
