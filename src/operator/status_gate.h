#pragma once

#include <map>
#include <string>

#include "base/time.h"

namespace capstan::op {

/// When the status of an object is written: soon after what it tells changes, never two at a time, and again where one
/// did not arrive. `Told` is what it tells, without times.
template <typename Told>
class StatusGate {
 public:
  static constexpr Duration kSoon = std::chrono::seconds(2);

  /// Whether it is to be written now; then it counts as on its way until `answered`.
  bool opens(const std::string& uid, const Told& told, Instant now) {
    const auto [at, is_new] = rows_.try_emplace(uid);
    Row& row = at->second;
    const bool changed = is_new || !row.arrived || !(row.told == told);
    if (row.in_flight || !changed || (!is_new && now - row.at < kSoon)) return false;
    row = {.told = told, .at = now, .in_flight = true, .arrived = true};
    return true;
  }
  void answered(const std::string& uid, bool written) {
    const auto found = rows_.find(uid);
    if (found == rows_.end()) return;
    found->second.in_flight = false;
    found->second.arrived = written;
  }
  /// Forgets objects that are gone: `exists` tells by uid.
  template <typename Exists>
  void keep(Exists exists) {
    std::erase_if(rows_, [&](const auto& row) { return !row.second.in_flight && !exists(row.first); });
  }

 private:
  struct Row {
    Told told;
    Instant at{};
    bool in_flight = false;
    bool arrived = false;
  };
  std::map<std::string, Row> rows_;
};

}  // namespace capstan::op
