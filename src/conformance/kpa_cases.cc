#include "conformance/peers.h"
#include "peers/formula/kpa.h"
#include "peers/formula/kpa_metrics.h"
#include "peers/formula/kpa_zero.h"

namespace capstan::conformance {
namespace {

using namespace peers;

constexpr double kMaxAmount = 1e9;  ///< bound of requests, rates and pods

/// Overwrites the fields of a spec that `given` states. `given` is a whole spec or a change of one.
void read_spec(kpa::Spec& spec, const CaseInput& given) {
  const auto number = [&](const char* key, double least, double& field) {
    if (const CaseInput value = given.find(key)) field = value.number(least, kMaxAmount);
  };
  number("target", 1e-6, spec.target);
  number("total", 0, spec.total);
  number("target_burst_capacity", -1, spec.target_burst_capacity);
  number("max_scale_up_rate", 0, spec.max_scale_up_rate);
  number("max_scale_down_rate", 1e-6, spec.max_scale_down_rate);
  number("panic_threshold", 0, spec.panic_threshold);
  if (const CaseInput window = given.find("stable_window_s")) spec.stable_window = window.seconds();
  if (const CaseInput reachable = given.find("reachable")) spec.reachable = reachable.boolean();
  if (const CaseInput scale = given.find("activation_scale")) spec.activation_scale = scale.integer(0, 1'000'000'000);
  if (const CaseInput delay = given.find("scale_down_delay_s")) spec.scale_down_delay = delay.seconds();
}

std::optional<ReplicaCount> pods(const CaseInput& given) {
  return given ? std::optional(given.integer(0, 1'000'000'000)) : std::nullopt;
}

Value seconds_of(const std::optional<Instant>& at) {
  return at ? Value(static_cast<double>(at->since_start.count()) / 1e9) : Value();
}

Value decide(const CaseInput& given) {
  kpa::Spec spec;
  read_spec(spec, given["spec"]);
  const CaseInput start = given["start"];
  const std::vector<CaseInput> steps = given["steps"].list();
  // A decider is created at the time of its first decision.
  const Instant first{steps.empty() ? Duration{} : steps.front()["now_s"].seconds()};
  kpa::State state = kpa::begin(spec, pods(start.find("ready_pods")), first);
  for (const CaseInput& stated : {start, start.find("state")}) {
    if (const CaseInput since = stated.find("panic_started_s")) state.last_panic_at = Instant{since.seconds()};
    if (const CaseInput most = stated.find("max_panic_pods")) state.max_panic_pods = most.integer(0, 1'000'000'000);
  }
  Value::Array results;
  for (const CaseInput& step : steps) {
    if (const CaseInput change = step.find("spec_change")) read_spec(spec, change);
    const kpa::Observation observed{pods(step["ready_pods"]), step["stable_total"].number_or_null(),
                                    step["panic_total"].number_or_null()};
    const kpa::Result result = kpa::decide(spec, state, observed, Instant{step["now_s"].seconds()});
    results.push_back(object({{"valid", result.valid},
                              {"desired", result.desired},
                              {"excess_burst_capacity", result.excess_burst_capacity},
                              {"in_panic", state.last_panic_at.has_value()},
                              {"panic_started_s", seconds_of(state.last_panic_at)}}));
  }
  return object({{"steps", std::move(results)}});
}

Value start_state(const CaseInput& given) {
  const kpa::State state = kpa::begin({}, pods(given["ready_pods"]), Instant{});
  return object({{"in_panic", state.last_panic_at.has_value()}, {"max_panic_pods", state.max_panic_pods}});
}

Value target(const CaseInput& given) {
  kpa::TargetSettings settings;
  settings.by_rate = given["metric"].one_of<bool>({{"concurrency", false}, {"rps", true}});
  settings.utilization = given["target_fraction"].number(0, kMaxAmount);
  settings.default_target = given["default_target"].number(0, kMaxAmount);
  settings.container_concurrency = given["container_concurrency"].number(0, kMaxAmount);
  settings.target_annotation = given["target_annotation"].number_or_null();
  settings.utilization_percent = given["utilization_annotation_percent"].number_or_null();
  const kpa::Target target = kpa::resolve_target(settings);
  return object({{"target", target.target}, {"total", target.total}});
}

Value scale_to_zero(const CaseInput& given) {
  using Activity = kpa::Revision::Activity;
  using Reachability = kpa::Revision::Reachability;
  kpa::ZeroSettings settings;
  const CaseInput config = given["config"];
  settings.scale_to_zero = config["scale_to_zero"].boolean();
  settings.stable_window = config["stable_window_s"].seconds();
  settings.grace = config["grace_s"].seconds();
  settings.retention = config["retention_s"].seconds();
  settings.activation_timeout = config["activation_timeout_s"].seconds();
  settings.target_burst_capacity = config["target_burst_capacity"].number(-1, kMaxAmount);
  settings.min_scale = given["min_scale"].integer(0, 1'000'000'000);
  settings.max_scale = given["max_scale"].integer(0, 1'000'000'000);
  settings.initial_scale = given["initial_scale"].integer(0, 1'000'000'000);
  kpa::Revision revision;
  revision.replicas = given["start_replicas"].integer(0, 1'000'000'000);
  revision.activity = given["activity"].one_of<Activity>({{"unset", Activity::unset},
                                                          {"active", Activity::active},
                                                          {"inactive", Activity::inactive},
                                                          {"activating", Activity::activating}});
  revision.activity_for = given["activity_for_s"].seconds();
  revision.initial_scale_reached = given["initial_scale_reached"].boolean();
  revision.reachability = given["reachability"].one_of<Reachability>({{"unknown", Reachability::unknown},
                                                                      {"reachable", Reachability::reachable},
                                                                      {"unreachable", Reachability::unreachable}});
  revision.activator_answers = given["activator_probe"].one_of<bool>({{"ok", true}, {"fail", false}});
  if (const CaseInput in_path = given.find("activator_in_path")) revision.proxied = in_path.boolean();
  const CaseInput proxied = given.find("activator_in_path_for_s");
  revision.proxied_for = proxied ? proxied.seconds() : given["proxy_for_s"].seconds();
  const kpa::Step step = kpa::apply_bounds_and_zero(settings, revision, given["wanted"].integer(-1, 1'000'000'000));
  return object({{"desired", step.desired},
                 {"applied", step.applied},
                 {"requeues", step.recheck ? 1 : 0},
                 {"async_probes", step.probe ? 1 : 0}});
}

/// Returns the pairs of a list [[when, value], ...].
std::vector<std::pair<CaseInput, CaseInput>> records(const CaseInput& given) {
  std::vector<std::pair<CaseInput, CaseInput>> pairs;
  for (const CaseInput& record : given.list()) {
    const std::vector<CaseInput> parts = record.list();
    if (parts.size() == 2)
      pairs.emplace_back(parts[0], parts[1]);
    else
      record.fail("two values");
  }
  return pairs;
}

Value window_max(const CaseInput& given) {
  kpa::MaxWindow window(given["window"].integer(1, 1'000'000));
  Value::Array highest;
  for (const auto& [index, value] : records(given["records"])) {
    window.record(index.integer(), value.integer());
    highest.push_back(window.max());
  }
  return object({{"max_after_each", std::move(highest)}});
}

constexpr double kMaxWindowSeconds = 1e6;  ///< limit on times, because a window stores all its buckets

Value time_window_max(const CaseInput& given) {
  given["window_s"].number(0, kMaxWindowSeconds);
  given["granularity_s"].number(1, kMaxWindowSeconds);
  kpa::MaxTimeWindow window(given["window_s"].seconds(), given["granularity_s"].seconds());
  for (const auto& [at, value] : records(given["records"])) window.record(Instant{at.seconds()}, value.integer());
  return object({{"max", window.max()}});
}

Value window_average(const CaseInput& given) {
  const double granularity_s = given["granularity_s"].number(1e-3, kMaxWindowSeconds);
  const double window_s = given["window_s"].number(0, 1e5 * granularity_s);
  kpa::AverageWindow window(Duration(static_cast<std::int64_t>(window_s * 1e9)),
                            Duration(static_cast<std::int64_t>(granularity_s * 1e9)));
  Value::Array reads;
  for (const CaseInput& step : given["ops"].list()) {
    const bool records = step["op"].one_of<bool>({{"record", true}, {"read", false}});
    step["at_s"].number(-kMaxWindowSeconds, kMaxWindowSeconds);
    const Instant at{step["at_s"].seconds()};
    if (records)
      window.record(at, step["value"].number());
    else
      reads.push_back(window.average(at));
  }
  return object({{"reads", std::move(reads)}});
}

Value sample_size(const CaseInput& given) {
  return object({{"sample_pods", kpa::sample_size(given["population_pods"].integer(-1'000'000'000, 1'000'000'000))}});
}

Value smoothing_coefficient(const CaseInput& given) {
  return object({{"coefficient", kpa::smoothing_coefficient(given["buckets"].number(1, kMaxAmount))}});
}

constexpr Kind kKpaKinds[] = {
    {"decide", decide},
    {"start_state", start_state},
    {"target", target},
    {"scale_to_zero", scale_to_zero},
    {"sample_size", sample_size},
    {"window_max", window_max},
    {"time_window_max", time_window_max},
    {"window_average", window_average},
    {"smoothing_coefficient", smoothing_coefficient},
};

}  // namespace

std::span<const Kind> kpa_kinds() { return kKpaKinds; }

}  // namespace capstan::conformance
