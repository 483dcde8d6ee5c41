#include "workload/check.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include "workload/bounds.h"

namespace capstan::workload {
namespace {

using MaybeFault = std::optional<Fault>;

/// Returns a duration in the largest unit in which it is a whole number, up to days; otherwise in seconds.
std::string duration_text(Duration duration) {
  using namespace std::chrono_literals;
  constexpr std::pair<Duration, std::string_view> kUnits[] = {{24h, "d"}, {1h, "h"}, {1min, "min"}};
  for (const auto& [unit, name] : kUnits) {
    if (duration >= unit && duration % unit == Duration{}) return fmt::format("{} {}", duration / unit, name);
  }
  return fmt::format("{} s", static_cast<double>(duration.count()) / 1e9);
}

MaybeFault bounds_fault(std::string setting, std::string_view name, const std::string& value, const std::string& min,
                        const std::string& max) {
  return Fault{std::move(setting), fmt::format("{} is {}, expected {} to {}", name, value, min, max)};
}

template <typename Number>
MaybeFault check_bounds(std::string setting, std::string_view name, Number value, Bounds<Number> bounds) {
  if (value >= bounds.min && value <= bounds.max) return std::nullopt;  // false for NaN
  const auto text = [](Number number) { return fmt::format("{}", number); };
  return bounds_fault(std::move(setting), name, text(value), text(bounds.min), text(bounds.max));
}

MaybeFault check_bounds(std::string setting, std::string_view name, Duration value, Bounds<Duration> bounds) {
  if (value >= bounds.min && value <= bounds.max) return std::nullopt;
  return bounds_fault(std::move(setting), name, duration_text(value), duration_text(bounds.min),
                      duration_text(bounds.max));
}

MaybeFault rate_fault(std::string setting, std::string_view name, double rate) {
  if (rate == 0 || (rate >= kRate.min && rate <= kRate.max)) return std::nullopt;
  return Fault{std::move(setting),
               fmt::format("{} is {} per second, expected 0 or {} to {}", name, rate, kRate.min, kRate.max)};
}

MaybeFault first_of(std::initializer_list<MaybeFault> faults) {
  for (const MaybeFault& fault : faults) {
    if (fault) return fault;
  }
  return std::nullopt;
}

MaybeFault length_fault(const std::string& setting, std::string_view name, const LengthSpec& spec) {
  if (spec.min < kTokens.min || spec.max < spec.min || spec.max > kTokens.max) {
    return Fault{setting, fmt::format("{} tokens are bounded by {} and {}, expected 1 <= min <= max <= {}", name,
                                      spec.min, spec.max, kTokens.max)};
  }
  return first_of({check_bounds(setting + ".tokens", fmt::format("{} tokens", name), spec.tokens, kTokens),
                   check_bounds(setting + ".sigma", fmt::format("sigma of {} tokens", name), spec.sigma, kSigma)});
}

/// Checks the two length distributions; a profile's joint table replaces them.
MaybeFault lengths_fault(const std::string& setting, const LengthsSpec& spec, const std::string& profile) {
  if (spec.joint || !profile.empty()) return std::nullopt;
  return first_of({length_fault(setting + ".input", "input", spec.input),
                   length_fault(setting + ".output", "output", spec.output)});
}

MaybeFault steps_fault(const RateCurve& curve) {
  if (curve.step_rates.empty()) return Fault{"generator.rate", "the curve has no steps, expected at least one"};
  for (std::size_t i = 0; i < curve.step_rates.size(); ++i) {
    const std::string setting = fmt::format("generator.rate.step_rates.{}", i);
    if (MaybeFault fault = rate_fault(setting, "the rate of a step", curve.step_rates[i])) return fault;
  }
  const Duration longest = kRateStep.max / static_cast<std::int64_t>(curve.step_rates.size());
  return check_bounds("generator.rate.step", "the step", curve.step, Bounds<Duration>{kRateStep.min, longest});
}

MaybeFault curve_fault(const RateCurve& curve) {
  using Kind = RateCurve::Kind;
  const MaybeFault rate = rate_fault("generator.rate.rate", "the rate", curve.rate);
  const MaybeFault rates = first_of({rate, rate_fault("generator.rate.peak", "the peak rate", curve.peak)});
  const MaybeFault peak_below_rate =
      curve.peak >= curve.rate ? MaybeFault()
                               : Fault{"generator.rate.peak", fmt::format("the peak rate is {} per second, expected at "
                                                                          "least the rate, {}",
                                                                          curve.peak, curve.rate)};
  const auto period = [&](Bounds<Duration> bounds) {
    return check_bounds("generator.rate.period", "the period", curve.period, bounds);
  };
  const auto length = [&](Bounds<Duration> bounds) {
    return check_bounds("generator.rate.length", "the length", curve.length, bounds);
  };
  const MaybeFault start = check_bounds("generator.rate.start", "the start", curve.start, kRateStart);
  switch (curve.kind) {
    case Kind::constant:
      return rate;
    case Kind::diurnal:
      return first_of({rates, peak_below_rate, period(kDiurnalPeriod), start});
    case Kind::spike:
      return first_of({rates, peak_below_rate, start, length(kRampLength)});
    case Kind::ramp:
      return first_of({rates, start, length(kRampLength)});
    case Kind::on_off:
      return first_of({rates, period(kRatePeriod), length({kRateLength.min, curve.period})});
    case Kind::piecewise:
      return steps_fault(curve);
  }
  return Fault{"generator.rate", "the rate has no kind"};
}

MaybeFault generator_fault(const GeneratorSpec& spec) {
  if (MaybeFault fault =
          first_of({curve_fault(spec.rate), lengths_fault("generator", spec.lengths, spec.lengths_profile)}))
    return fault;
  if (spec.arrivals.process != ArrivalSpec::Process::poisson) {
    const double shape = spec.arrivals.shape;
    if (MaybeFault fault = check_bounds("generator.arrivals.shape", "the shape of the arrivals", shape, kArrivalShape))
      return fault;
  }
  if (!spec.sessions) return std::nullopt;
  const SessionSpec& sessions = *spec.sessions;
  const std::string at = "generator.sessions.";
  return first_of({check_bounds(at + "turns_mean", "the mean number of turns", sessions.turns_mean, kTurnsMean),
                   check_bounds(at + "turn_gap_mean", "the mean gap of turns", sessions.turn_gap_mean, kTurnGapMean),
                   check_bounds(at + "max_context", "the longest context", sessions.max_context, kTokens),
                   check_bounds(at + "system_tokens", "the system prompt", sessions.system_tokens,
                                Bounds<std::int32_t>{0, sessions.max_context - 1})});
}

MaybeFault closed_loop_fault(const ClosedLoopSpec& loop, double scale) {
  const double concurrency = std::floor(static_cast<double>(loop.concurrency) * scale + 0.5);
  const Bounds<double> concurrencies{static_cast<double>(kConcurrency.min), static_cast<double>(kConcurrency.max)};
  return first_of({lengths_fault("closed_loop", loop.lengths, loop.lengths_profile),
                   check_bounds("closed_loop.concurrency", "the concurrency", concurrency, concurrencies),
                   check_bounds("closed_loop.think_time", "the think time", loop.think_time, kThinkTime),
                   check_bounds("closed_loop.requests", "the number of requests",
                                loop.requests.value_or(kClosedLoopRequests.min), kClosedLoopRequests)});
}

}  // namespace

std::optional<Fault> find_fault(const WorkloadSpec& spec) {
  if (MaybeFault fault =
          first_of({check_bounds("scale", "the scale", spec.scale, kScale),
                    check_bounds("scale_jitter", "the jitter of copies", spec.scale_jitter, kScaleJitter),
                    check_bounds("duration", "the duration", spec.duration.value_or(kDuration.max), kDuration)})) {
    return fault;
  }
  if (const auto* generator = std::get_if<GeneratorSpec>(&spec.from)) return generator_fault(*generator);
  if (const auto* loop = std::get_if<ClosedLoopSpec>(&spec.from)) return closed_loop_fault(*loop, spec.scale);
  return std::nullopt;
}

bool ends_by_itself(const WorkloadSpec& spec) {
  if (const auto* generator = std::get_if<GeneratorSpec>(&spec.from)) {
    return generator->rate.kind == RateCurve::Kind::piecewise;
  }
  const auto* loop = std::get_if<ClosedLoopSpec>(&spec.from);
  return loop == nullptr || loop->requests.has_value();
}

}  // namespace capstan::workload
