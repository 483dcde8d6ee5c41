#include "plan/measure/token_lengths.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "workload/request.h"

namespace capstan::plan {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::optional<double> bound_of(std::string_view le) {
  if (le == "+Inf" || le == "Inf") return kInfinity;
  double bound = 0;
  const auto [end, error] = std::from_chars(le.data(), le.data() + le.size(), bound);
  const bool is_number = error == std::errc() && end == le.data() + le.size();
  return is_number && std::isfinite(bound) ? std::optional(bound) : std::nullopt;
}

std::int32_t tokens_of_bound(double bound) {
  return static_cast<std::int32_t>(std::clamp(std::floor(bound), 1.0, static_cast<double>(workload::kMaxTokens)));
}

/// Most by which the mean of the sum may exceed that of the buckets, or fall below it. The two are read one after the
/// other, and the last bucket has no upper bound; a larger factor means that their units differ.
constexpr double kMaxMeanFactor = 4;

/// Returns what is wrong with a mean that the ranges cannot have; empty if it is possible.
std::string mean_fault(const LengthRanges& ranges, double mean) {
  double lowest = 0, highest = 0;
  for (const LengthRange& range : ranges) {
    lowest += range.share * range.low;
    highest += range.share * range.high;
  }
  if (mean <= highest * kMaxMeanFactor && mean >= lowest / kMaxMeanFactor) return {};
  return fmt::format(
      "the sum says {:.4g} tokens on the mean, the buckets {:.4g} to {:.4g}, expected the same unit in both", mean,
      lowest, highest);
}

/// Puts the mean of every range at the same relative position, so that the mean of all is `mean` if that is possible.
void place_means(LengthRanges& ranges, std::optional<double> mean) {
  double lowest = 0, width = 0;
  for (const LengthRange& range : ranges) {
    lowest += range.share * range.low;
    width += range.share * (range.high - range.low);
  }
  const double position = mean && width > 0 ? std::clamp((*mean - lowest) / width, 0.0, 1.0) : 0.5;
  for (LengthRange& range : ranges) range.mean = range.low + position * (range.high - range.low);
}

/// Returns the share of a normal distribution below `z` standard deviations.
double normal_share(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }

}  // namespace

std::expected<LengthRanges, std::string> ranges_of_histogram(const signals::ApiAnswer& buckets,
                                                             const signals::ApiAnswer& sum) {
  std::map<double, double> cumulative;  // requests, by upper bound
  for (const signals::ApiSeries& series : buckets.series) {
    const std::optional<double> bound = bound_of(series.label("le"));
    if (!bound || series.points.empty() || !std::isfinite(series.points.back().value)) continue;
    cumulative[*bound] += std::max(0.0, series.points.back().value);
  }
  if (cumulative.empty() || cumulative.rbegin()->first != kInfinity) {
    return std::unexpected("the histogram has no bucket le=\"+Inf\", expected one");
  }
  const double all = cumulative.rbegin()->second;
  if (all <= 0) return std::unexpected("the histogram counts no request, expected at least one");
  LengthRanges ranges;
  double before = 0;
  std::int32_t low = 1;
  for (const auto& [bound, count] : cumulative) {
    // A bucket also counts the requests of all buckets with lower bounds, so counts never fall from one bound to the
    // next. But Prometheus extrapolates each series by itself, so a count may be a little too low.
    const double own = std::max(0.0, count - before);
    before = std::max(before, count);
    const std::int32_t high = bound == kInfinity ? std::min<std::int32_t>(std::max(low * 2, 2), workload::kMaxTokens)
                                                 : std::max(low, tokens_of_bound(bound));
    if (own > 0) ranges.push_back({.low = std::min(low, high), .high = high, .mean = 0, .share = own});
    if (bound != kInfinity && bound >= 1) low = std::min<std::int32_t>(high + 1, workload::kMaxTokens);
  }
  for (LengthRange& range : ranges) range.share /= before;
  const bool has_sum = !sum.series.empty() && !sum.series.front().points.empty() &&
                       std::isfinite(sum.series.front().points.back().value) &&
                       sum.series.front().points.back().value > 0;
  const auto mean = has_sum ? std::optional(sum.series.front().points.back().value / before) : std::nullopt;
  if (const std::string fault = mean ? mean_fault(ranges, *mean) : ""; !fault.empty()) return std::unexpected(fault);
  place_means(ranges, mean);
  return ranges;
}

LengthRanges ranges_of(const TokenSpec& tokens) {
  const std::int32_t longest = std::max(tokens.median, tokens.longest);
  if (tokens.sigma <= 0)
    return {{.low = tokens.median, .high = tokens.median, .mean = 1.0 * tokens.median, .share = 1}};
  constexpr double kFarthest = 3, kWidth = 0.25;  // standard deviations
  LengthRanges ranges;
  std::int32_t low = 1;
  double below = 0;
  for (double z = -kFarthest; low <= longest; z += kWidth) {
    const bool is_last = z >= kFarthest;
    const double bound = tokens.median * std::exp(tokens.sigma * z);
    const std::int32_t high = is_last ? longest : std::min(longest, tokens_of_bound(bound));
    const double share = high == longest ? 1 : normal_share(z);
    if (high < low) continue;
    ranges.push_back({.low = low, .high = high, .mean = 0.5 * (low + high), .share = share - below});
    below = share;
    low = high + 1;
  }
  return ranges;
}

double mean_length(const LengthRanges& ranges) {
  double mean = 0;
  for (const LengthRange& range : ranges) mean += range.share * range.mean;
  return mean;
}

std::int32_t length_quantile(const LengthRanges& ranges, double share) {
  double below = 0;
  for (const LengthRange& range : ranges) {
    if (below + range.share >= share && range.share > 0) {
      const double inside = std::clamp((share - below) / range.share, 0.0, 1.0);
      return range.low + static_cast<std::int32_t>(std::lround(inside * (range.high - range.low)));
    }
    below += range.share;
  }
  return ranges.empty() ? 0 : ranges.back().high;
}

}  // namespace capstan::plan
