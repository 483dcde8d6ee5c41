#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "base/time.h"
#include "signals/prometheus_api.h"

namespace capstan::plan {

/// The request rate of a service over a history.
struct RateSeries {
  std::int64_t start_ms = 0;  ///< begin of the first step, milliseconds since 1970
  Duration step{};
  std::vector<double> per_s{};  ///< requests per second in each step; every value is finite and not negative
  std::int64_t gaps = 0;        ///< steps without a value, which were filled with values between their neighbours

  Duration length() const { return step * static_cast<std::int64_t>(per_s.size()); }
  double requests() const;  ///< returns the number of requests in the whole history
  double mean_per_s() const;
  double highest_per_s() const;
};

/// Fewest steps of a history, and largest share of them that may be gaps.
inline constexpr std::size_t kMinRateSteps = 10;
inline constexpr std::int64_t kMaxGapPercent = 20;

/// Reads the answer to a range query from `start_ms` to `end_ms`, whose points state the rate of the step before them.
/// Points that are no number, negative or above 10 million requests/s count as gaps. The history begins with the first
/// valid point.
/// @return a message: no points, a history that is too short, too many gaps, or no requests
std::expected<RateSeries, std::string> rate_series(const signals::ApiAnswer& answer, std::int64_t start_ms,
                                                   std::int64_t end_ms, Duration step);

/// Returns the part of this length with the most requests; if several parts have as many, the first one. Returns the
/// whole series if it is shorter.
RateSeries busiest_part(const RateSeries& series, Duration length);

/// Returns the requests of each minute. Fractions are carried to the next minute.
std::vector<std::int64_t> requests_by_minute(const RateSeries& series);

}  // namespace capstan::plan
