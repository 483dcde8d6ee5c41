#include <algorithm>
#include <vector>

#include "decide/scale/by_policy.h"
#include "decide/scale/capstan/load.h"
#include "decide/scale/hpa.h"

namespace capstan::decide::scale {
namespace {

using model::ReasonCode;
using Kind = MetricReading::Kind;
using ScaleOn = Rules::ScaleOn;

constexpr ReplicaCount kStepPart = 10;  // a step is a tenth of the replicas, at least one

/// One signal compared with its two bounds.
struct Rule {
  Kind kind = Kind::waiting;
  ReplicaCount proposed = 0;  ///< replicas that this signal alone asks for
  MetricReading reading;      ///< reading with its arithmetic, for the explanation
  bool above = false;
  bool below = false;
};

/// The input of all rules.
struct RulesInput {
  const WorkloadView& role;
  const Rules& policy;
  Load load;
  /// Divisor of the means, at least 1. With a required spread, it is the number of replicas that remain after the loss
  /// of a domain, because they must carry the current load.
  ReplicaCount serving = role.spread ? left_of(*role.spread) : load.serving;

  /// Returns the replicas that remain after a loss, at least one, because the last replicas may still serve when none
  /// is requested.
  ReplicaCount left_of(const Spread& spread) const {
    return std::max<ReplicaCount>(1, std::min(load.serving, survivors(spread, role.current)));
  }

