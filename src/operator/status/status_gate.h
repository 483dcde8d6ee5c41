#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/time.h"

namespace capstan::op {

/// Decides when the status of an object is written: soon after its content or the generation of the object changes. At
/// most one write is in flight, and a failed write is repeated. `Report` is the content without times.
template <typename Report>
class StatusGate {
 public:
  static constexpr Duration kMinInterval = std::chrono::seconds(2);

  /// Returns whether a write is due. If so, a write counts as in flight until `answered`.
  bool begin_write(const std::string& uid, std::int64_t generation, const Report& report, Instant now) {
    const auto [at, is_new] = rows_.try_emplace(uid);
    Row& row = at->second;
    const bool changed = is_new || !row.arrived || row.generation != generation || !(row.report == report);
    if (row.in_flight || !changed || (!is_new && now - row.at < kMinInterval)) return false;
    row = {.report = report, .generation = generation, .at = now, .in_flight = true, .arrived = true};
    return true;
  }
  void answered(const std::string& uid, bool written) {
    const auto found = rows_.find(uid);
    if (found == rows_.end()) return;
    found->second.in_flight = false;
    found->second.arrived = written;
  }
  /// Forgets the objects for whose UID `exists` returns false, unless a write is in flight.
  template <typename Exists>
  void forget_unless(Exists exists) {
    std::erase_if(rows_, [&](const auto& row) { return !row.second.in_flight && !exists(row.first); });
  }

 private:
  struct Row {
    Report report;
    std::int64_t generation = 0;
    Instant at{};
    bool in_flight = false;
    bool arrived = false;
  };
  std::map<std::string, Row> rows_;
};

}  // namespace capstan::op
