#include "promql/range_function.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "promql/kahan.h"
#include "promql/value.h"

namespace capstan::promql {
namespace {

using Points = std::span<const Point>;
using OptionalValue = std::optional<double>;

double seconds(std::int64_t ms) { return static_cast<double>(ms) / 1000; }

/// Returns the last value minus the first. For a counter, it adds the value before each reset, because the counter then
/// restarted from 0.
double rise(Points points, bool is_counter) {
  double result = points.back().value - points.front().value;
  if (!is_counter) return result;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].value < points[i - 1].value) result += points[i - 1].value;
  }
  return result;
}

/// Computes extrapolatedRate: the rise between the samples, extended at each end of the range. It is extended to the
/// end of the range if a sample is close to it, else by half of the mean time between samples.
OptionalValue extrapolate(Points points, const RangeContext& context, bool is_counter, bool is_rate) {
  if (points.size() < 2) return std::nullopt;
  const double result = rise(points, is_counter);
  double to_start = seconds(points.front().at_ms - context.range_start_ms);
  const double to_end = seconds(context.range_end_ms - points.back().at_ms);
  const double sampled = seconds(points.back().at_ms - points.front().at_ms);
  const double between = sampled / static_cast<double>(points.size() - 1);
  if (is_counter && result > 0 && points.front().value >= 0) {
    to_start = std::min(to_start, sampled * (points.front().value / result));  // a counter does not begin below 0
  }
  const double threshold = between * 1.1;
  double covered = sampled;
  covered += to_start < threshold ? to_start : between / 2;
  covered += to_end < threshold ? to_end : between / 2;
  double factor = covered / sampled;
  if (is_rate) factor /= seconds(context.range_end_ms - context.range_start_ms);
  return result * factor;
}

/// Computes instantValue, from the last two samples only.
OptionalValue instant_change(Points points, bool is_rate) {
  if (points.size() < 2) return std::nullopt;
  const Point& last = points.back();
  const Point& before = points[points.size() - 2];
  const double change = is_rate && last.value < before.value ? last.value : last.value - before.value;
  return is_rate ? change / seconds(last.at_ms - before.at_ms) : change;
}

struct Line {
  double slope = 0;
  double intercept = 0;
};

/// Fits a line by least squares. Its intercept is at `zero_ms`.
Line regress(Points points, std::int64_t zero_ms) {
  KahanSum x, y, xy, xx;
  for (const Point& point : points) {
    const double at = static_cast<double>(point.at_ms - zero_ms) / 1e3;
    x.add(at), y.add(point.value), xy.add(at * point.value), xx.add(at * at);
  }
  const double first = points.front().value;
  if (std::ranges::all_of(points, [&](const Point& point) { return point.value == first; })) {
    return std::isinf(first) ? Line{kNan, kNan} : Line{0, first};
  }
  const auto n = static_cast<double>(points.size());
  const double sum_x = x.sum + x.lost, sum_y = y.sum + y.lost;
  const double covariance = xy.sum + xy.lost - sum_x * sum_y / n;
  const double variance = xx.sum + xx.lost - sum_x * sum_x / n;
  const double slope = covariance / variance;
  return {slope, sum_y / n - slope * sum_x / n};
}

double average(Points points) {
  KahanSum mean;
  double count = 0;
  for (const Point& point : points) {
    ++count;
    if (std::isinf(mean.sum)) {
      if (std::isinf(point.value) && (mean.sum > 0) == (point.value > 0)) continue;
      if (!std::isinf(point.value) && !std::isnan(point.value)) continue;
    }
    mean.add(point.value / count - mean.sum / count);
  }
  return mean.total();
}

double variance(Points points) {
  KahanSum mean, squares;
  double count = 0;
  for (const Point& point : points) {
    ++count;
    const double delta = point.value - (mean.sum + mean.lost);
    mean.add(delta / count);
    squares.add(delta * (point.value - (mean.sum + mean.lost)));
  }
  return (squares.sum + squares.lost) / count;
}

