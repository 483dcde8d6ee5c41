#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "promql/series.h"

namespace capstan::promql {

/// What a function over a range knows besides the points.
struct RangeContext {
  std::int64_t range_start_ms = 0;
  std::int64_t range_end_ms = 0;
  std::int64_t at_ms = 0;  ///< of the evaluation
  double parameter = 0;    ///< quantile_over_time's share, predict_linear's seconds
};

/// Nothing where the points give none.
using RangeFunction = std::optional<double> (*)(std::span<const Point> points, const RangeContext& context);

/// Null where it is not evaluated here. Source: prometheus promql/functions.go of 2.42.
RangeFunction find_range_function(std::string_view name);

/// The value below which this share lies, linear between neighbours; NaN where there are none.
double quantile_of(double share, std::vector<double> values);

}  // namespace capstan::promql
