#pragma once

#include <string>

#include "promql/series.h"

/// The series that Capstan's evaluator and a real Prometheus query.
namespace capstan::test {

inline constexpr std::int64_t kFirstMs = 1'700'000'000'000;
inline constexpr std::int64_t kLengthMs = 3'600'000;

/// Returns an hour of engine metrics: counters with resets, gauges with NaN and infinities, histograms, gaps, and
/// scrapes at irregular times.
promql::SeriesStore make_series();

/// Formats the series as OpenMetrics with timestamps, the input of `promtool tsdb create-blocks-from openmetrics`.
std::string openmetrics(const promql::SeriesStore& store);

}  // namespace capstan::test