double extreme(Points points, auto&& beats) {
  double best = points.front().value;
  for (const Point& point : points) {
    if (beats(point.value, best) || std::isnan(best)) best = point.value;
  }
  return best;
}

double count_steps(Points points, auto&& counts) {
  double steps = 0;
  for (std::size_t i = 1; i < points.size(); ++i) steps += counts(points[i - 1].value, points[i].value) ? 1 : 0;
  return steps;
}

double sum(Points points) {
  KahanSum total;
  for (const Point& point : points) total.add(point.value);
  return total.total();
}

OptionalValue quantile_over(Points points, const RangeContext& context) {
  std::vector<double> values;
  for (const Point& point : points) values.push_back(point.value);
  return quantile_of(context.parameter, std::move(values));
}

OptionalValue predict(Points points, const RangeContext& context) {
  if (points.size() < 2) return std::nullopt;
  const Line line = regress(points, context.at_ms);
  return line.slope * context.parameter + line.intercept;
}

bool changed(double before, double now) { return now != before && !(std::isnan(now) && std::isnan(before)); }

struct RangeEntry {
  std::string_view name;
  RangeFunction function;
};

constexpr RangeEntry kRangeFunctions[] = {
    {"rate", [](Points p, const RangeContext& c) { return extrapolate(p, c, true, true); }},
    {"increase", [](Points p, const RangeContext& c) { return extrapolate(p, c, true, false); }},
    {"delta", [](Points p, const RangeContext& c) { return extrapolate(p, c, false, false); }},
    {"irate", [](Points p, const RangeContext&) { return instant_change(p, true); }},
    {"idelta", [](Points p, const RangeContext&) { return instant_change(p, false); }},
    {"deriv",
     [](Points p, const RangeContext&) {
       return p.size() < 2 ? OptionalValue() : OptionalValue(regress(p, p.front().at_ms).slope);
     }},
    {"predict_linear", predict},
    {"sum_over_time", [](Points p, const RangeContext&) { return OptionalValue(sum(p)); }},
    {"avg_over_time", [](Points p, const RangeContext&) { return OptionalValue(average(p)); }},
    {"min_over_time", [](Points p, const RangeContext&) { return OptionalValue(extreme(p, std::less<>())); }},
    {"max_over_time", [](Points p, const RangeContext&) { return OptionalValue(extreme(p, std::greater<>())); }},
    {"count_over_time", [](Points p, const RangeContext&) { return OptionalValue(static_cast<double>(p.size())); }},
    {"last_over_time", [](Points p, const RangeContext&) { return OptionalValue(p.back().value); }},
    {"present_over_time", [](Points, const RangeContext&) { return OptionalValue(1.0); }},
    {"stdvar_over_time", [](Points p, const RangeContext&) { return OptionalValue(variance(p)); }},
    {"stddev_over_time", [](Points p, const RangeContext&) { return OptionalValue(std::sqrt(variance(p))); }},
    {"quantile_over_time", quantile_over},
    {"changes", [](Points p, const RangeContext&) { return OptionalValue(count_steps(p, changed)); }},
    {"resets", [](Points p, const RangeContext&) { return OptionalValue(count_steps(p, std::greater<>())); }},
};

}  // namespace

RangeFunction find_range_function(std::string_view name) {
  const auto* found = std::ranges::find(kRangeFunctions, name, &RangeEntry::name);
  return found == std::end(kRangeFunctions) ? nullptr : found->function;
}

double quantile_of(double share, std::vector<double> values) {
  if (values.empty()) return kNan;
  if (std::isnan(share)) return kNan;
  if (share < 0) return -kInfinity;
  if (share > 1) return kInfinity;
  // NaN sorts first, as in Prometheus.
  std::ranges::sort(values, [](double a, double b) { return std::isnan(a) ? !std::isnan(b) : a < b; });
  const double rank = share * static_cast<double>(values.size() - 1);
  const auto lower = static_cast<std::size_t>(rank);
  const std::size_t upper = std::min(values.size() - 1, lower + 1);
  const double weight = rank - std::floor(rank);
  return values[lower] * (1 - weight) + values[upper] * weight;
}

}  // namespace capstan::promql
