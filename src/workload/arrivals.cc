#include "workload/arrivals.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/portable_math.h"

namespace capstan::workload {
namespace {

constexpr double kNs = 1e9;

std::optional<RateStep> ramp_at(const RateCurve& curve, Duration at) {
  if (at < curve.start) return RateStep{curve.rate, curve.start};
  const Duration elapsed = at - curve.start;
  if (elapsed >= curve.length) return RateStep{curve.peak, Duration::max()};
  const std::int64_t length = std::max<std::int64_t>(1, curve.length.count() / kRampSteps);
  const std::int64_t step = std::min(elapsed.count() / length, kRampSteps - 1);
  const double done = (static_cast<double>(step) + 0.5) / static_cast<double>(kRampSteps);
  const Duration end = step == kRampSteps - 1 ? curve.length : Duration(length * (step + 1));
  return RateStep{curve.rate + (curve.peak - curve.rate) * done, curve.start + end};
}

std::optional<RateStep> diurnal_at(const RateCurve& curve, Duration at) {
  const std::int64_t period = curve.period.count();
  const std::int64_t length = std::max<std::int64_t>(1, period / kDiurnalSteps);
  const std::int64_t elapsed = at.count() % period;
  const std::int64_t step = std::min(elapsed / length, kDiurnalSteps - 1);
  const std::int64_t end = step == kDiurnalSteps - 1 ? period : length * (step + 1);
  const double turns = (static_cast<double>(step) + 0.5) / static_cast<double>(kDiurnalSteps) -
                       static_cast<double>(curve.start.count() % period) / static_cast<double>(period);
  const double height = (1 + portable_sin_turns(turns + 0.25)) / 2;
  return RateStep{curve.rate + (curve.peak - curve.rate) * height, at - Duration(elapsed) + Duration(end)};
}

}  // namespace

std::optional<RateStep> rate_at(const RateCurve& curve, Duration at) {
  switch (curve.kind) {
    case RateCurve::Kind::constant:
      return RateStep{curve.rate, Duration::max()};
    case RateCurve::Kind::diurnal:
      return diurnal_at(curve, at);
    case RateCurve::Kind::ramp:
      return ramp_at(curve, at);
    case RateCurve::Kind::spike:
      if (at < curve.start) return RateStep{curve.rate, curve.start};
      if (at < curve.start + curve.length) return RateStep{curve.peak, curve.start + curve.length};
      return RateStep{curve.rate, Duration::max()};
    case RateCurve::Kind::on_off: {
      const Duration elapsed = at % curve.period;
      if (elapsed < curve.length) return RateStep{curve.peak, at - elapsed + curve.length};
      return RateStep{curve.rate, at - elapsed + curve.period};
    }
    case RateCurve::Kind::piecewise: {
      const auto step = static_cast<std::size_t>(at / curve.step);
      if (step >= curve.step_rates.size()) return std::nullopt;
      return RateStep{curve.step_rates[step], curve.step * static_cast<std::int64_t>(step + 1)};
    }
  }
  CAPSTAN_ASSERT(false);
  return std::nullopt;
}

double portable_gamma(double x) {
  CAPSTAN_ASSERT(x >= 1 && x <= 100);
  double divisor = 1;
  for (; x < 15; x += 1) divisor *= x;
  // Stirling's series. For x >= 15 the next term is below 1e-13.
  const double inverse = 1 / x;
  const double square = inverse * inverse;
  const double series = inverse * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square / 1680)));
  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  return portable_exp((x - 0.5) * portable_log(x) - x + kHalfLogTwoPi + series) / divisor;
}

Arrivals::Arrivals(RateCurve curve, ArrivalSpec spec, double scale, std::uint64_t seed)
    : curve_(std::move(curve)), spec_(spec), scale_(scale), stream_(seed, "workload.arrivals") {
  // A curve that is 0 everywhere has no arrival. Without this check, next() would try every step up to the limit.
  const bool piecewise = curve_.kind == RateCurve::Kind::piecewise;
  ended_ = !piecewise && curve_.rate == 0 && (curve_.kind == RateCurve::Kind::constant || curve_.peak == 0);
  if (spec_.process == ArrivalSpec::Process::weibull) weibull_mean_ = portable_gamma(1 + 1 / spec_.shape);
}

double Arrivals::gap() {
  switch (spec_.process) {
    case ArrivalSpec::Process::poisson:
      return stream_.exponential();
    case ArrivalSpec::Process::gamma:
      return stream_.gamma(spec_.shape) / spec_.shape;
    case ArrivalSpec::Process::weibull:
      return stream_.weibull(spec_.shape) / weibull_mean_;
  }
  CAPSTAN_ASSERT(false);
  return 1;
}

std::optional<Instant> Arrivals::next(Duration limit) {
  double remaining_gap = ended_ ? 0 : gap();
  while (!ended_) {
    if (!started_ || at_ >= step_.end) {
      const std::optional<RateStep> step = rate_at(curve_, at_);
      if (!step) break;
      step_ = *step;
      started_ = true;
    }
    const Duration end = std::min(step_.end, limit);
    const double per_ns = step_.rate * scale_ / kNs;
    const double gaps_in_step = (static_cast<double>((end - at_).count()) - below_ns_) * per_ns;
    if (remaining_gap < gaps_in_step) {
      const double ns = below_ns_ + remaining_gap / per_ns;
      const auto whole = static_cast<std::int64_t>(ns);
      at_ += Duration(whole);
      below_ns_ = ns - static_cast<double>(whole);
      if (at_ >= limit) break;  // rounding may have reached the limit
      return Instant{at_};
    }
    remaining_gap = std::max(0.0, remaining_gap - gaps_in_step);
    at_ = end;
    below_ns_ = 0;
    if (at_ >= limit) break;
  }
  ended_ = true;
  return std::nullopt;
}

}  // namespace capstan::workload
