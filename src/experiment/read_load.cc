#include <fmt/format.h>

#include "experiment/read_parts.h"
#include "manifest/scalars.h"
#include "workload/check.h"

namespace capstan::experiment {

using manifest::Fields;
using manifest::Node;
using manifest::Verdict;
using namespace std::chrono_literals;

namespace {

constexpr double kMaxRate = 1e7;

void read_length(Fields& from, std::string_view key, workload::LengthSpec& out, Verdict& verdict) {
  const Node* node = from.take(key);
  if (node == nullptr) return;
  if (node->kind == Node::Kind::scalar) {
    const auto tokens = manifest::read_integer(node->text);
    if (!tokens || *tokens < 1 || *tokens > workload::kMaxTokens) {
      return verdict.fail(node->place, fmt::format("{}.{}: found {}, expected a number of tokens or a mapping",
                                                   from.what(), key, node->words()));
    }
    out = {};
    out.tokens = static_cast<std::int32_t>(*tokens);
    return;
  }
  Fields fields(*node, fmt::format("{}.{}", from.what(), key), verdict);
  using Kind = workload::LengthSpec::Kind;
  fields.choice<Kind>("kind", out.kind,
                      {{"constant", Kind::constant}, {"uniform", Kind::uniform}, {"log_normal", Kind::log_normal}});
  // Only the keys of the kind: another one would be ignored, and somebody meant something by it.
  if (out.kind != Kind::uniform) fields.integer("tokens", out.tokens, 1, workload::kMaxTokens);
  if (out.kind == Kind::log_normal) fields.number("sigma", out.sigma, 0, 10);
  if (out.kind != Kind::constant) {
    fields.integer("min", out.min, 1, workload::kMaxTokens);
    fields.integer("max", out.max, 1, workload::kMaxTokens);
  }
  fields.finish();
  if (verdict.ok() && out.min > out.max) {
    verdict.fail(node->place, fmt::format("{}: min {} is above max {}", fields.what(), out.min, out.max));
  }
}

void read_lengths(Fields& fields, workload::LengthsSpec& lengths, std::string& profile, Verdict& verdict) {
  fields.text("lengths_profile", profile);
  read_length(fields, "input", lengths.input, verdict);
  read_length(fields, "output", lengths.output, verdict);
}

void read_steps(Fields& fields, workload::RateCurve& rate, Verdict& verdict) {
  if (fields.need("step") != nullptr) fields.duration("step", rate.step, 1ms, 8784h);
  fields.need("step_rates");
  for (const Node& step : fields.list("step_rates")) {
    const auto value = step.kind == Node::Kind::scalar ? manifest::read_number(step.text) : std::nullopt;
    if (!value || *value < 0 || *value > kMaxRate) {
      verdict.fail(step.place, fmt::format("rate.step_rates: found {}, expected requests per second", step.words()));
      return;
    }
    rate.step_rates.push_back(*value);
  }
}

/// The keys of a curve between `rate` and `peak`, which differ by its kind.
void read_curve(Fields& fields, workload::RateCurve& rate) {
  using Kind = workload::RateCurve::Kind;
  const bool repeats = rate.kind == Kind::diurnal || rate.kind == Kind::on_off;
  if (fields.need("peak") != nullptr) fields.number("peak", rate.peak, 0, kMaxRate);
  if (repeats && fields.need("period") != nullptr) fields.duration("period", rate.period, 1s, 8784h);
  if (rate.kind != Kind::on_off) fields.duration("start", rate.start, 0s, 8784h);
  if (rate.kind != Kind::diurnal && fields.need("length") != nullptr) {
    fields.duration("length", rate.length, 0s, 8784h);
  }
}

void read_rate(const Node& node, workload::RateCurve& rate, Verdict& verdict) {
  if (node.kind == Node::Kind::scalar) {
    const auto constant = manifest::read_number(node.text);
    if (!constant || *constant < 0 || *constant > kMaxRate) {
      verdict.fail(node.place, fmt::format("rate: found {}, expected requests per second or a mapping", node.words()));
    } else {
      rate.rate = *constant;
    }
    return;
  }
  Fields fields(node, "rate", verdict);
  using Kind = workload::RateCurve::Kind;
  fields.choice<Kind>("kind", rate.kind,
                      {{"constant", Kind::constant},
                       {"diurnal", Kind::diurnal},
                       {"ramp", Kind::ramp},
                       {"spike", Kind::spike},
                       {"on_off", Kind::on_off},
                       {"piecewise", Kind::piecewise}});
  // Only the keys of the kind: another one would be ignored, and somebody meant something by it.
  if (rate.kind == Kind::piecewise) {
    read_steps(fields, rate, verdict);
  } else {
    fields.number("rate", rate.rate, 0, kMaxRate);
    if (rate.kind != Kind::constant) read_curve(fields, rate);
  }
  fields.finish();
}

workload::GeneratorSpec read_generator(const Node& node, Verdict& verdict) {
  workload::GeneratorSpec spec;
  Fields fields(node, "load.generator", verdict);
  if (const Node* rate = fields.need("rate")) read_rate(*rate, spec.rate, verdict);
  if (const Node* arrivals = fields.take("arrivals")) {
    Fields process(*arrivals, "load.generator.arrivals", verdict);
    using Process = workload::ArrivalSpec::Process;
    process.choice<Process>("process", spec.arrivals.process,
                            {{"poisson", Process::poisson}, {"gamma", Process::gamma}, {"weibull", Process::weibull}});
    if (spec.arrivals.process != Process::poisson) process.number("shape", spec.arrivals.shape, 0.1, 100);
    process.finish();
  }
  read_lengths(fields, spec.lengths, spec.lengths_profile, verdict);
  if (const Node* node_of_sessions = fields.take("sessions")) {
    workload::SessionSpec& sessions = spec.sessions.emplace();
    Fields session(*node_of_sessions, "load.generator.sessions", verdict);
    session.number("turns_mean", sessions.turns_mean, 1, 1000);
    session.duration("turn_gap_mean", sessions.turn_gap_mean, 0s, 24h);
    session.integer("system_tokens", sessions.system_tokens, 0, workload::kMaxTokens);
    session.integer("max_context", sessions.max_context, 1, workload::kMaxTokens);
    session.finish();
  }
  fields.finish();
  return spec;
}

/// Where a setting stands: its node, or the nearest around it that the file has.
const Node& nearest(const Node& load, std::string_view setting) {
  const std::size_t dot = setting.find('.');
  const std::string_view step = setting.substr(0, dot);
  const auto position = manifest::read_integer(step);
  const Node* inside = load.kind == Node::Kind::sequence && position
                           ? &load.items.at(static_cast<std::size_t>(*position))
                           : load.find(step);
  if (inside == nullptr || dot == std::string_view::npos) return inside == nullptr ? load : *inside;
  return nearest(*inside, setting.substr(dot + 1));
}

workload::ClosedLoopSpec read_closed_loop(const Node& node, Verdict& verdict) {
  workload::ClosedLoopSpec spec;
  Fields fields(node, "load.closed_loop", verdict);
  fields.integer("concurrency", spec.concurrency, 1, 1'000'000);
  fields.duration("think_time", spec.think_time, 0s, 24h);
  fields.boolean("think_exponential", spec.think_exponential);
  if (fields.take("requests") != nullptr) fields.integer("requests", spec.requests.emplace(1), 1, 1'000'000'000);
  read_lengths(fields, spec.lengths, spec.lengths_profile, verdict);
  fields.finish();
  return spec;
}

}  // namespace

void read_load(const Node& node, workload::WorkloadSpec& load, Verdict& verdict) {
  Fields fields(node, "load", verdict);
  const Node* trace = fields.take("trace");
  const Node* profile = fields.take("profile");
  const Node* generator = fields.take("generator");
  const Node* closed_loop = fields.take("closed_loop");
  const int sources = (trace != nullptr) + (profile != nullptr) + (generator != nullptr) + (closed_loop != nullptr);
  if (sources != 1) {
    verdict.fail(
        node.place,
        fmt::format("load names {} sources, expected one of trace, profile, generator or closed_loop", sources));
  }
  workload::TraceSpec from_trace;
  workload::ProfileSpec from_profile;
  fields.text("trace", from_trace.path);
  fields.text("profile", from_profile.name);
  if (trace != nullptr) load.from = from_trace;
  if (profile != nullptr) load.from = from_profile;
  if (generator != nullptr) load.from = read_generator(*generator, verdict);
  if (closed_loop != nullptr) load.from = read_closed_loop(*closed_loop, verdict);
  if (fields.take("duration") != nullptr) fields.duration("duration", load.duration.emplace(), 1s, 8784h);
  fields.number("scale", load.scale, 1e-6, 1e5);
  fields.duration("scale_jitter", load.scale_jitter, 0s, 1h);
  fields.finish();
  // What is right by itself may still be wrong with the rest of it, or more than the workload takes.
  if (!verdict.ok()) return;
  if (const std::optional<workload::Fault> fault = workload::find_fault(load)) {
    verdict.fail(nearest(node, fault->setting).place, fmt::format("load.{}: {}", fault->setting, fault->message));
  }
}

}  // namespace capstan::experiment
