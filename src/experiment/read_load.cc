#include <fmt/format.h>

#include "experiment/read_parts.h"
#include "manifest/scalars.h"
#include "workload/check.h"

namespace capstan::experiment {

using manifest::Fields;
using manifest::Node;
using manifest::Verdict;
namespace {

void read_length(Fields& from, std::string_view key, workload::LengthSpec& out, Verdict& verdict) {
  const Node* node = from.take(key);
  if (node == nullptr) return;
  if (node->kind == Node::Kind::scalar) {
    out = {};
    return from.integer(key, out.tokens);
  }
  Fields fields(*node, fmt::format("{}.{}", from.what(), key), verdict);
  using Kind = workload::LengthSpec::Kind;
  fields.choice<Kind>("kind", out.kind,
                      {{"constant", Kind::constant}, {"uniform", Kind::uniform}, {"log_normal", Kind::log_normal}});
  fields.integer("tokens", out.tokens);
  fields.number("sigma", out.sigma);
  fields.integer("min", out.min);
  fields.integer("max", out.max);
  fields.finish();
}

void read_lengths(Fields& fields, workload::LengthsSpec& lengths, std::string& profile, Verdict& verdict) {
  fields.text("lengths_profile", profile);
  read_length(fields, "input", lengths.input, verdict);
  read_length(fields, "output", lengths.output, verdict);
}

void read_rate(const Node& node, workload::RateCurve& rate, Verdict& verdict) {
  Fields fields(node, "rate", verdict);
  using Kind = workload::RateCurve::Kind;
  fields.choice<Kind>("kind", rate.kind,
                      {{"constant", Kind::constant},
                       {"diurnal", Kind::diurnal},
                       {"ramp", Kind::ramp},
                       {"spike", Kind::spike},
                       {"on_off", Kind::on_off},
                       {"piecewise", Kind::piecewise}});
  fields.number("rate", rate.rate);
  fields.number("peak", rate.peak);
  fields.duration("period", rate.period);
  fields.duration("start", rate.start);
  fields.duration("length", rate.length);
  fields.duration("step", rate.step);
  for (const Node& step : fields.list("step_rates")) {
    const auto value = step.kind == Node::Kind::scalar ? manifest::read_number(step.text) : std::nullopt;
    if (!value) {
      return verdict.fail(step.place,
                          fmt::format("rate.step_rates: found {}, expected requests per second", step.words()));
    }
    rate.step_rates.push_back(*value);
  }
  fields.finish();
}

workload::GeneratorSpec read_generator(const Node& node, Verdict& verdict) {
  workload::GeneratorSpec spec;
  Fields fields(node, "load.generator", verdict);
  if (const Node* rate = fields.need("rate")) {
    const bool constant = rate->kind == Node::Kind::scalar;
    constant ? fields.number("rate", spec.rate.rate) : read_rate(*rate, spec.rate, verdict);
  }
  if (const Node* arrivals = fields.take("arrivals")) {
    Fields process(*arrivals, "load.generator.arrivals", verdict);
    using Process = workload::ArrivalSpec::Process;
    process.choice<Process>("process", spec.arrivals.process,
                            {{"poisson", Process::poisson}, {"gamma", Process::gamma}, {"weibull", Process::weibull}});
    process.number("shape", spec.arrivals.shape);
    process.finish();
  }
  read_lengths(fields, spec.lengths, spec.lengths_profile, verdict);
  if (const Node* node_of_sessions = fields.take("sessions")) {
    workload::SessionSpec& sessions = spec.sessions.emplace();
    Fields session(*node_of_sessions, "load.generator.sessions", verdict);
    session.number("turns_mean", sessions.turns_mean);
    session.duration("turn_gap_mean", sessions.turn_gap_mean);
    session.integer("system_tokens", sessions.system_tokens);
    session.integer("max_context", sessions.max_context);
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
  fields.integer("concurrency", spec.concurrency);
  fields.duration("think_time", spec.think_time);
  fields.boolean("think_exponential", spec.think_exponential);
  if (fields.take("requests") != nullptr) fields.integer("requests", spec.requests.emplace(1));
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
  if (fields.take("duration") != nullptr) fields.duration("duration", load.duration.emplace());
  fields.number("scale", load.scale);
  fields.duration("scale_jitter", load.scale_jitter);
  fields.finish();
  if (!verdict.ok()) return;
  if (const std::optional<workload::Fault> fault = workload::find_fault(load)) {
    verdict.fail(nearest(node, fault->setting).place, fmt::format("load.{}: {}", fault->setting, fault->message));
  }
}

}  // namespace capstan::experiment