  double mean(double total) const { return total / static_cast<double>(serving); }
  ReplicaCount fewer() const { return serving - std::max<ReplicaCount>(1, serving / kStepPart); }
  ReplicaCount more() const { return serving + std::max<ReplicaCount>(1, serving / kStepPart); }
  ReplicaCount sized_for_loss(ReplicaCount proposed) const {
    return role.spread ? size_for_loss(*role.spread, proposed).required : proposed;
  }
  /// Returns the replicas that bring the mean to its bound: at least one more, at most double.
  ReplicaCount for_total(double total, double bound) const {
    return std::clamp(hpa_ceil(total / bound), serving + 1, 2 * serving);
  }
};

std::int64_t rounded(double value) { return static_cast<std::int64_t>(std::clamp(value, -1e15, 1e15)); }

Rule rule_of(const RulesInput& input, Kind kind, double value, std::int64_t target, ReplicaCount proposed) {
  Rule rule;
  rule.reading.kind = kind;
  rule.reading.valid = true;
  rule.reading.read = input.load.serving - input.load.silent_serving;
  rule.reading.missing = input.load.silent_serving;
  rule.reading.mean_milli = rounded(value * 1000);
  rule.reading.target = target;
  rule.reading.ratio_per_mille = target > 0 ? rounded(value * 1000 / static_cast<double>(target)) : 0;
  rule.reading.filled_ratio_per_mille = rule.reading.ratio_per_mille;  // no values are assumed
  rule.kind = kind;
  rule.reading.proposed = rule.proposed = input.sized_for_loss(proposed);
  return rule;
}

Rule queue_rule(const RulesInput& input) {
  const double total = input.load.waiting + input.load.gateway_queued;
  const auto bound = static_cast<double>(input.policy.waiting_above);
  Rule rule =
      rule_of(input, Kind::waiting, input.mean(total), input.policy.waiting_above, input.for_total(total, bound));
  rule.reading.total = rounded(total);
  rule.above = input.mean(total) > bound;
  rule.below = input.mean(total) <= static_cast<double>(input.policy.waiting_below);
  return rule;
}

/// Evaluates KV usage. The signal counts as below its lower bound only if the usage would stay within the upper bound
/// with one step fewer replicas.
Rule kv_rule(const RulesInput& input) {
  const double total = input.load.kv_used * 1e6, bound = static_cast<double>(input.policy.kv_above_ppm);
  Rule rule = rule_of(input, Kind::kv, input.mean(total), input.policy.kv_above_ppm, input.for_total(total, bound));
  rule.reading.total = rounded(total);
  rule.above = input.mean(total) > bound;
  rule.below = input.mean(total) < static_cast<double>(input.policy.kv_below_ppm) &&
               total <= bound * static_cast<double>(input.fewer());
  rule.reading.read -= input.load.without_kv;
  rule.reading.missing += input.load.without_kv;
  rule.reading.valid = rule.reading.read > 0;
  return rule;
}

/// Returns the 90th percentile; of fewer than ten values, the highest.
double slowest_decile(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>((values.size() * 9 + 9) / 10 - 1);
  std::ranges::nth_element(values, at);
  return *at;
}

double ttft_s(const Load::ReplicaLoad& replica) { return replica.ttft_p99_s; }
/// Returns the mean time per token in the interval: running sequences divided by tokens/s.
double tpot_s(const Load::ReplicaLoad& replica) {
  return replica.generated_rate > 0 ? replica.running / replica.generated_rate : 0;
}

Rule latency_rule(const RulesInput& input, Kind kind, Duration bound, double (*value_of)(const Load::ReplicaLoad&)) {
  std::vector<double> values;
  for (const Load::ReplicaLoad& replica : input.load.replicas) values.push_back(value_of(replica));
  const double slow_us = slowest_decile(std::move(values)) * 1e6, bound_us = static_cast<double>(bound.count()) * 1e-3;
  Rule rule = rule_of(input, kind, slow_us, rounded(bound_us), input.more());
  rule.above = slow_us > bound_us;
  rule.below = slow_us * 100 < bound_us * static_cast<double>(input.policy.latency_below_percent);
  return rule;
}

/// Evaluates the share of tokens from replicas that hold the SLO. If nothing is generated, nothing is missed.
Rule goodput_rule(const RulesInput& input) {
  const model::Slo& slo = input.role.slo;
  double all = 0, good = 0;
  for (const Load::ReplicaLoad& replica : input.load.replicas) {
    const bool first = slo.ttft <= Duration{} || ttft_s(replica) <= in_seconds(slo.ttft);
    const bool later = slo.tpot <= Duration{} || tpot_s(replica) <= in_seconds(slo.tpot);
    all += replica.generated_rate;
    good += first && later ? replica.generated_rate : 0;
  }
  const std::int64_t target = input.policy.goodput_below_ppm > 0 ? input.policy.goodput_below_ppm
                                                                 : static_cast<std::int64_t>(slo.attainment_ppm);
  const double share_ppm = all > 0 ? good / all * 1e6 : 1e6;
  Rule rule = rule_of(input, Kind::goodput, share_ppm, target, input.more());
  rule.above = share_ppm < static_cast<double>(target);
  rule.below = !rule.above;
  return rule;
}

std::vector<Rule> read_rules(const RulesInput& input) {
  const ScaleOn on = input.policy.scale_on;
  const bool all = on == ScaleOn::all;
  const model::Slo& slo = input.role.slo;
  std::vector<Rule> rules;
  if (all || on == ScaleOn::queue) rules.push_back(queue_rule(input));
  if (all || on == ScaleOn::kv) rules.push_back(kv_rule(input));
  if (all || on == ScaleOn::goodput) rules.push_back(goodput_rule(input));
  // A goodput of 100 % does not show the distance to the bound, so the latencies decide about a scale-down.
  const bool latencies = all || on == ScaleOn::latency || on == ScaleOn::goodput;
  if (latencies && slo.ttft > Duration{}) rules.push_back(latency_rule(input, Kind::ttft, slo.ttft, ttft_s));
  if (latencies && slo.tpot > Duration{}) rules.push_back(latency_rule(input, Kind::tpot, slo.tpot, tpot_s));
  if (on == ScaleOn::goodput) {
    for (Rule& rule : rules) rule.above = rule.above && rule.kind == Kind::goodput;
  }
  return rules;
}

/// Returns the number of replicas that do not report a signal of a rule.
ReplicaCount silent_replicas(const RulesInput& input) {
  const ScaleOn on = input.policy.scale_on;
  const bool latencies = on == ScaleOn::all || on == ScaleOn::latency || on == ScaleOn::goodput;
  if (latencies && input.role.slo.ttft > Duration{} && input.load.ttft_unknown()) return input.load.expected_readings;
  const bool kv = on == ScaleOn::all || on == ScaleOn::kv;
  return input.load.silent + (kv ? input.load.without_kv : 0);
}

model::Reason crossed(const MetricReading& reading, const Decision& decision) {
  const std::int64_t value = reading.mean_milli / 1000;
  switch (reading.kind) {
    case Kind::kv:
      return {ReasonCode::kv_above_bound,
              {value / 10'000, reading.target / 10'000, reading.proposed, decision.counted}};
    case Kind::ttft:
      return {ReasonCode::ttft_above_bound, {value / 1000, reading.target / 1000, reading.proposed, decision.counted}};
    case Kind::tpot:
      return {ReasonCode::tpot_above_bound, {value / 1000, reading.target / 1000, reading.proposed, decision.counted}};
    case Kind::goodput:
      return {ReasonCode::goodput_below_bound,
              {value / 1000, reading.target / 1000, reading.proposed, decision.counted}};
    default:
      return {ReasonCode::queue_above_target, {reading.total, reading.target, reading.proposed, decision.counted}};
  }
}

/// Stores the sizing for the loss of a domain. If the count does not change and the loss would not be survived, the
/// reason says why.
void keep_spread(Decision& decision, const RulesInput& input) {
  if (!input.role.spread) return;
  decision.spread = size_for_loss(*input.role.spread, input.serving);
  const SpreadSizing& s = *decision.spread;
  if (decision.proposed != decision.current) return;
  const auto level = static_cast<std::int64_t>(s.level);
  if (!s.possible()) {
    decision.why = {ReasonCode::loss_not_survived, {s.domains, s.need, level}};
  } else if (input.load.starting == 0 && s.left() < s.need) {
    decision.why = {ReasonCode::spread_uneven, {s.fullest, s.placed, s.left(), s.need, level}};
  }
}

/// Sets the wanted count and reason by the rules alone, before windows and bounds.
void apply_rules(Decision& decision, const RulesInput& input, const std::vector<Rule>& rules) {
  const Rule* most = nullptr;
  const ReplicaCount fewer = std::min(input.sized_for_loss(input.fewer()), decision.current);
  std::int64_t not_below = 0;
  for (const Rule& rule : rules) {
    decision.readings.push_back(rule.reading);
    if (!rule.above) decision.readings.back().proposed = rule.below ? fewer : decision.current;
    if (rule.above && (most == nullptr || rule.proposed > most->proposed)) most = &rule;
    not_below += !rule.below;
  }
  const ReplicaCount silent = silent_replicas(input);
  if (most != nullptr && most->proposed > decision.current) {
    decision.proposed = most->proposed;
    decision.why = crossed(most->reading, decision);
  } else if (most != nullptr) {
    decision.why = {ReasonCode::rules_on_the_way, {input.load.starting, most->proposed}};
  } else if (silent > 0 || rules.empty()) {
    decision.why = {ReasonCode::signal_missing, {silent, input.load.expected_readings}};
  } else if (not_below > 0) {
    decision.why = {ReasonCode::rules_between, {not_below, static_cast<std::int64_t>(rules.size())}};
  } else if (input.load.starting > 0) {
    decision.why = {ReasonCode::rules_starting, {static_cast<std::int64_t>(rules.size()), input.load.starting}};
  } else {
    decision.proposed = fewer;
    decision.why = {ReasonCode::rules_all_below, {whole_seconds(input.policy.cool_down), decision.proposed}};
  }
}

/// Decides when no replica serves: the gateway's queue is the only signal.
void wake(Decision& decision, const WorkloadView& role, const Load& load) {
  const RequestCount held = load.gateway_read ? rounded(load.gateway_queued) : 0;
  decision.why = {ReasonCode::demand_unknown, {decision.current}};
  if (held > 0 && decision.current == 0) {
    decision.proposed = std::max<ReplicaCount>(1, role.min);
    decision.why = {ReasonCode::wake_for_waiting, {held, decision.proposed}};
  }
}

/// Applies the window and the bounds, and sets their reason if they change the count.
void limit(Decision& decision, const WorkloadView& role, const Rules& policy, Memory& memory, Instant now) {
  HpaSettings window;
  window.downscale_stabilization = policy.cool_down;
  decision.stabilized = stabilize(memory, window, role.current, decision.proposed, now);
  decision.desired = std::clamp(decision.stabilized, role.min, role.max);
  if (decision.desired < decision.stabilized) decision.why = {ReasonCode::at_maximum, {decision.stabilized, role.max}};
  if (decision.desired > decision.stabilized) decision.why = {ReasonCode::at_minimum, {decision.stabilized, role.min}};
  // The window is the cause if the signals ask for fewer now, even if the window holds a count above the maximum.
  const bool held = decision.stabilized > decision.proposed && decision.desired > std::max(decision.proposed, role.min);
  decision.is_stated = decision.desired < decision.stabilized && !held;
  if (held) {
    decision.why = {ReasonCode::cooling_down,
                    {decision.proposed, decision.stabilized, whole_seconds(policy.cool_down)}};
  }
}

}  // namespace

std::vector<model::SignalField> signals_needed_by(const Rules& policy) {
  std::vector<model::SignalField> signals = load_signals();
  const bool kv = policy.scale_on == ScaleOn::all || policy.scale_on == ScaleOn::kv;
  if (kv) signals.push_back(&model::ReplicaSignals::kv_usage_ppm);
  return signals;
}

Duration period_of(const Rules& policy) { return policy.sync_period; }

Decision decide_by(const Rules& policy, Decision decision, const WorkloadView& role, Memory& memory, Instant now) {
  record_first_replicas(memory, role.current, now);
  const RulesInput input{role, policy, read_load(role, load_memory(memory, now), now)};
  if (input.load.serving == 0) {
    wake(decision, role, input.load);
  } else {
    apply_rules(decision, input, read_rules(input));
    keep_spread(decision, input);
  }
  limit(decision, role, policy, memory, now);
  return finish(std::move(decision), role);
}

}  // namespace capstan::decide::scale
