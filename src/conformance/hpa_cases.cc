#include <algorithm>
#include <limits>

#include "conformance/peers.h"
#include "decide/scale/hpa.h"
#include "decide/scale/hpa_metrics.h"

namespace capstan::conformance {
namespace {

using namespace decide::scale;

// Bounds that keep sums over the pods of a hostile file within 64 bits. `kMaxMilli` allows a memory metric of up to
// 400 GB.
constexpr std::int64_t kMaxMilli = 400'000'000'000'000;
// Kubernetes keeps replica counts and policy values in int32.
constexpr std::int64_t kMinInt32 = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t kMaxInt32 = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kMaxRows = 10'000;
constexpr Instant kNow{};

ReplicaCount replicas(const CaseInput& given) { return given.integer(kMinInt32, kMaxInt32); }

/// Returns the items of a list; null is an empty list, as in Go.
std::vector<CaseInput> rows(const CaseInput& given) {
  if (!given) return {};
  std::vector<CaseInput> all = given.list();
  if (all.size() <= kMaxRows) return all;
  given.fail("at most 10000 items");
  return {};
}

HpaSettings settings_of(const CaseInput& given) {
  HpaSettings settings;
  settings.tolerance_up_per_mille = settings.tolerance_down_per_mille =
      static_cast<std::int64_t>(given["tolerance"].number(0, 1000) * 1000 + 0.5);
  return settings;
}

HpaRules rules_of(const CaseInput& given, const HpaRules& fallback) {
  if (!given) return fallback;
  using Select = HpaRules::Select;
  HpaRules rules = fallback;
  if (const CaseInput select = given.find("select")) {
    rules.select = select.one_of<Select>({{"max", Select::max}, {"min", Select::min}, {"disabled", Select::disabled}});
  }
  if (const CaseInput window = given.find("stabilization_window_s")) rules.stabilization = window.seconds();
  const CaseInput policies = given.find("policies");
  if (policies) rules.policies.clear();
  for (const CaseInput& policy : policies ? rows(policies) : std::vector<CaseInput>()) {
    using Kind = HpaRatePolicy::Kind;
    rules.policies.push_back({policy["type"].one_of<Kind>({{"pods", Kind::pods}, {"percent", Kind::percent}}),
                              policy["value"].integer(0, kMaxInt32), policy["period_s"].seconds()});
  }
  return rules;
}

/// Reads a case's behavior. A direction without rules has the defaults.
HpaBehavior behavior_of(const CaseInput& given) {
  HpaBehavior behavior;
  behavior.up = rules_of(given.find("scale_up_rules"), behavior.up);
  behavior.down = rules_of(given.find("scale_down_rules"), behavior.down);
  return behavior;
}

std::vector<Memory::Change> changes_of(const CaseInput& events) {
  std::vector<Memory::Change> changes;
  for (const CaseInput& event : rows(events)) {
    changes.push_back({kNow - event["age_s"].seconds(), event["replica_change"].integer(0, kMaxInt32)});
  }
  return changes;
}

std::vector<Memory::Recommendation> answers_of(const CaseInput& log) {
  std::vector<Memory::Recommendation> answers;
  for (const CaseInput& entry : rows(log))
    answers.push_back({kNow - entry["age_s"].seconds(), replicas(entry["replicas"])});
  return answers;
}

HpaPodFacts facts_of(const CaseInput& pod) {
  using Phase = HpaPodFacts::Phase;
  HpaPodFacts facts;
  facts.phase = pod["phase"].one_of<Phase>({{"running", Phase::running},
                                            {"pending", Phase::pending},
                                            {"failed", Phase::failed},
                                            {"succeeded", Phase::succeeded}});
  facts.deleting = pod["deleting"].boolean();
  if (const CaseInput ready = pod["ready"]) facts.ready = ready.boolean();
  if (const CaseInput age = pod["ready_transition_age_s"]) facts.ready_since = kNow - age.seconds();
  if (const CaseInput age = pod["start_age_s"]) facts.started_at = kNow - age.seconds();
  facts.sampled = !pod["sample_milli"].is_null();
  if (const CaseInput age = pod["sample_age_s"]) facts.sampled_at = kNow - age.seconds();
  if (const CaseInput window = pod["sample_window_s"]) facts.sample_window = window.seconds();
  return facts;
}

HpaReadiness readiness_of(const CaseInput& given) {
  return {given["cpu_initialization_s"].seconds(), given["initial_readiness_delay_s"].seconds()};
}

std::vector<HpaPod> pods_of(const CaseInput& given, bool cpu) {
  std::vector<HpaPod> pods;
  for (const CaseInput& pod : rows(given["pods"])) {
    HpaPod sample{group_pod(facts_of(pod), cpu, readiness_of(given), kNow), 0, {}};
    if (const CaseInput value = pod["sample_milli"]) sample.milli = value.integer(-kMaxMilli, kMaxMilli);
    if (const CaseInput request = pod["request_milli"]) sample.request_milli = request.integer(0, kMaxMilli);
    pods.push_back(sample);
  }
  if (const CaseInput superfluous = given.find("unmatched_samples_milli")) {
    for (const CaseInput& sample : rows(superfluous)) {
      pods.push_back({HpaPod::Group::superfluous, sample.integer(-kMaxMilli, kMaxMilli), {}});
    }
  }
  return pods;
}

/// Returns the number of pods by which an HPA multiplies the ratio of a Value metric: running and ready pods, including
/// pods that are being deleted. Returns none if the case has no pods.
std::optional<ReplicaCount> ready_pods(const CaseInput& given) {
  ReplicaCount ready = 0;
  const std::vector<CaseInput> pods = rows(given.find("pods"));
  for (const CaseInput& pod : pods) {
    const HpaPodFacts facts = facts_of(pod);
    ready += facts.phase == HpaPodFacts::Phase::running && facts.ready.value_or(false) ? 1 : 0;
  }
  return pods.empty() ? std::nullopt : std::optional(ready);
}

/// Returns the items of an object or external metric. Their sum may overflow, which the peer must handle.
std::vector<std::int64_t> values_of(const CaseInput& given) {
  using Limits = std::numeric_limits<std::int64_t>;
  std::vector<std::int64_t> values;
  for (const CaseInput& value : rows(given["metric_values_milli"]))
    values.push_back(value.integer(Limits::min(), Limits::max()));
  return values;
}

enum class Source : std::uint8_t { utilization, pods, value, object_average, external_average };

Value replica_calculation(const CaseInput& given) {
  const auto source = given["metric_source"].one_of<Source>({{"resource_utilization", Source::utilization},
                                                             {"pods_average", Source::pods},
                                                             {"object_value", Source::value},
                                                             {"object_average", Source::object_average},
                                                             {"external_value", Source::value},
                                                             {"external_average", Source::external_average}});
  const ReplicaCount current = replicas(given["current_replicas"]);
  const std::int64_t target = given["target"].integer(1, source == Source::utilization ? kMaxInt32 : kMaxMilli);
  const HpaSettings settings = settings_of(given);
  const bool of_pods = source == Source::utilization || source == Source::pods;
  HpaProposal proposal;
  if (source == Source::utilization)
    proposal = propose_by_utilization(pods_of(given, true), target, current, settings);
  else if (source == Source::pods)
    proposal = propose_by_pods(pods_of(given, false), target, current, settings);
  else if (const std::vector<std::int64_t> values = values_of(given); values.empty())
    proposal.valid = false;  // the metrics API returned no item
  else if (source == Source::value)
    proposal = propose_by_value(sum_for_value(values), target, current, ready_pods(given), settings);
  else if (source == Source::object_average)
    proposal = propose_by_average_value(sum_for_value(values), target, current, settings);
  else
    proposal = propose_by_average_value(sum_for_average_value(values), target, current, settings);
  if (!proposal.valid) return object({{"error", of_pods ? "no sample of any counted pod" : "no value"}});
  return object({{"replicas", proposal.replicas},
                 {"utilization_percent", proposal.utilization_percent},
                 {"average_milli", proposal.mean_milli},
                 {"observed_milli", proposal.mean_milli}});
}

Value pod_grouping(const CaseInput& given) {
  const bool cpu = given["cpu"].boolean();
  std::int64_t ready = 0;
  std::vector<std::string> unready, missing;
  for (const CaseInput& pod : rows(given["pods"])) {
    const HpaPod::Group group = group_pod(facts_of(pod), cpu, readiness_of(given), kNow);
    ready += group == HpaPod::Group::ready ? 1 : 0;
    if (group == HpaPod::Group::unready) unready.push_back(pod["name"].text());
    if (group == HpaPod::Group::missing) missing.push_back(pod["name"].text());
  }
  const auto as_text = [](const std::string& name) { return name; };
  return object(
      {{"ready_count", ready}, {"unready", array_of(unready, as_text)}, {"missing", array_of(missing, as_text)}});
}

const char* reason_of(HpaLimit limit) {
  switch (limit) {
    case HpaLimit::none:
      return "DesiredWithinRange";
    case HpaLimit::scale_up_limit:
      return "ScaleUpLimit";
    case HpaLimit::too_many_replicas:
      return "TooManyReplicas";
    case HpaLimit::scale_down_limit:
      return "ScaleDownLimit";
    case HpaLimit::too_few_replicas:
      return "TooFewReplicas";
  }
  return "";
}

Memory events_of(const CaseInput& given) {
  Memory memory;
  if (const CaseInput ups = given.find("scale_up_events")) memory.ups = changes_of(ups);
  if (const CaseInput downs = given.find("scale_down_events")) memory.downs = changes_of(downs);
  return memory;
}

Value limit(const CaseInput& given, bool by_policies) {
  HpaSettings settings;
  if (by_policies) settings.behavior = behavior_of(given);
  const HpaLimitedCount limited =
      limit_rate(events_of(given), settings, replicas(given["current_replicas"]), replicas(given["desired_replicas"]),
                 replicas(given["min_replicas"]), replicas(given["max_replicas"]), kNow);
  return object({{"replicas", limited.replicas}, {"reason", reason_of(limited.limit)}});
}

Value one_limit(const CaseInput& given, bool up) {
  const HpaBehavior defaults;
  const HpaRules rules = rules_of(given["rules"], up ? defaults.up : defaults.down);
  const auto limit_of = up ? scale_up_limit : scale_down_limit;
  return object({{"limit", limit_of(events_of(given), rules, replicas(given["current_replicas"]), kNow)}});
}

Value stabilized(const CaseInput& given, bool by_windows) {
  HpaSettings settings;
  if (by_windows) {
    settings.behavior = HpaBehavior{};
    settings.behavior->up.stabilization = given["scale_up_window_s"].seconds();
    settings.behavior->down.stabilization = given["scale_down_window_s"].seconds();
  } else {
    settings.downscale_stabilization = given["window_s"].seconds();
  }
  Memory memory;
  memory.recommendations = answers_of(given["recommendations"]);
  const ReplicaCount current = by_windows ? replicas(given["current_replicas"]) : 0;
  const ReplicaCount held = stabilize(memory, settings, current, replicas(given["desired_replicas"]), kNow);
  return object({{"replicas", held},
                 {"log_length", memory.recommendations.size()},
                 {"log", array_of(memory.recommendations,
                                  [](const Memory::Recommendation& answer) { return answer.replicas; })}});
}

Value scale_event_log(const CaseInput& given) {
  HpaSettings settings;
  Memory memory;
  memory.ups = changes_of(given["events"]);
  const ReplicaCount before = changed_within(memory.ups, std::chrono::seconds(60), kNow);
  if (given["rules"]) {
    settings.behavior = HpaBehavior{};
    settings.behavior->up = rules_of(given["rules"], settings.behavior->up);
  }
  record_change(memory, settings, 0, given["replica_change"].integer(0, kMaxInt32), kNow);
  return object({{"change_in_last_60_s", before},
                 {"events_after", array_of(memory.ups, [&](const auto& change) {
                    const bool outdated = settings.behavior && is_outdated(change, settings.behavior->up, kNow);
                    return object({{"replica_change", change.replicas}, {"outdated", outdated}});
                  })}});
}

/// Computes the metric of a `reconcile` case. All pods have long been ready. A pod's request and its sample have the
/// same position in two lists, and null stands for a missing one.
HpaProposal cpu_proposal(const CaseInput& given, ReplicaCount current, const HpaSettings& settings) {
  const std::vector<CaseInput> usage = rows(given["usage_milli"]), requests = rows(given["requests_milli"]);
  std::vector<HpaPod> pods;
  for (std::size_t i = 0; i < std::max(usage.size(), requests.size()); ++i) {
    const bool sampled = i < usage.size() && usage[i];
    HpaPod pod{sampled ? HpaPod::Group::ready : HpaPod::Group::missing, 0, {}};
    if (sampled) pod.milli = usage[i].integer(0, kMaxMilli);
    if (i >= requests.size()) {
      if (!sampled) continue;
      pod.group = HpaPod::Group::superfluous;
    } else if (requests[i]) {
      pod.request_milli = requests[i].integer(0, kMaxMilli);
    }
    pods.push_back(pod);
  }
  return propose_by_utilization(pods, given["cpu_target_percent"].integer(1, 1'000'000), current, settings);
}

Value reconcile(const CaseInput& given) {
  const auto answer = [](ReplicaCount replicas, const char* reason) {
    return object({{"replicas", replicas}, {"reason", reason}});
  };
  const ReplicaCount current = replicas(given["current_replicas"]);
  const CaseInput minimum = given.find("min_replicas");
  const ReplicaCount min = minimum ? replicas(minimum) : 1;  // 1 is the API's default
  const ReplicaCount max = replicas(given["max_replicas"]);
  HpaSettings settings = settings_of(given);
  const bool rules_given = !given.find("scale_up_rules").is_null() || !given.find("scale_down_rules").is_null();
  if (rules_given) settings.behavior = behavior_of(given);
  const bool other_fails = !given.find("other_metric").is_null();
  const char* other_reason =
      !other_fails ? ""
                   : given["other_metric"].one_of<const char*>(
                         {{"failing", "FailedGetExternalMetric"}, {"invalid_type", "InvalidMetricSourceType"}});
  if (current == 0 && min != 0) return answer(0, "ScalingDisabled");
  if (current > max) return answer(max, reason_of(HpaLimit::too_many_replicas));
  if (current < min) return answer(min, reason_of(HpaLimit::too_few_replicas));

  const HpaProposal proposal = cpu_proposal(given, current, settings);
  if (!proposal.valid) return answer(current, "FailedGetResourceMetric");
  if (other_fails && proposal.replicas < current) return answer(current, other_reason);
  Memory memory;
  if (const CaseInput log = given.find("recommendation_log"))
    memory.recommendations = answers_of(log);
  else
    memory.recommendations = {{kNow, current}};  // the first evaluation records the current replicas
  const ReplicaCount held = stabilize(memory, settings, current, proposal.replicas, kNow);
  const HpaLimitedCount limited = limit_rate(events_of(given), settings, current, held, min, max, kNow);
  if (limited.limit != HpaLimit::none || held == proposal.replicas)
    return answer(limited.replicas, reason_of(limited.limit));
  return answer(limited.replicas, held > proposal.replicas ? "ScaleDownStabilized" : "ScaleUpStabilized");
}

constexpr Kind kHpaKinds[] = {
    {"replica_calculation", replica_calculation},
    {"pod_grouping", pod_grouping},
    {"limit_without_behavior", [](const CaseInput& given) { return limit(given, false); }},
    {"limit_with_policies", [](const CaseInput& given) { return limit(given, true); }},
    {"scale_up_limit", [](const CaseInput& given) { return one_limit(given, true); }},
    {"scale_down_limit", [](const CaseInput& given) { return one_limit(given, false); }},
    {"stabilize_default", [](const CaseInput& given) { return stabilized(given, false); }},
    {"stabilize_windows", [](const CaseInput& given) { return stabilized(given, true); }},
    {"scale_event_log", scale_event_log},
    {"reconcile", reconcile},
};

}  // namespace

std::span<const Kind> hpa_kinds() { return kHpaKinds; }

}  // namespace capstan::conformance
