#include "plan/measure/rate_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "manifest/fields.h"

namespace capstan::plan {

namespace {

using namespace std::chrono_literals;

constexpr double kMaxRate = 1e7;  // requests per second; a point with a higher rate counts as a gap
constexpr double kGap = -1;

double step_seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

/// Fills each run of gaps with values on the line between its neighbours.
void fill_gaps(std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != kGap) continue;
    std::size_t end = i;
    while (end < values.size() && values[end] == kGap) ++end;
    const double before = i == 0 ? values[end] : values[i - 1];
    const double after = end == values.size() ? before : values[end];
    const auto parts = static_cast<double>(end - i + 1);
    for (std::size_t k = i; k < end; ++k) {
      values[k] = before + (after - before) * static_cast<double>(k - i + 1) / parts;
    }
  }
}

}  // namespace

double RateSeries::requests() const { return std::accumulate(per_s.begin(), per_s.end(), 0.0) * step_seconds(step); }
double RateSeries::mean_per_s() const { return requests() / step_seconds(length()); }
double RateSeries::highest_per_s() const { return std::ranges::max(per_s); }

std::expected<RateSeries, std::string> rate_series(const signals::ApiAnswer& answer, std::int64_t start_ms,
                                                   std::int64_t end_ms, Duration step) {
  if (answer.series.empty() || answer.series.front().points.empty()) {
    return std::unexpected(
        "the answer has no points although the counter exists, expected at least two samples in each window: scrape "
        "at least once a minute, or state a longer step");
  }
  const std::int64_t step_ms = std::max<std::int64_t>(1, step / 1ms);
  const auto steps = static_cast<std::size_t>(std::max<std::int64_t>(0, (end_ms - start_ms) / step_ms) + 1);
  std::vector<double> values(steps, kGap);
  std::size_t first = steps;
  for (const signals::ApiPoint& point : answer.series.front().points) {
    const std::int64_t index = (point.unix_ms - start_ms + step_ms / 2) / step_ms;
    const bool is_rate = std::isfinite(point.value) && point.value >= 0 && point.value <= kMaxRate;
    if (!is_rate || index < 0 || index >= static_cast<std::int64_t>(steps)) continue;
    values[static_cast<std::size_t>(index)] = point.value;
    first = std::min(first, static_cast<std::size_t>(index));
  }
  values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(first));
  const std::string span = manifest::duration_text(step * static_cast<std::int64_t>(values.size()));
  if (values.size() < kMinRateSteps) {
    return std::unexpected(
        fmt::format("the history has {} steps of {}, expected at least {}: measure later, or state "
                    "a shorter step",
                    values.size(), manifest::duration_text(step), kMinRateSteps));
  }
  const auto gaps = static_cast<std::int64_t>(std::ranges::count(values, kGap));
  const auto count = static_cast<std::int64_t>(values.size());
  if (gaps * 100 > count * kMaxGapPercent) {
    return std::unexpected(
        fmt::format("{} of {} steps have no value in the {} since the first one, expected at most "
                    "{} %: check that the engine is scraped, or state a shorter history with over",
                    gaps, count, span, kMaxGapPercent));
  }
  fill_gaps(values);
  RateSeries out{.start_ms = start_ms + (static_cast<std::int64_t>(first) - 1) * step_ms,
                 .step = step,
                 .per_s = std::move(values),
                 .gaps = gaps};
  if (out.requests() < 0.5) {
    return std::unexpected(fmt::format("no request finished in {}, expected at least one", span));
  }
  return out;
}

RateSeries busiest_part(const RateSeries& series, Duration length) {
  const auto steps = static_cast<std::size_t>(std::max<std::int64_t>(1, length / series.step));
  if (steps >= series.per_s.size()) return series;
  double sum = std::accumulate(series.per_s.begin(), series.per_s.begin() + static_cast<std::ptrdiff_t>(steps), 0.0);
  double most = sum;
  std::size_t first = 0;
  for (std::size_t i = steps; i < series.per_s.size(); ++i) {
    sum += series.per_s[i] - series.per_s[i - steps];
    if (sum <= most * (1 + 1e-9)) continue;
    most = sum;
    first = i - steps + 1;
  }
  RateSeries part = series;
  const auto begin = series.per_s.begin() + static_cast<std::ptrdiff_t>(first);
  part.per_s.assign(begin, begin + static_cast<std::ptrdiff_t>(steps));
  part.start_ms += static_cast<std::int64_t>(first) * (series.step / 1ms);
  return part;
}

std::vector<std::int64_t> requests_by_minute(const RateSeries& series) {
  std::vector<std::int64_t> out;
  const Duration length = series.length();
  double passed = 0;  // requests until `at`
  std::int64_t counted = 0;
  Duration at{};
  std::size_t i = 0;
  while (at < length) {
    const Duration minute_end = std::min<Duration>(1min * static_cast<std::int64_t>(out.size() + 1), length);
    while (at < minute_end) {
      const Duration step_end = series.step * static_cast<std::int64_t>(i + 1);
      const Duration until = std::min(step_end, minute_end);
      passed += series.per_s[i] * step_seconds(until - at);
      at = until;
      if (at == step_end) ++i;
    }
    const auto so_far = static_cast<std::int64_t>(std::floor(passed + 0.5));
    out.push_back(so_far - counted);
    counted = so_far;
  }
  return out;
}

}  // namespace capstan::plan
