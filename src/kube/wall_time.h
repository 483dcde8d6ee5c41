#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace capstan::kube {

/// A time in an object of the API server, in microseconds since 1970 (UTC). It comes from another clock than `Instant`,
/// and wall times of different machines do not show which event was first.
struct WallTime {
  std::int64_t unix_us = 0;  ///< microseconds since 1970; 0: not set

  bool is_set() const { return unix_us != 0; }
  friend constexpr auto operator<=>(WallTime, WallTime) = default;
};

/// Parses an RFC 3339 time such as "2026-11-21T16:15:33Z", with any offset and fraction, in the years 1 to 9999.
std::optional<WallTime> read_wall_time(std::string_view text);

std::string wall_time_seconds(WallTime time);  ///< "2026-11-21T16:15:33Z", Kubernetes' Time
std::string wall_time_micros(WallTime time);   ///< "2026-11-21T16:15:33.000000Z", Kubernetes' MicroTime

}  // namespace capstan::kube
