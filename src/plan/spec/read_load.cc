#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/step_model.h"
#include "plan/spec/read_parts.h"
#include "workload/spec.h"

namespace capstan::plan {

namespace {

using manifest::Fields;
using manifest::Node;
using manifest::Verdict;
using namespace std::chrono_literals;

constexpr double kDefaultRequestsPerS = 1;
constexpr TokenSpec kChatPrompt{.median = 1000, .sigma = 0.8, .longest = 16384};  // Azure 2023, conversation
constexpr TokenSpec kChatAnswer{.median = 200, .sigma = 0.6, .longest = 2048};

void read_spec_tokens(Fields& fields, std::string_view key, TokenSpec& out, DefaultList& defaults, Verdict& verdict) {
  defaults.note(fields, key, fmt::format("median {}, log-normal", out.median),
                "like the conversations of the Azure trace of 2023");
  const Node* node = fields.take(key);
  if (node == nullptr) return;
  if (node->kind == Node::Kind::scalar) {
    out = {};
    fields.integer(key, out.median, 1, 1 << 24);
    out.longest = out.median;
    return;
  }
  Fields parts(*node, fmt::format("{}.{}", fields.what(), key), verdict);
  parts.integer("median", out.median, 1, 1 << 24);
  parts.number("sigma", out.sigma, 0, 10);
  out.longest = std::max(out.longest, out.median);
  parts.integer("longest", out.longest, 1, 1 << 24);
  parts.finish();
  if (parts.ok() && out.longest < out.median) {
    verdict.fail(node->place,
                 fmt::format("{}: longest {} is below the median {}", parts.what(), out.longest, out.median));
  }
}

/// Returns the mean of a log-normal number of tokens, without its upper bound.
double mean_tokens(const TokenSpec& tokens) { return tokens.median * std::exp(tokens.sigma * tokens.sigma / 2); }

/// Returns how long a request is in flight: half of the bound on TTFT, and for each further token half of the bound on
/// TPOT. A replica within its SLO is on average well below its bounds. Without a bound, a second and 30 ms stand for
/// it.
double seconds_in_flight(const ServiceSpec& service) {
  const double ttft_s = service.slo.ttft > 0s ? std::chrono::duration<double>(service.slo.ttft).count() / 2 : 1.0;
  const double tpot_s = service.slo.tpot > 0s ? std::chrono::duration<double>(service.slo.tpot).count() / 2 : 0.03;
  return ttft_s + tpot_s * std::max(mean_tokens(service.load.answer) - 1, 0.0);
}

void read_spec_rate(Fields& fields, ServiceSpec& service, PlanSpec& spec, Verdict& verdict) {
  LoadSpec& load = service.load;
  const bool has_rate = fields.take("requests_per_second") != nullptr;
  const bool has_concurrency = fields.take("concurrency") != nullptr;
  load.requests_per_s = kDefaultRequestsPerS;
  fields.number("requests_per_second", load.requests_per_s, 1e-3, 1e6);
  if (has_concurrency) fields.number("concurrency", load.concurrency.emplace(1), 1e-3, 1e7);
  if (has_rate && has_concurrency) {
    verdict.fail(fields.blame({"concurrency", "requests_per_second"}),
                 fmt::format("{} states requests_per_second and concurrency, expected one of them", fields.what()));
  }
  if (has_concurrency && fields.ok()) {
    const double seconds = seconds_in_flight(service);
    load.requests_per_s = *load.concurrency / seconds;
    spec.defaults.push_back({fields.what() + ".requests_per_second", fmt::format("{:.3g}", load.requests_per_s),
                             fmt::format("concurrency {:g} / {:.3g} s in flight, half of the bounds of the SLO",
                                         *load.concurrency, seconds)});
  } else if (!has_rate) {
    spec.defaults.push_back({fields.what() + ".requests_per_second", "1", "a small service; state your own"});
  }
}

void read_generated(Fields& fields, ServiceSpec& service, PlanSpec& spec, Verdict& verdict) {
  LoadSpec& load = service.load;
  DefaultList defaults(spec.defaults);
  load.prompt = kChatPrompt;
  load.answer = kChatAnswer;
  read_spec_tokens(fields, "prompt_tokens", load.prompt, defaults, verdict);
  read_spec_tokens(fields, "answer_tokens", load.answer, defaults, verdict);
  read_spec_rate(fields, service, spec, verdict);
  load.burst_factor = 2;
  fields.number("burst_factor", load.burst_factor, 1, 1000);
  defaults.note(fields, "burst_factor", "2", "twice the rate in a burst");
  load.burst_length = 10min;
  fields.duration("burst_length", load.burst_length, 1s, 24h);
  defaults.note(fields, "burst_length", "10 min", "");
  load.burst_every = 30min;
  fields.duration("burst_every", load.burst_every, 1s, 24h);
  defaults.note(fields, "burst_every", "30 min", "");
  load.duration = 1h;
  fields.duration("duration", load.duration, 1min, 24h * 14);
  defaults.note(fields, "duration", "1 h", "the simulated part of the load");
  if (fields.ok() && load.burst_length >= load.burst_every) {
    verdict.fail(fields.blame({"burst_length", "burst_every"}),
                 fmt::format("{}: burst_length {} is not below burst_every {}", fields.what(),
                             manifest::duration_text(load.burst_length), manifest::duration_text(load.burst_every)));
  }
}

/// Opens the trace or profile and reads its first request, so that an empty or foreign file is an error here.
void check_recorded(const Fields& fields, const LoadSpec& load, Verdict& verdict) {
  workload::WorkloadSpec workload;
  if (load.source == LoadSpec::Source::trace) workload.from = workload::TraceSpec{load.from};
  if (load.source == LoadSpec::Source::profile) workload.from = workload::ProfileSpec{load.from};
  auto source = workload::open(workload, 1);
  if (!source) return verdict.fail(source.error());
  workload::Request request;
  if ((*source)->next(request)) return;
  if ((*source)->error()) return verdict.fail(*(*source)->error());
  verdict.fail(fields.blame({"trace", "profile"}),
               fmt::format("{}: {} has no requests, expected at least one", fields.what(), load.from));
}

void read_recorded(Fields& fields, ServiceSpec& service, PlanSpec& spec, Verdict& verdict) {
  LoadSpec& load = service.load;
  std::string path;
  if (fields.text("trace", path)) {
    load.source = LoadSpec::Source::trace;
    load.from = spec_relative(spec, path);
  }
  if (fields.text("profile", path)) {
    load.source = LoadSpec::Source::profile;
    load.from = path;
  }
  fields.number("scale", load.scale, 1e-6, 1e5);
  fields.duration("duration", load.duration, 1min, 24h * 366);
  if (fields.ok()) check_recorded(fields, load, verdict);
}

}  // namespace

void read_spec_load(const Node* node, const std::string& owner, ServiceSpec& service, PlanSpec& spec,
                    Verdict& verdict) {
  const Node empty{.kind = Node::Kind::mapping, .place = {}, .text = {}, .items = {}, .entries = {}};
  Fields fields(node == nullptr ? empty : *node, owner + ".load", verdict);
  const bool has_trace = fields.take("trace") != nullptr;
  const bool has_profile = fields.take("profile") != nullptr;
  if (has_trace && has_profile) {
    verdict.fail(fields.blame({"trace", "profile"}),
                 fmt::format("{} states a trace and a profile, expected one of them", fields.what()));
  } else if (has_trace || has_profile) {
    read_recorded(fields, service, spec, verdict);
  } else {
    read_generated(fields, service, spec, verdict);
  }
  fields.finish();
}

}  // namespace capstan::plan
