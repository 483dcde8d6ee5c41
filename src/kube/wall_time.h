#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace capstan::kube {

/// A moment as the API server writes it: microseconds since 1970 in UTC. Another clock than `Instant`: comparing the
/// two, or the wall times of two machines, says nothing about order.
struct WallTime {
  std::int64_t unix_us = 0;  ///< 0: not set

  bool is_set() const { return unix_us != 0; }
  friend constexpr auto operator<=>(WallTime, WallTime) = default;
};

/// "2026-11-21T16:15:33Z", with a fraction of a second and any offset (RFC 3339), years 1 to 9999.
std::optional<WallTime> read_wall_time(std::string_view text);

std::string wall_time_seconds(WallTime time);  ///< "2026-11-21T16:15:33Z", Kubernetes' Time
std::string wall_time_micros(WallTime time);   ///< "2026-11-21T16:15:33.000000Z", Kubernetes' MicroTime

}  // namespace capstan::kube
