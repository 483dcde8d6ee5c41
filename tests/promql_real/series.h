#pragma once

#include <string>

#include "promql/series.h"

/// The series that our evaluator and a real Prometheus are asked about.
namespace capstan::test {

inline constexpr std::int64_t kFirstMs = 1'700'000'000'000;
inline constexpr std::int64_t kLengthMs = 3'600'000;

/// An hour of engines: counters that reset, gauges with NaN and infinities, histograms, gaps, scrapes off the beat.
promql::SeriesStore make_series();

/// The same as OpenMetrics with timestamps, which `promtool tsdb create-blocks-from openmetrics` makes blocks of.
std::string openmetrics(const promql::SeriesStore& store);

}  // namespace capstan::test
