#include "plan/search/load_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace capstan::plan {

namespace {

using namespace std::chrono_literals;

workload::LengthSpec length_of(const TokenSpec& tokens) {
  workload::LengthSpec length;
  const bool varies = tokens.sigma > 0;
  length.kind = varies ? workload::LengthSpec::Kind::log_normal : workload::LengthSpec::Kind::constant;
  length.tokens = tokens.median;
  length.sigma = tokens.sigma;
  length.min = 1;
  length.max = std::max(tokens.median, tokens.longest);
  return length;
}

double seconds_of(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

workload::WorkloadSpec workload_of(const LoadSpec& load) {
  workload::WorkloadSpec workload;
  workload.scale = load.scale;
  if (load.duration > 0s) workload.duration = load.duration;
  if (load.source == LoadSpec::Source::trace) {
    workload.from = workload::TraceSpec{load.from};
  } else if (load.source == LoadSpec::Source::profile) {
    workload.from = workload::ProfileSpec{load.profile_text.empty() ? load.from : load.profile_text};
  } else {
    workload::GeneratorSpec generator;
    using Kind = workload::RateCurve::Kind;
    const bool bursts = load.burst_factor > 1 && load.burst_length > 0s && load.burst_every > load.burst_length;
    generator.rate.kind = bursts ? Kind::on_off : Kind::constant;
    generator.rate.rate = load.requests_per_s;
    generator.rate.peak = load.requests_per_s * load.burst_factor;
    generator.rate.period = load.burst_every;
    generator.rate.length = load.burst_length;
    generator.lengths.input = length_of(load.prompt);
    generator.lengths.output = length_of(load.answer);
    workload.from = generator;
  }
  return workload;
}

std::string load_place(const ServiceSpec& service) {
  const std::string& place = service.load.place;
  return (place.empty() ? "" : place + ": ") + "services." + service.name + ".load";
}

Result<LoadFacts> count_load(const ServiceSpec& service) {
  const LoadSpec& load = service.load;
  auto source = workload::open(workload_of(load), 1);
  if (!source) return std::unexpected(source.error());
  LoadFacts facts;
  std::map<std::int64_t, RequestCount> by_window;
  std::vector<Duration> arrivals;
  double prompts = 0, answers = 0;
  workload::Request request;
  while ((*source)->next(request)) {
    if (facts.requests == kMaxSimulatedRequests) {
      facts.is_whole = false;
      break;
    }
    ++facts.requests;
    facts.length = request.arrival.since_start;
    arrivals.push_back(facts.length);
    ++by_window[facts.length / kPeakWindow];
    prompts += request.input_tokens;
    answers += request.output_tokens;
  }
  if (auto error = (*source)->error()) {
    if (!load.place.empty()) error->message += fmt::format(" ({} names this file)", load_place(service));
    return std::unexpected(std::move(*error));
  }
  if (facts.requests == 0) {
    Error none = Error::about(
        load_place(service),
        "no request arrives in the load, expected at least one; the nearest that is possible is a longer duration or a "
        "higher scale");
    none.kind = ErrorKind::infeasible;
    return std::unexpected(std::move(none));
  }
  const auto requests = static_cast<double>(facts.requests);
  facts.prompt_tokens = prompts / requests;
  facts.answer_tokens = answers / requests;
  if (facts.is_whole) facts.length = std::max({facts.length, load.duration, Duration(1s)});
  const auto time_of = [&](RequestCount count) {
    return count >= facts.requests ? facts.length : arrivals[static_cast<std::size_t>(count)];
  };
  const RequestCount coarse = std::clamp(facts.requests / 20, kMinCoarseRequests, kMaxCoarseRequests);
  facts.coarse_length = std::clamp<Duration>(time_of(coarse), 1s, facts.length);
  const double window_s = std::min(seconds_of(kPeakWindow), seconds_of(facts.length));
  for (const auto& [window, count] : by_window) {
    facts.peak_per_s = std::max(facts.peak_per_s, static_cast<double>(count) / window_s);
  }
  facts.mean_per_s = requests / seconds_of(facts.length);
  facts.first_per_s = static_cast<double>(by_window[0]) / window_s;
  if (load.source == LoadSpec::Source::generated) {
    facts.first_per_s = load.requests_per_s;
    const Duration cycle = std::min({load.burst_every, facts.length, time_of(kMaxCoarseCycleRequests)});
    facts.coarse_length = std::max(facts.coarse_length, cycle);
  }
  return facts;
}

}  // namespace capstan::plan
