#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "workload/arrivals.h"
#include "workload/check.h"
#include "workload/generator.h"
#include "workload/profile.h"
#include "workload/spec.h"
#include "workload/superpose.h"
#include "workload/trace.h"

namespace capstan::workload {
namespace {

constexpr std::int64_t kWhole = 1'000'000;  // a scale of 1, in millionths
constexpr std::int64_t kMaxMinuteRequests = 600'000'000;

/// Ends a stream at a time limit.
class LimitedSource final : public Source {
 public:
  LimitedSource(std::unique_ptr<Source> source, Duration limit) : source_(std::move(source)), limit_(limit) {}

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

/// Moves all requests of a recorded load to later times.
class DelayedSource final : public Source {
 public:
  DelayedSource(std::unique_ptr<Source> source, Duration by) : source_(std::move(source)), by_(by) {}

  bool next(Request& request) override { return fill(std::span(&request, 1)) == 1; }
  std::size_t fill(std::span<Request> out) override {
    const std::size_t count = source_->fill(out);
    for (Request& request : out.first(count)) request.arrival = request.arrival + by_;
    return count;
  }
  std::optional<Error> error() const override { return source_->error(); }
  double progress() const override { return source_->progress(); }

 private:
  std::unique_ptr<Source> source_;
  Duration by_;
};

std::unexpected<Error> infeasible(std::string message) {
  return std::unexpected(
      Error{.kind = ErrorKind::infeasible, .file = {}, .message = "workload: " + std::move(message)});
}

std::int64_t ppm(double scale) { return static_cast<std::int64_t>(scale * static_cast<double>(kWhole) + 0.5); }

Result<std::unique_ptr<Source>> open_scaled_trace(const TraceSpec& trace, const WorkloadSpec& spec,
                                                  std::uint64_t seed) {
  Result<std::unique_ptr<ByteStream>> bytes = open_bytes(trace.path);
  if (!bytes) return std::unexpected(bytes.error());
  Result<std::unique_ptr<Source>> source = open_trace(std::move(*bytes));
  if (!source || ppm(spec.scale) == kWhole) return source;
  return std::make_unique<SuperposedTrace>(std::move(*source), ppm(spec.scale), spec.scale_jitter, seed);
}

Result<std::unique_ptr<Source>> open_profile(const ProfileSpec& named, const WorkloadSpec& spec, std::uint64_t seed) {
  Result<Profile> profile = find_profile(named.name);
  if (!profile) return std::unexpected(profile.error());
  const std::int64_t busiest_minute = profile->minutes.empty() ? 0 : std::ranges::max(profile->minutes);
  if (static_cast<double>(busiest_minute) * spec.scale > static_cast<double>(kMaxMinuteRequests)) {
    return infeasible(
        fmt::format("with the scale {} the busiest minute has more than {} requests, expected at most "
                    "that many",
                    spec.scale, kMaxMinuteRequests));
  }
  return std::make_unique<ProfileSource>(std::move(*profile), ppm(spec.scale), seed);
}

/// Completes `lengths` with the profile's table, if a profile is named.
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
  if (!spec.duration && !ends_by_itself(spec)) return infeasible("the load never ends, expected a duration");
  Duration limit = spec.duration.value_or(Duration::max());
  if (generator.rate.kind == RateCurve::Kind::piecewise) {
    limit = std::min(limit, generator.rate.step * static_cast<std::int64_t>(generator.rate.step_rates.size()));
  }
  if (generator.sessions) return std::make_unique<SessionGenerator>(generator, limit, spec.scale, seed);
  return std::make_unique<RequestGenerator>(generator, limit, spec.scale, seed);
}

}  // namespace

Result<std::unique_ptr<Source>> open(const WorkloadSpec& spec, std::uint64_t seed) {
  if (std::optional<Fault> fault = find_fault(spec)) return infeasible(std::move(fault->message));
  if (is_closed_loop(spec)) return infeasible("a closed loop has no arrivals of its own, expected a trace or a rate");
  if (const auto* generator = std::get_if<GeneratorSpec>(&spec.from)) return open_generator(*generator, spec, seed);
  const auto* trace = std::get_if<TraceSpec>(&spec.from);
  Result<std::unique_ptr<Source>> source = trace != nullptr
                                               ? open_scaled_trace(*trace, spec, seed)
                                               : open_profile(std::get<ProfileSpec>(spec.from), spec, seed);
  if (source && spec.start > Duration{}) source = std::make_unique<DelayedSource>(std::move(*source), spec.start);
  if (!source || !spec.duration) return source;
  return std::make_unique<LimitedSource>(std::move(*source), *spec.duration);
}

Result<ClosedLoop> open_closed_loop(const WorkloadSpec& spec, std::uint64_t seed) {
  if (std::optional<Fault> fault = find_fault(spec)) return infeasible(std::move(fault->message));
  if (!is_closed_loop(spec)) return infeasible("the workload has arrivals of its own, expected a closed loop");
  ClosedLoopSpec loop = std::get<ClosedLoopSpec>(spec.from);
  Result<LengthsSpec> lengths = with_profile(std::move(loop.lengths), loop.lengths_profile);
  if (!lengths) return std::unexpected(lengths.error());
  loop.lengths = std::move(*lengths);
  loop.concurrency = static_cast<std::int64_t>(static_cast<double>(loop.concurrency) * spec.scale + 0.5);
  if (!spec.duration && !ends_by_itself(spec)) {
    return infeasible("the load never ends, expected a duration or a number of requests");
  }
  return ClosedLoop(std::move(loop), seed, spec.duration);
}

}  // namespace capstan::workload
