#include "workload/check.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <utility>

namespace capstan::workload {
namespace {

constexpr double kMinRate = 1e-6;  // requests/s; below it, and not 0: years between requests
constexpr double kMaxRate = 1e7;
constexpr std::int64_t kMaxClosedLoopRequests = 1'000'000'000;

using Faults = std::optional<Fault>;

std::string seconds(Duration duration) { return fmt::format("{} s", static_cast<double>(duration.count()) / 1e9); }

template <typename Number>
Faults within(std::string setting, std::string_view name, Number value, Number min, Number max) {
  if (value >= min && value <= max) return std::nullopt;  // NaN is not
  return Fault{std::move(setting), fmt::format("{} is {}, expected {} to {}", name, value, min, max)};
}

Faults within(std::string setting, std::string_view name, Duration value, Duration min, Duration max) {
  if (value >= min && value <= max) return std::nullopt;
  return Fault{std::move(setting),
               fmt::format("{} is {}, expected {} to {}", name, seconds(value), seconds(min), seconds(max))};
}

Faults rate_fault(std::string setting, std::string_view name, double rate) {
  if (rate == 0 || (rate >= kMinRate && rate <= kMaxRate)) return std::nullopt;
  return Fault{std::move(setting),
               fmt::format("{} is {} per second, expected 0 or {} to {}", name, rate, kMinRate, kMaxRate)};
}

Faults first_of(std::initializer_list<Faults> faults) {
  for (const Faults& fault : faults) {
    if (fault) return fault;
  }
  return std::nullopt;
}

Faults length_fault(const std::string& setting, std::string_view name, const LengthSpec& spec) {
  if (spec.min < 1 || spec.max < spec.min || spec.max > kMaxTokens) {
    return Fault{setting, fmt::format("{} tokens are bounded by {} and {}, expected 1 <= min <= max <= {}", name,
                                      spec.min, spec.max, kMaxTokens)};
  }
  return first_of({within(setting + ".tokens", fmt::format("{} tokens", name), spec.tokens, 1, kMaxTokens),
                   within(setting + ".sigma", fmt::format("sigma of {} tokens", name), spec.sigma, 0.0, 10.0)});
}

/// Two draws; a profile's joint table takes their place.
Faults lengths_fault(const std::string& setting, const LengthsSpec& spec, const std::string& profile) {
  if (spec.joint || !profile.empty()) return std::nullopt;
  return first_of({length_fault(setting + ".input", "input", spec.input),
                   length_fault(setting + ".output", "output", spec.output)});
}

Faults steps_fault(const RateCurve& curve) {
  if (curve.step_rates.empty()) return Fault{"generator.rate", "the curve has no steps, expected at least one"};
  for (std::size_t i = 0; i < curve.step_rates.size(); ++i) {
    const std::string setting = fmt::format("generator.rate.step_rates.{}", i);
    if (Faults fault = rate_fault(setting, "the rate of a step", curve.step_rates[i])) return fault;
  }
  return within("generator.rate.step", "the step", curve.step, std::chrono::milliseconds(1),
                kLongest / static_cast<std::int64_t>(curve.step_rates.size()));
}

Faults curve_fault(const RateCurve& curve) {
  using Kind = RateCurve::Kind;
  constexpr Duration kNone{};
  const Faults rate = rate_fault("generator.rate.rate", "the rate", curve.rate);
  const Faults rates = first_of({rate, rate_fault("generator.rate.peak", "the peak rate", curve.peak)});
  const Faults above = curve.peak >= curve.rate
                           ? Faults()
                           : Fault{"generator.rate.peak", fmt::format("the peak rate is {} per second, expected at "
                                                                      "least the rate, {}",
                                                                      curve.peak, curve.rate)};
  const auto period = [&](Duration min) {
    return within("generator.rate.period", "the period", curve.period, min, kLongest);
  };
  const auto length = [&](Duration min, Duration max) {
    return within("generator.rate.length", "the length", curve.length, min, max);
  };
  const Faults start = within("generator.rate.start", "the start", curve.start, kNone, kLongest);
  switch (curve.kind) {
    case Kind::constant:
      return rate;
    case Kind::diurnal:
      return first_of({rates, above, period(std::chrono::minutes(1)), start});
    case Kind::spike:
      return first_of({rates, above, start, length(std::chrono::milliseconds(1), kLongest)});
    case Kind::ramp:
      return first_of({rates, start, length(std::chrono::milliseconds(1), kLongest)});
    case Kind::on_off:
      return first_of({rates, period(std::chrono::seconds(1)), length(kNone, curve.period)});
    case Kind::piecewise:
      return steps_fault(curve);
  }
  return Fault{"generator.rate", "the rate has no kind"};
}

Faults generator_fault(const GeneratorSpec& spec) {
  if (Faults fault = first_of({curve_fault(spec.rate), lengths_fault("generator", spec.lengths, spec.lengths_profile)}))
    return fault;
  if (spec.arrivals.process != ArrivalSpec::Process::poisson) {
    const double shape = spec.arrivals.shape;
    if (Faults fault = within("generator.arrivals.shape", "the shape of the arrivals", shape, 0.1, 100.0)) return fault;
  }
  if (!spec.sessions) return std::nullopt;
  const SessionSpec& sessions = *spec.sessions;
  const std::string at = "generator.sessions.";
  return first_of(
      {within(at + "turns_mean", "the mean number of turns", sessions.turns_mean, 1.0, 1000.0),
       within(at + "turn_gap_mean", "the mean gap of turns", sessions.turn_gap_mean, Duration{}, kLongest / 100),
       within(at + "max_context", "the longest context", sessions.max_context, 1, kMaxTokens),
       within(at + "system_tokens", "the system prompt", sessions.system_tokens, 0, sessions.max_context - 1)});
}

Faults closed_loop_fault(const ClosedLoopSpec& loop, double scale) {
  const double concurrency = static_cast<double>(loop.concurrency) * scale + 0.5;
  constexpr Duration kLongestThink = std::chrono::hours(24);
  return first_of({lengths_fault("closed_loop", loop.lengths, loop.lengths_profile),
                   within("closed_loop.concurrency", "the concurrency", concurrency, 1.0, 1e6),
                   within("closed_loop.think_time", "the think time", loop.think_time, Duration{}, kLongestThink),
                   within("closed_loop.requests", "the number of requests", loop.requests.value_or(0), RequestCount{0},
                          kMaxClosedLoopRequests)});
}

}  // namespace

std::optional<Fault> find_fault(const WorkloadSpec& spec) {
  if (Faults fault = first_of(
          {within("scale", "the scale", spec.scale, 1e-6, 1e5),
           within("scale_jitter", "the jitter of copies", spec.scale_jitter, Duration{}, std::chrono::hours(1)),
           within("duration", "the duration", spec.duration.value_or(kLongest), Duration(1), kLongest)})) {
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
