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
#include "operator/report.h"

namespace capstan::op {

/// Decides when a scaler's status is written, and tells of recommendations that changed. What people look at is written
/// soon after it changes; ages, accounts and times alone about once a minute. It makes requests and sends none.
class StatusWriter {
 public:
  static constexpr Duration kSoon = std::chrono::seconds(2);
  static constexpr Duration kRefresh = std::chrono::minutes(1);

  struct Write {
    std::string uid;  ///< of the scaler: its answer goes to `answered`
    kube::ApiRequest request;
  };
  struct Out {
    std::vector<Write> writes;
    std::vector<kube::EventNote> notes;
  };

  /// What is to be written now, of all scalers that exist.
  Out look(const std::vector<ScalerReport>& reports, const ClusterView& view, Instant now, kube::WallTime wall);
  /// One that did not arrive is written again.
  void answered(const std::string& uid, bool written);

  std::uint64_t writes() const { return writes_; }

 private:
  struct Known {
    std::string written;  // what people look at, as last sent; empty: write again
    Instant written_at{};
    bool in_flight = false;
    InferenceScaler::LastDecision decision;
    bool rolled_back = false;
    bool seen = false;
  };

  std::optional<kube::EventNote> roll_back(const ScalerReport& report, Known& known) const;
  std::optional<kube::EventNote> decide(const ScalerReport& report, Known& known, kube::WallTime wall) const;

  std::map<std::string, Known> known_;  // by uid
  std::uint64_t writes_ = 0;
};

/// The status as the schema has it. With `exact`, what changes all the time is in it too.
std::string status_json(const ScalerReport& report, const InferenceScaler& scaler,
                        const InferenceScaler::LastDecision& decision, kube::WallTime wall, bool exact);

}  // namespace capstan::op
