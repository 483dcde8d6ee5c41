#pragma once

#include <cstdint>
#include <optional>

#include "base/random.h"
#include "base/time.h"
#include "workload/spec.h"

namespace capstan::workload {

inline constexpr std::int64_t kRampSteps = 1000;     ///< steps of constant rate that make a ramp
inline constexpr std::int64_t kDiurnalSteps = 1440;  ///< and one cycle of a diurnal curve: a minute of a day

/// A stretch of constant rate: from the moment asked for to `end`.
struct RateStep {
  double rate = 0;  ///< per second
  Duration end = Duration::max();
};

/// The curve's rate at `at` and until when it holds; empty behind the end of a piecewise curve. A diurnal curve is
/// rate + (peak - rate) * (1 + cos) / 2 with its peak at `start` in each period.
std::optional<RateStep> rate_at(const RateCurve& curve, Duration at);

/// Moments of arrival around a curve, one after another: a renewal process of mean gap 1 in the curve's own time (its
/// integral), so that a Poisson process stays one whatever the curve does.
class Arrivals {
 public:
  Arrivals(RateCurve curve, ArrivalSpec spec, double scale, std::uint64_t seed);

  /// The next one before `limit`; empty, for good, when there is none.
  std::optional<Instant> next(Duration limit);

 private:
  double gap();

  RateCurve curve_;
  ArrivalSpec spec_;
  double scale_;
  double weibull_mean_ = 1;
  RandomStream stream_;
  RateStep step_;
  Duration at_{};
  double below_ns_ = 0;  ///< what the last arrival is past `at_`, within [0, 1): gaps add up without a drift
  bool started_ = false;
  bool ended_ = false;
};

/// Gamma(x) for x in [1, 100], from portable operations; relative error below 1e-12.
double portable_gamma(double x);

}  // namespace capstan::workload
