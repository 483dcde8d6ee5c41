#pragma once

#include <cstdint>
#include <optional>

#include "base/random.h"
#include "base/time.h"
#include "workload/spec.h"

namespace capstan::workload {

inline constexpr std::int64_t kRampSteps = 1000;     ///< steps of constant rate in a ramp
inline constexpr std::int64_t kDiurnalSteps = 1440;  ///< steps in a diurnal cycle; minutes if the cycle is a day

/// A period of constant rate, from the requested time to `end`.
struct RateStep {
  double rate = 0;  ///< requests/s
  Duration end = Duration::max();
};

/// Returns the curve's rate at `at` and the end of that rate; nothing after the end of a piecewise curve. A diurnal
/// curve is rate + (peak - rate) * (1 + cos) / 2 with its peak at `start` in each period.
std::optional<RateStep> rate_at(const RateCurve& curve, Duration at);

/// Draws arrival times that follow a rate curve. Each gap is drawn with a mean of 1, and lasts until the integral of
/// the rate has grown by the drawn value. A Poisson process therefore stays a Poisson process under any curve.
class Arrivals {
 public:
  Arrivals(RateCurve curve, ArrivalSpec spec, double scale, std::uint64_t seed);

  /// Returns the next arrival before `limit`, or nothing if there is none. Later calls then return nothing either.
  std::optional<Instant> next(Duration limit);

 private:
  double gap();

  RateCurve curve_;
  ArrivalSpec spec_;
  double scale_;
  double weibull_mean_ = 1;
  RandomStream stream_;
  RateStep step_;
  Duration at_{};  ///< time of the last arrival, rounded down, or of the last change of the rate
  /// Exact time of the last arrival minus `at_`, nanoseconds, [0, 1). Without it the roundings would add up.
  double below_ns_ = 0;
  bool started_ = false;
  bool ended_ = false;
};

/// Returns Gamma(x) for x in [1, 100], computed with portable operations; the relative error is below 1e-12.
double portable_gamma(double x);

}  // namespace capstan::workload
