#include <fmt/format.h>

#include <algorithm>

#include "manifest/scalars.h"
#include "plan/feasibility/concurrency.h"
#include "plan/read/read_parts.h"
#include "workload/profile.h"
#include "workload/spec.h"
#include "workload/trace.h"

namespace capstan::plan {

namespace {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;
using namespace std::chrono_literals;

constexpr double kDefaultRequestsPerS = 1;
constexpr std::int64_t kMaxTokens = 1 << 24;
constexpr Duration kLongestLoad = 24h * 14;
constexpr Duration kMinBurstGap = 1s;                                             ///< shortest time between two bursts
constexpr TokenSpec kChatPrompt{.median = 1000, .sigma = 0.8, .longest = 16384};  // Azure 2023, conversation
constexpr TokenSpec kChatAnswer{.median = 200, .sigma = 0.6, .longest = 2048};

void read_spec_tokens(Fields& fields, std::string_view key, TokenSpec& out, DefaultList& defaults, ErrorList& errors) {
  defaults.note(fields, key, fmt::format("median {}, log-normal", out.median),
                "like the conversations of the Azure trace of 2023");
  const Node* node = fields.take(key);
  if (node == nullptr) return;
  if (node->kind == Node::Kind::scalar) {
    const auto tokens = manifest::read_integer(node->text);
    if (!tokens || *tokens < 1 || *tokens > kMaxTokens) {
      return errors.fail(node->place,
                         fmt::format("{}.{}: found {}, expected a number of tokens up to {} or a mapping with "
                                     "median, sigma and longest",
                                     fields.what(), key, node->words(), kMaxTokens));
    }
    out = {.median = static_cast<std::int32_t>(*tokens), .longest = static_cast<std::int32_t>(*tokens)};
    return;
  }
  Fields parts(*node, fmt::format("{}.{}", fields.what(), key), errors);
  parts.integer("median", out.median, 1, kMaxTokens);
  parts.number("sigma", out.sigma, 0, 10);
  defaults.note(parts, "median", fmt::format("{}", out.median), "like the Azure trace of 2023");
  defaults.note(parts, "sigma", fmt::format("{:g}", out.sigma), "like the Azure trace of 2023");
  out.longest = std::max(out.longest, out.median);
  parts.integer("longest", out.longest, 1, kMaxTokens);
  defaults.note(parts, "longest", fmt::format("{}", out.longest), "like the Azure trace of 2023");
  parts.finish();
  if (parts.ok() && out.longest < out.median) {
    errors.fail(
        node->place,
        fmt::format("{0}: longest {1} is {2} below the median {3}; the nearest that is possible is longest: {3} "
                    "or median: {1}",
                    parts.what(), out.longest, out.median - out.longest, out.median),
        ErrorKind::infeasible);
  }
}

void read_spec_rate(Fields& fields, ServiceSpec& service, PlanSpec& spec, ErrorList& errors) {
  LoadSpec& load = service.load;
  const bool has_rate = fields.take("requests_per_second") != nullptr;
  const bool has_concurrency = fields.take("concurrency") != nullptr;
  load.requests_per_s = kDefaultRequestsPerS;
  fields.number("requests_per_second", load.requests_per_s, 1e-3, 1e6);
  if (has_concurrency) fields.number("concurrency", load.concurrency.emplace(1), 1e-3, 1e7);
  if (has_rate && has_concurrency) {
    errors.fail(fields.place_for_error({"concurrency", "requests_per_second"}),
                fmt::format("{} states requests_per_second and concurrency, expected one of them", fields.what()));
  }
  if (has_concurrency && fields.ok()) {
    const TimeInFlight time = time_in_flight(service, spec);
    load.requests_per_s = *load.concurrency / time.seconds;
    spec.defaults.push_back(
        {fields.what() + ".requests_per_second", fmt::format("{:.3g}", load.requests_per_s),
         fmt::format("concurrency {:g} / {:.3g} s in flight = {}", *load.concurrency, time.seconds, time.arithmetic)});
  } else if (!has_rate) {
    spec.defaults.push_back({fields.what() + ".requests_per_second", "1", "a small service; state your own"});
  }
}

void read_generated(Fields& fields, ServiceSpec& service, PlanSpec& spec, ErrorList& errors) {
  LoadSpec& load = service.load;
  DefaultList defaults(spec.defaults);
  load.prompt = kChatPrompt;
  load.answer = kChatAnswer;
  read_spec_tokens(fields, "prompt_tokens", load.prompt, defaults, errors);
  read_spec_tokens(fields, "answer_tokens", load.answer, defaults, errors);
  read_spec_rate(fields, service, spec, errors);
  load.burst_factor = 2;
  fields.number("burst_factor", load.burst_factor, 1, 1000);
  defaults.note(fields, "burst_factor", "2", "twice the rate in a burst");
  load.burst_length = 10min;
  fields.duration("burst_length", load.burst_length, 1s, 24h);
  defaults.note(fields, "burst_length", "10 min", "longer than a cold start");
  load.burst_every = 30min;
  fields.duration("burst_every", load.burst_every, 1s, 24h);
  defaults.note(fields, "burst_every", "30 min", "two bursts in an hour");
  load.duration = 1h;
  fields.duration("duration", load.duration, 1min, kLongestLoad);
  defaults.note(fields, "duration", "1 h", "the simulated part of the load");
  const Duration longest = load.burst_every - kMinBurstGap;
  if (fields.ok() && load.burst_length > longest) {
    errors.fail(
        fields.place_for_error({"burst_length", "burst_every"}),
        fmt::format("{}: a burst of {} is {} too long, because the next one begins {} after its start; the nearest "
                    "that is possible is {}burst_every: {}, or for a load that is always high a higher "
                    "requests_per_second with burst_factor: 1",
                    fields.what(), manifest::duration_text(load.burst_length),
                    manifest::duration_text(load.burst_length - longest), manifest::duration_text(load.burst_every),
                    longest < 1s ? "" : fmt::format("burst_length: {} or ", manifest::duration_text(longest)),
                    manifest::duration_text(load.burst_length + kMinBurstGap)),
        ErrorKind::infeasible);
  }
}

/// Reads a load that is measured on a Prometheus server. Stated lengths replace metrics that the engine lacks.
void read_measured(Fields& fields, ServiceSpec& service, PlanSpec& spec, ErrorList& errors) {
  LoadSpec& load = service.load;
  load.source = LoadSpec::Source::prometheus;
  read_spec_measure(*fields.take("prometheus"), fields.what() + ".prometheus", load.measure, spec, errors);
  load.prompt = kChatPrompt;
  load.answer = kChatAnswer;
  std::vector<DefaultUsed> unused;  // not listed in the plan, because the measured load lists its own lengths
  DefaultList lengths(unused);
  read_spec_tokens(fields, "prompt_tokens", load.prompt, lengths, errors);
  read_spec_tokens(fields, "answer_tokens", load.answer, lengths, errors);
  load.has_stated_prompt = fields.node().find("prompt_tokens") != nullptr;
  load.has_stated_answer = fields.node().find("answer_tokens") != nullptr;
  DefaultList defaults(spec.defaults);
  fields.number("scale", load.scale, 1e-6, 1e5);
  defaults.note(fields, "scale", "1", "the measured rate");
  fields.duration("duration", load.duration, 1min, kLongestLoad);
  defaults.note(fields, "duration", "all of it", "the whole history is simulated");
}

/// Opens the trace or profile and reads its first request, so that an empty or foreign file is an error here. An error
/// has the place in that file, if it is known, and also names the place in the spec that states the file.
void check_recorded(const Fields& fields, const LoadSpec& load, const PlanSpec& spec, ErrorList& errors) {
  const manifest::Place& place = fields.place_for_error({"trace", "profile"});
  const auto fail = [&](Error error) {
    const std::string file = place.file == nullptr ? spec.file : *place.file;
    const std::string at = place.line == 0 ? file : fmt::format("{}:{}", file, place.line);
    error.message += fmt::format(" ({} names this file at {})", fields.what(), at);
    errors.fail(std::move(error));
  };
  workload::WorkloadSpec workload;
  if (load.source == LoadSpec::Source::trace) workload.from = workload::TraceSpec{load.from};
  if (load.source == LoadSpec::Source::profile) workload.from = workload::ProfileSpec{load.from};
  auto source = workload::open(workload, 1);
  if (!source) return fail(source.error());
  workload::Request request;
  if ((*source)->next(request)) return;
  const std::optional<Error> error = (*source)->error();
  if (error && error->message != workload::kNoTraceRows) return fail(*error);
  errors.fail(
      place,
      fmt::format("{0}: the {1} {2} has 0 requests, expected at least 1; add a row for each recorded request, or "
                  "state a generated load: `load: {{requests_per_second: 1}}`",
                  fields.what(), load.source == LoadSpec::Source::trace ? "trace" : "profile", load.from),
      ErrorKind::infeasible);
}

void read_recorded(Fields& fields, ServiceSpec& service, PlanSpec& spec, ErrorList& errors) {
  LoadSpec& load = service.load;
  std::string path;
  if (fields.text("trace", path)) {
    load.source = LoadSpec::Source::trace;
    load.from = spec_relative(spec, path);
  }
  if (fields.text("profile", path)) {
    load.source = LoadSpec::Source::profile;
    const bool is_bundled = std::ranges::any_of(workload::bundled_profiles(),
                                                [&](const workload::BundledProfile& p) { return p.name == path; });
    load.from = is_bundled ? path : spec_relative(spec, path);
  }
  DefaultList defaults(spec.defaults);
  fields.number("scale", load.scale, 1e-6, 1e5);
  defaults.note(fields, "scale", "1", "the recorded rate");
  fields.duration("duration", load.duration, 1min, kLongestLoad);
  defaults.note(fields, "duration", "all of it", "the whole recorded load is simulated");
  if (fields.ok()) check_recorded(fields, load, spec, errors);
}

/// Reports the keys of a generated load in a load whose requests come from a file or a server, where they mean nothing.
/// A load from a server may state the lengths of prompts and answers.
/// @param source  key of that file or server: "trace"
void refuse_generated_keys(Fields& fields, std::string_view source, ErrorList& errors) {
  for (const char* key : {"requests_per_second", "concurrency", "burst_factor", "burst_length", "burst_every",
                          "prompt_tokens", "answer_tokens"}) {
    if (source == "prometheus" && std::string_view(key).ends_with("_tokens")) continue;
    if (fields.node().find(key) == nullptr || fields.take(key) == nullptr) continue;
    errors.fail(fields.place_for_error({key}),
                fmt::format("{0}.{1} belongs to a generated load, and the requests of this one come from `{2}`; leave "
                            "out {1} or {2}. scale multiplies the rate, and duration bounds the length",
                            fields.what(), key, source));
  }
}

}  // namespace

void read_spec_load(const Node* node, const std::string& owner, ServiceSpec& service, PlanSpec& spec,
                    ErrorList& errors) {
  const Node empty{.kind = Node::Kind::mapping, .place = {}, .text = {}, .items = {}, .entries = {}};
  Fields fields(node == nullptr ? empty : *node, owner + ".load", errors);
  const bool has_trace = fields.take("trace") != nullptr;
  const bool has_profile = fields.take("profile") != nullptr;
  const bool has_server = fields.take("prometheus") != nullptr;
  if (has_trace + has_profile + has_server > 1) {
    errors.fail(fields.place_for_error({"trace", "profile", "prometheus"}),
                fmt::format("{} states {}, expected one of trace, profile and prometheus", fields.what(),
                            !has_server    ? "a trace and a profile"
                            : !has_profile ? "a trace and a Prometheus server"
                            : !has_trace   ? "a profile and a Prometheus server"
                                           : "a trace, a profile and a Prometheus server"));
  } else if (has_server) {
    refuse_generated_keys(fields, "prometheus", errors);
    read_measured(fields, service, spec, errors);
  } else if (has_trace || has_profile) {
    refuse_generated_keys(fields, has_trace ? "trace" : "profile", errors);
    read_recorded(fields, service, spec, errors);
  } else {
    read_generated(fields, service, spec, errors);
  }
  fields.finish();
}

}  // namespace capstan::plan
