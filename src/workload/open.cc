#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "workload/arrivals.h"
#include "workload/generator.h"
#include "workload/profile.h"
#include "workload/scan.h"
#include "workload/spec.h"
#include "workload/superpose.h"
#include "workload/trace.h"

namespace capstan::workload {
namespace {

constexpr std::int64_t kWhole = 1'000'000;  // parts of a scale of 1
constexpr double kMaxScale = 100'000;
constexpr double kMaxRate = 1e7;   // requests/s
constexpr double kMinRate = 1e-6;  // below it, and not 0: years between requests
constexpr std::int64_t kMaxMinuteRequests = 600'000'000;
constexpr Duration kMaxDuration = std::chrono::seconds(kMaxSeconds);

/// Cuts a stream at a moment.
class Limited final : public Source {
 public:
  Limited(std::unique_ptr<Source> source, Duration limit) : source_(std::move(source)), limit_(limit) {}

  bool next(Request& request) override { return fill(std::span(&request, 1)) == 1; }
  std::size_t fill(std::span<Request> out) override {
    if (ended_) return 0;
    const std::size_t count = source_->fill(out);
    if (count > 0) reached_ = out[count - 1].arrival.since_start;
    if (count == 0 || out[count - 1].arrival.since_start < limit_) return count;
    ended_ = true;
    const auto cut = std::ranges::lower_bound(out.first(count), Instant{limit_}, {}, &Request::arrival);
    return static_cast<std::size_t>(cut - out.begin());
  }
  std::optional<Error> error() const override { return ended_ ? std::nullopt : source_->error(); }
  double progress() const override {
    const double by_time = static_cast<double>(reached_.count()) / static_cast<double>(limit_.count());
    return ended_ ? 1 : std::max(by_time, source_->progress());
  }

