#include <fmt/format.h>

#include "manifest/path.h"
#include "manifest/scalars.h"
#include "scenario/read_parts.h"
#include "workload/bounds.h"
#include "workload/check.h"

namespace capstan::scenario {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;

namespace {

using workload::Bounds;
using workload::kTokens;

void read(Fields& from, std::string_view key, Duration& out, Bounds<Duration> bounds) {
  from.duration(key, out, bounds.min, bounds.max);
}
void read(Fields& from, std::string_view key, double& out, Bounds<double> bounds) {
  from.number(key, out, bounds.min, bounds.max);
}
template <typename Integer>
void read(Fields& from, std::string_view key, Integer& out, Bounds<Integer> bounds) {
  from.integer(key, out, bounds.min, bounds.max);
}

/// Bounds of a rate in a curve, where 0 is possible.
constexpr Bounds<double> kRateOrNone{0, workload::kRate.max};

void read_length(Fields& from, std::string_view key, workload::LengthSpec& out, ErrorList& errors) {
  const Node* node = from.take(key);
  if (node == nullptr) return;
  if (node->kind == Node::Kind::scalar) {
    const auto tokens = manifest::read_integer(node->text);
    if (!tokens || *tokens < kTokens.min || *tokens > kTokens.max) {
      return errors.fail(node->place, fmt::format("{}.{}: found {}, expected a number of tokens or a mapping",
                                                  from.what(), key, node->words()));
    }
    out = {};
    out.tokens = static_cast<std::int32_t>(*tokens);
    return;
  }
  Fields fields(*node, fmt::format("{}.{}", from.what(), key), errors);
  using Kind = workload::LengthSpec::Kind;
  fields.keys_depend_on("kind");
  fields.choice<Kind>("kind", out.kind,
                      {{"constant", Kind::constant}, {"uniform", Kind::uniform}, {"log_normal", Kind::log_normal}});
  // A key of another kind is an error, because it would have no effect.
  if (out.kind != Kind::uniform) read(fields, "tokens", out.tokens, kTokens);
  if (out.kind == Kind::log_normal) read(fields, "sigma", out.sigma, workload::kSigma);
  if (out.kind != Kind::constant) {
    read(fields, "min", out.min, kTokens);
    read(fields, "max", out.max, kTokens);
  }
  fields.finish();
  if (fields.ok() && out.min > out.max) {
    errors.fail(node->place, fmt::format("{}: min {} is above max {}", fields.what(), out.min, out.max));
  }
}

void read_lengths(Fields& fields, workload::LengthsSpec& lengths, std::string& profile, ErrorList& errors) {
  fields.text("lengths_profile", profile);
  read_length(fields, "input", lengths.input, errors);
  read_length(fields, "output", lengths.output, errors);
}

void read_steps(Fields& fields, workload::RateCurve& rate, ErrorList& errors) {
  if (fields.take_required("step") != nullptr) read(fields, "step", rate.step, workload::kRateStep);
  fields.take_required("step_rates");
  for (const Node& step : fields.non_empty_list("step_rates")) {
    const auto value = step.kind == Node::Kind::scalar ? manifest::read_number(step.text) : std::nullopt;
    if (!value || *value < 0 || *value > kRateOrNone.max) {
      errors.fail(step.place,
                  fmt::format("{}.step_rates: found {}, expected requests per second", fields.what(), step.words()));
      continue;
    }
    rate.step_rates.push_back(*value);
  }
}

/// Reads the keys of a rate curve, which depend on its kind.
void read_curve(Fields& fields, workload::RateCurve& rate) {
  using Kind = workload::RateCurve::Kind;
  const bool repeats = rate.kind == Kind::diurnal || rate.kind == Kind::on_off;
  if (fields.take_required("peak") != nullptr) read(fields, "peak", rate.peak, kRateOrNone);
  if (repeats && fields.take_required("period") != nullptr) read(fields, "period", rate.period, workload::kRatePeriod);
  if (rate.kind != Kind::on_off) read(fields, "start", rate.start, workload::kRateStart);
  if (rate.kind != Kind::diurnal && fields.take_required("length") != nullptr) {
    read(fields, "length", rate.length, workload::kRateLength);
  }
}

/// @param what  path of the node, for messages
void read_rate(const Node& node, const std::string& what, workload::RateCurve& rate, ErrorList& errors) {
  if (node.kind == Node::Kind::scalar) {
    const auto constant = manifest::read_number(node.text);
    if (!constant || *constant < 0 || *constant > kRateOrNone.max) {
      errors.fail(node.place,
                  fmt::format("{}: found {}, expected requests per second or a mapping", what, node.words()));
    } else {
      rate.rate = *constant;
    }
    return;
  }
  Fields fields(node, what, errors);
  using Kind = workload::RateCurve::Kind;
  fields.keys_depend_on("kind");
  fields.choice<Kind>("kind", rate.kind,
                      {{"constant", Kind::constant},
                       {"diurnal", Kind::diurnal},
                       {"ramp", Kind::ramp},
                       {"spike", Kind::spike},
                       {"on_off", Kind::on_off},
                       {"piecewise", Kind::piecewise}});
  // A key of another kind is an error, because it would have no effect.
  if (rate.kind == Kind::piecewise) {
    read_steps(fields, rate, errors);
  } else {
    read(fields, "rate", rate.rate, kRateOrNone);
    if (rate.kind != Kind::constant) read_curve(fields, rate);
  }
  fields.finish();
}

workload::GeneratorSpec read_generator(const Node& node, const std::string& what, ErrorList& errors) {
  workload::GeneratorSpec spec;
  Fields fields(node, what, errors);
  const std::string rate_path = what == "load.generator" ? "rate" : what + ".rate";
  if (const Node* rate = fields.take_required("rate")) read_rate(*rate, rate_path, spec.rate, errors);
  if (const Node* arrivals = fields.take("arrivals")) {
    Fields process(*arrivals, what + ".arrivals", errors);
    using Process = workload::ArrivalSpec::Process;
    process.keys_depend_on("process");
    process.choice<Process>("process", spec.arrivals.process,
                            {{"poisson", Process::poisson}, {"gamma", Process::gamma}, {"weibull", Process::weibull}});
    if (spec.arrivals.process != Process::poisson) read(process, "shape", spec.arrivals.shape, workload::kArrivalShape);
    process.finish();
  }
  read_lengths(fields, spec.lengths, spec.lengths_profile, errors);
  if (const Node* node_of_sessions = fields.take("sessions")) {
    workload::SessionSpec& sessions = spec.sessions.emplace();
    Fields session(*node_of_sessions, what + ".sessions", errors);
    read(session, "turns_mean", sessions.turns_mean, workload::kTurnsMean);
    read(session, "turn_gap_mean", sessions.turn_gap_mean, workload::kTurnGapMean);
    read(session, "system_tokens", sessions.system_tokens, Bounds<std::int32_t>{0, kTokens.max});
    read(session, "max_context", sessions.max_context, kTokens);
    session.finish();
  }
  fields.finish();
  return spec;
}

workload::ClosedLoopSpec read_closed_loop(const Node& node, const std::string& what, ErrorList& errors) {
  workload::ClosedLoopSpec spec;
  Fields fields(node, what, errors);
  read(fields, "concurrency", spec.concurrency, workload::kConcurrency);
  read(fields, "think_time", spec.think_time, workload::kThinkTime);
  fields.boolean("think_exponential", spec.think_exponential);
  if (fields.take("requests") != nullptr) {
    read(fields, "requests", spec.requests.emplace(1), workload::kClosedLoopRequests);
  }
  read_lengths(fields, spec.lengths, spec.lengths_profile, errors);
  fields.finish();
  return spec;
}

}  // namespace

void read_load(const Node& node, const std::string& what, workload::WorkloadSpec& load, ErrorList& errors) {
  Fields fields(node, what, errors);
  const Node* trace = fields.take("trace");
  const Node* profile = fields.take("profile");
  const Node* generator = fields.take("generator");
  const Node* closed_loop = fields.take("closed_loop");
  const int sources = (trace != nullptr) + (profile != nullptr) + (generator != nullptr) + (closed_loop != nullptr);
  if (fields.ok() && sources != 1) {
    errors.fail(
        fields.place_for_error({"trace", "profile", "generator", "closed_loop"}),
        fmt::format("{} names {} sources, expected one of trace, profile, generator or closed_loop", what, sources));
  }
  workload::TraceSpec from_trace;
  workload::ProfileSpec from_profile;
  fields.text("trace", from_trace.path);
  fields.text("profile", from_profile.name);
  if (trace != nullptr) load.from = from_trace;
  if (profile != nullptr) load.from = from_profile;
  if (generator != nullptr) load.from = read_generator(*generator, what + ".generator", errors);
  if (closed_loop != nullptr) load.from = read_closed_loop(*closed_loop, what + ".closed_loop", errors);
  if (fields.take("duration") != nullptr) read(fields, "duration", load.duration.emplace(), workload::kDuration);
  const Node* start = fields.take("start");
  read(fields, "start", load.start, workload::kStart);
  if (start != nullptr && trace == nullptr && profile == nullptr) {
    errors.fail(start->place, what + ".start: found without a recorded load, expected a trace or a profile");
  }
  read(fields, "scale", load.scale, workload::kScale);
  read(fields, "scale_jitter", load.scale_jitter, workload::kScaleJitter);
  fields.finish();
  // Valid fields can still contradict each other or exceed a limit of the workload.
  if (!fields.ok()) return;
  if (const std::optional<workload::Fault> fault = workload::find_fault(load)) {
    const std::vector<std::string> setting = {fault->setting};
    errors.fail(manifest::place_for_error(node, setting),
                fmt::format("{}.{}: {}", what, fault->setting, fault->message));
  }
}

}  // namespace capstan::scenario
