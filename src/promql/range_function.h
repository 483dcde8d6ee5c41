#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "promql/series.h"

namespace capstan::promql {

/// The input of a range function besides the points.
struct RangeContext {
  std::int64_t range_start_ms = 0;
  std::int64_t range_end_ms = 0;
  std::int64_t at_ms = 0;  ///< evaluation time
  double parameter = 0;    ///< quantile_over_time's share, predict_linear's seconds
};

/// A function over a range. Returns nothing if there are too few points.
using RangeFunction = std::optional<double> (*)(std::span<const Point> points, const RangeContext& context);

/// Returns the function, or null if Capstan does not evaluate it. Source: prometheus promql/functions.go of 2.42.
RangeFunction find_range_function(std::string_view name);

/// Returns the quantile `share` of the values, interpolated linearly, or NaN if there are no values.
double quantile_of(double share, std::vector<double> values);

}  // namespace capstan::promql