 private:
  std::unique_ptr<Source> source_;
  Duration limit_;
  Duration reached_{};
  bool ended_ = false;
};

/// The first thing that is wrong with a workload's settings, or nothing.
using Fault = std::optional<std::string>;

std::string seconds(Duration duration) { return fmt::format("{} s", static_cast<double>(duration.count()) * 1e-9); }

Fault within(std::string_view name, double value, double min, double max) {
  if (value >= min && value <= max) return std::nullopt;  // NaN is not
  return fmt::format("{} is {}, expected {} to {}", name, value, min, max);
}

Fault within(std::string_view name, Duration value, Duration min, Duration max) {
  if (value >= min && value <= max) return std::nullopt;
  return fmt::format("{} is {}, expected {} to {}", name, seconds(value), seconds(min), seconds(max));
}

Fault rate_fault(std::string_view name, double rate) {
  if (rate == 0 || (rate >= kMinRate && rate <= kMaxRate)) return std::nullopt;
  return fmt::format("{} is {} per second, expected 0 or {} to {}", name, rate, kMinRate, kMaxRate);
}

Fault first_of(std::initializer_list<Fault> faults) {
  for (const Fault& fault : faults) {
    if (fault) return fault;
  }
  return std::nullopt;
}

Fault length_fault(std::string_view name, const LengthSpec& spec) {
  if (spec.min < 1 || spec.max < spec.min || spec.max > kMaxTokens) {
    return fmt::format("{} tokens are bounded by {} and {}, expected 1 <= min <= max <= {}", name, spec.min, spec.max,
                       kMaxTokens);
  }
  return first_of({within(fmt::format("{} tokens", name), spec.tokens, 1, kMaxTokens),
                   within(fmt::format("sigma of {} tokens", name), spec.sigma, 0, 10)});
}

Fault lengths_fault(const LengthsSpec& spec) {
  if (spec.joint) return std::nullopt;
  return first_of({length_fault("input", spec.input), length_fault("output", spec.output)});
}

Fault curve_fault(const RateCurve& curve) {
  using Kind = RateCurve::Kind;
  constexpr Duration kNone{};
  constexpr Duration kCycle = std::chrono::seconds(1);
  const Fault rates = first_of({rate_fault("the rate", curve.rate), rate_fault("the peak rate", curve.peak)});
  switch (curve.kind) {
    case Kind::constant:
      return rate_fault("the rate", curve.rate);
    case Kind::diurnal:
      return first_of({rates, within("the period", curve.period, std::chrono::minutes(1), kMaxDuration),
                       within("the start", curve.start, kNone, kMaxDuration)});
    case Kind::ramp:
    case Kind::spike:
      return first_of({rates, within("the start", curve.start, kNone, kMaxDuration),
                       within("the length", curve.length, std::chrono::milliseconds(1), kMaxDuration)});
    case Kind::on_off:
      return first_of({rates, within("the period", curve.period, kCycle, kMaxDuration),
                       within("the length", curve.length, kNone, curve.period)});
    case Kind::piecewise:
      if (curve.step_rates.empty()) return "the curve has no steps, expected at least one";
      for (double rate : curve.step_rates) {
        if (Fault fault = rate_fault("the rate of a step", rate)) return fault;
      }
      return within("the step", curve.step, std::chrono::milliseconds(1),
                    kMaxDuration / static_cast<std::int64_t>(curve.step_rates.size()));
  }
  return "the rate has no kind";
}

Fault generator_fault(const GeneratorSpec& spec) {
  if (Fault fault = first_of({curve_fault(spec.rate), lengths_fault(spec.lengths)})) return fault;
  if (spec.arrivals.process != ArrivalSpec::Process::poisson) {
    if (Fault fault = within("the shape of the arrivals", spec.arrivals.shape, 0.1, 100)) return fault;
  }
  if (!spec.sessions) return std::nullopt;
  const SessionSpec& sessions = *spec.sessions;
  return first_of({within("the mean number of turns", sessions.turns_mean, 1, 1000),
                   within("the mean gap of turns", sessions.turn_gap_mean, Duration{}, kMaxDuration / 1000),
                   within("the longest context", sessions.max_context, 1, kMaxTokens),
                   within("the system prompt", sessions.system_tokens, 0, sessions.max_context - 1)});
}

std::unexpected<Error> infeasible(std::string message) {
  return std::unexpected(
      Error{.kind = ErrorKind::infeasible, .file = {}, .message = "workload: " + std::move(message)});
}

std::int64_t ppm(double scale) { return static_cast<std::int64_t>(scale * static_cast<double>(kWhole) + 0.5); }

Fault common_fault(const WorkloadSpec& spec) {
  if (Fault fault = within("the scale", spec.scale, 1e-6, kMaxScale)) return fault;
  if (Fault fault = within("the jitter of copies", spec.scale_jitter, Duration{}, std::chrono::hours(1))) return fault;
  if (spec.duration) return within("the duration", *spec.duration, Duration(1), kMaxDuration);
  return std::nullopt;
}

Result<std::unique_ptr<Source>> open_scaled_trace(const TraceSpec& trace, const WorkloadSpec& spec,
                                                  std::uint64_t seed) {
  Result<std::unique_ptr<ByteStream>> bytes = open_bytes(trace.path);
  if (!bytes) return std::unexpected(bytes.error());
  Result<std::unique_ptr<Source>> source = open_trace(std::move(*bytes));
  if (!source || ppm(spec.scale) == kWhole) return source;
  return std::make_unique<Superposed>(std::move(*source), ppm(spec.scale), spec.scale_jitter, seed);
}

Result<std::unique_ptr<Source>> open_profile(const ProfileSpec& named, const WorkloadSpec& spec, std::uint64_t seed) {
  Result<Profile> profile = find_profile(named.name);
  if (!profile) return std::unexpected(profile.error());
  const std::int64_t most = profile->minutes.empty() ? 0 : std::ranges::max(profile->minutes);
  if (static_cast<double>(most) * spec.scale > static_cast<double>(kMaxMinuteRequests)) {
    return infeasible(fmt::format("the scale {} makes more than {} requests a minute, expected fewer", spec.scale,
                                  kMaxMinuteRequests));
  }
  return std::make_unique<ProfileSource>(std::move(*profile), ppm(spec.scale), seed);
}

/// Completes `lengths` with the profile's table, where one is named.
Result<LengthsSpec> with_profile(LengthsSpec lengths, const std::string& profile_name) {
  if (profile_name.empty()) return lengths;
  Result<Profile> profile = find_profile(profile_name);
  if (!profile) return std::unexpected(profile.error());
  lengths.joint = profile->lengths;
  return lengths;
}

Result<std::unique_ptr<Source>> open_generator(GeneratorSpec generator, const WorkloadSpec& spec, std::uint64_t seed) {
  Result<LengthsSpec> lengths = with_profile(std::move(generator.lengths), generator.lengths_profile);
  if (!lengths) return std::unexpected(lengths.error());
  generator.lengths = std::move(*lengths);
  if (Fault fault = generator_fault(generator)) return infeasible(std::move(*fault));
  const bool piecewise = generator.rate.kind == RateCurve::Kind::piecewise;
  if (!piecewise && !spec.duration) return infeasible("the load never ends, expected a duration");
  Duration limit = spec.duration.value_or(Duration::max());
  if (piecewise) {
    limit = std::min(limit, generator.rate.step * static_cast<std::int64_t>(generator.rate.step_rates.size()));
  }
  if (generator.sessions) return std::make_unique<SessionGenerator>(generator, limit, spec.scale, seed);
  return std::make_unique<RequestGenerator>(generator, limit, spec.scale, seed);
}

}  // namespace

Result<std::unique_ptr<Source>> open(const WorkloadSpec& spec, std::uint64_t seed) {
  if (Fault fault = common_fault(spec)) return infeasible(std::move(*fault));
  if (is_closed_loop(spec)) return infeasible("a closed loop has no arrivals of its own, expected a trace or a rate");
  if (const auto* generator = std::get_if<GeneratorSpec>(&spec.from)) return open_generator(*generator, spec, seed);
  const auto* trace = std::get_if<TraceSpec>(&spec.from);
  Result<std::unique_ptr<Source>> source = trace != nullptr
                                               ? open_scaled_trace(*trace, spec, seed)
                                               : open_profile(std::get<ProfileSpec>(spec.from), spec, seed);
  if (!source || !spec.duration) return source;
  return std::make_unique<Limited>(std::move(*source), *spec.duration);
}

Result<ClosedLoop> open_closed_loop(const WorkloadSpec& spec, std::uint64_t seed) {
  if (Fault fault = common_fault(spec)) return infeasible(std::move(*fault));
  if (!is_closed_loop(spec)) return infeasible("the workload is no closed loop, expected one");
  ClosedLoopSpec loop = std::get<ClosedLoopSpec>(spec.from);
  Result<LengthsSpec> lengths = with_profile(std::move(loop.lengths), loop.lengths_profile);
  if (!lengths) return std::unexpected(lengths.error());
  loop.lengths = std::move(*lengths);
  const double concurrency = static_cast<double>(loop.concurrency) * spec.scale + 0.5;
  if (Fault fault = first_of({lengths_fault(loop.lengths), within("the concurrency", concurrency, 1, 1e6),
                              within("the think time", loop.think_time, Duration{}, std::chrono::hours(24 * 365))})) {
    return infeasible(std::move(*fault));
  }
  loop.concurrency = static_cast<std::int64_t>(concurrency);
  if (!loop.requests && !spec.duration)
    return infeasible("the load never ends, expected a duration or a number of requests");
  if (loop.requests && *loop.requests < 0) return infeasible("the number of requests is negative, expected 0 or more");
  return ClosedLoop(std::move(loop), seed, spec.duration);
}

}  // namespace capstan::workload
