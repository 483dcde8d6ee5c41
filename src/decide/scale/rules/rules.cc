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

constexpr ReplicaCount kStepPart = 10;  // one replica in so many, and at least one, at a time

/// One signal against its two bounds.
struct Rule {
  MetricReading reading;
  bool above = false;
  bool below = false;
};

/// What all rules are read from.
struct Sight {
  const RoleView& role;
  const Rules& policy;
  Load load;
  /// At least 1, where it is asked. Where the loss of a domain is to be survived: those that it leaves, or has left, of
  /// all that are asked for. They have what all have now; what is wanted is as many more.
  ReplicaCount serving = role.spread ? left_of(*role.spread) : load.serving;

  /// One at least: where none is asked for, the last ones may still serve.
  ReplicaCount left_of(const Spread& spread) const {
    return std::max<ReplicaCount>(1, std::min(load.serving, survivors(spread, role.current)));
  }

  double mean(double total) const { return total / static_cast<double>(serving); }
  ReplicaCount fewer() const { return serving - std::max<ReplicaCount>(1, serving / kStepPart); }
  ReplicaCount more() const { return serving + std::max<ReplicaCount>(1, serving / kStepPart); }
  ReplicaCount with_a_loss(ReplicaCount wanted) const {
    return role.spread ? survive(*role.spread, wanted).asked : wanted;
  }
  /// As many as bring the mean to its bound: one more at least, twice as many at most.
  ReplicaCount for_total(double total, double bound) const {
    return std::clamp(hpa_ceil(total / bound), serving + 1, 2 * serving);
  }
};

std::int64_t rounded(double value) { return static_cast<std::int64_t>(std::clamp(value, -1e15, 1e15)); }

Rule rule_of(const Sight& sight, Kind kind, double value, std::int64_t target, ReplicaCount wanted) {
  Rule rule;
  rule.reading.kind = kind;
  rule.reading.valid = true;
  rule.reading.read = sight.load.asked - sight.load.silent;
  rule.reading.missing = sight.load.silent;
  rule.reading.mean_milli = rounded(value * 1000);
  rule.reading.target = target;
  rule.reading.ratio_per_mille = target > 0 ? rounded(value * 1000 / static_cast<double>(target)) : 0;
  rule.reading.wanted = sight.with_a_loss(wanted);
  return rule;
}

Rule queue_rule(const Sight& sight) {
  const double total = sight.load.waiting + sight.load.held;
  const auto bound = static_cast<double>(sight.policy.waiting_above);
  Rule rule =
      rule_of(sight, Kind::waiting, sight.mean(total), sight.policy.waiting_above, sight.for_total(total, bound));
  rule.reading.total = rounded(total);
  rule.above = sight.mean(total) > bound;
  rule.below = sight.mean(total) <= static_cast<double>(sight.policy.waiting_below);
  return rule;
}

/// Below also means that those who stay would not be above.
Rule kv_rule(const Sight& sight) {
  const double total = sight.load.kv_used * 1e6, bound = static_cast<double>(sight.policy.kv_above_ppm);
  Rule rule = rule_of(sight, Kind::kv, sight.mean(total), sight.policy.kv_above_ppm, sight.for_total(total, bound));
  rule.reading.total = rounded(total);
  rule.above = sight.mean(total) > bound;
  rule.below = sight.mean(total) < static_cast<double>(sight.policy.kv_below_ppm) &&
               total <= bound * static_cast<double>(sight.fewer());
  rule.reading.read -= sight.load.without_kv;
  rule.reading.missing += sight.load.without_kv;
  rule.reading.valid = rule.reading.read > 0;
  return rule;
}

/// The replica at nine tenths: of fewer than ten, the slowest.
double slow_one(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>((values.size() * 9 + 9) / 10 - 1);
  std::ranges::nth_element(values, at);
  return *at;
}

double ttft_s(const Load::Each& each) { return each.ttft_p99_s; }
/// Of every token in the interval: what runs at once, over what is generated in a second.
double tpot_s(const Load::Each& each) { return each.generated_rate > 0 ? each.running / each.generated_rate : 0; }

Rule latency_rule(const Sight& sight, Kind kind, Duration bound, double (*of)(const Load::Each&)) {
  std::vector<double> values;
  for (const Load::Each& each : sight.load.each) values.push_back(of(each));
  const double slow_us = slow_one(std::move(values)) * 1e6, bound_us = static_cast<double>(bound.count()) * 1e-3;
  Rule rule = rule_of(sight, kind, slow_us, rounded(bound_us), sight.more());
  rule.above = slow_us > bound_us;
  rule.below = slow_us * 100 < bound_us * static_cast<double>(sight.policy.latency_below_percent);
  return rule;
}

/// Share of the tokens that come from replicas which hold the SLO. Nothing is generated: nothing is missed.
Rule goodput_rule(const Sight& sight) {
  const model::Slo& slo = sight.role.slo;
  double all = 0, good = 0;
  for (const Load::Each& each : sight.load.each) {
    const bool first = slo.ttft <= Duration{} || ttft_s(each) <= in_seconds(slo.ttft);
    const bool later = slo.tpot <= Duration{} || tpot_s(each) <= in_seconds(slo.tpot);
    all += each.generated_rate;
    good += first && later ? each.generated_rate : 0;
  }
  const std::int64_t target = sight.policy.goodput_below_ppm > 0 ? sight.policy.goodput_below_ppm
                                                                 : static_cast<std::int64_t>(slo.attainment_ppm);
  const double share_ppm = all > 0 ? good / all * 1e6 : 1e6;
  Rule rule = rule_of(sight, Kind::goodput, share_ppm, target, sight.more());
  rule.above = share_ppm < static_cast<double>(target);
  rule.below = !rule.above;
  return rule;
}

std::vector<Rule> read_rules(const Sight& sight) {
  const ScaleOn on = sight.policy.scale_on;
  const bool all = on == ScaleOn::all;
  const model::Slo& slo = sight.role.slo;
  std::vector<Rule> rules;
  if (all || on == ScaleOn::queue) rules.push_back(queue_rule(sight));
  if (all || on == ScaleOn::kv) rules.push_back(kv_rule(sight));
  if (all || on == ScaleOn::goodput) rules.push_back(goodput_rule(sight));
  // A goodput that is whole does not say by how much: the latencies do.
  const bool latencies = all || on == ScaleOn::latency || on == ScaleOn::goodput;
  if (latencies && slo.ttft > Duration{}) rules.push_back(latency_rule(sight, Kind::ttft, slo.ttft, ttft_s));
  if (latencies && slo.tpot > Duration{}) rules.push_back(latency_rule(sight, Kind::tpot, slo.tpot, tpot_s));
  if (on == ScaleOn::goodput) {
    for (Rule& rule : rules) rule.above = rule.above && rule.reading.kind == Kind::goodput;
  }
  return rules;
}

/// Replicas that do not tell what some rule asks for.
ReplicaCount silent(const Sight& sight) {
  const ScaleOn on = sight.policy.scale_on;
  const bool latencies = on == ScaleOn::all || on == ScaleOn::latency || on == ScaleOn::goodput;
  if (latencies && sight.role.slo.ttft > Duration{} && sight.load.ttft_unknown()) return sight.load.asked;
  const bool kv = on == ScaleOn::all || on == ScaleOn::kv;
  return sight.load.silent + (kv ? sight.load.without_kv : 0);
}

model::Reason crossed(const MetricReading& reading, const Decision& decision) {
  const std::int64_t value = reading.mean_milli / 1000;
  switch (reading.kind) {
    case Kind::kv:
      return {ReasonCode::kv_above_bound, {value / 10'000, reading.target / 10'000, reading.wanted, decision.counted}};
    case Kind::ttft:
      return {ReasonCode::ttft_above_bound, {value / 1000, reading.target / 1000, reading.wanted, decision.counted}};
    case Kind::tpot:
      return {ReasonCode::tpot_above_bound, {value / 1000, reading.target / 1000, reading.wanted, decision.counted}};
    case Kind::goodput:
      return {ReasonCode::goodput_below_bound, {value / 1000, reading.target / 1000, reading.wanted, decision.counted}};
    default:
      return {ReasonCode::queue_above_target, {reading.total, reading.target, reading.wanted, decision.counted}};
  }
}

/// Where it is only to be kept that a loss is survived, more may be asked for, and none is given up for it.
void keep_spread(Decision& decision, const Sight& sight) {
  if (!sight.role.spread) return;
  decision.spread = survive(*sight.role.spread, sight.serving);
  const SpreadSizing& s = *decision.spread;
  if (decision.wanted != decision.current) return;
  if (!s.possible()) {
    decision.why = {ReasonCode::loss_not_survived, {s.domains, s.need}};
  } else if (sight.load.starting == 0 && s.left() < s.need) {
    decision.why = {ReasonCode::spread_uneven, {s.fullest, s.placed, s.left(), s.need}};
  }
}

/// By the rules alone, before any window or bound.
void weigh(Decision& decision, const Sight& sight, const std::vector<Rule>& rules) {
  const Rule* most = nullptr;
  std::int64_t not_below = 0;
  for (const Rule& rule : rules) {
    decision.readings.push_back(rule.reading);
    if (rule.above && (most == nullptr || rule.reading.wanted > most->reading.wanted)) most = &rule;
    not_below += !rule.below;
  }
  const ReplicaCount mute = silent(sight);
  if (most != nullptr && most->reading.wanted > decision.current) {
    decision.wanted = most->reading.wanted;
    decision.why = crossed(most->reading, decision);
  } else if (most != nullptr) {
    decision.why = {ReasonCode::rules_on_the_way, {sight.load.starting, most->reading.wanted}};
  } else if (mute > 0 || rules.empty()) {
    decision.why = {ReasonCode::signal_missing, {mute, sight.load.asked}};
  } else if (not_below > 0 || sight.load.starting > 0) {
    decision.why = {ReasonCode::rules_between, {not_below, static_cast<std::int64_t>(rules.size())}};
  } else {
    decision.wanted = std::min(sight.with_a_loss(sight.fewer()), decision.current);
    decision.why = {ReasonCode::rules_all_below, {whole_seconds(sight.policy.cool_down), decision.wanted}};
  }
}

/// Nothing serves: no rule has anything to read but the gateway's queue.
void wake(Decision& decision, const RoleView& role, const Load& load) {
  const RequestCount held = load.gateway_read ? rounded(load.held) : 0;
  decision.why = {ReasonCode::demand_unknown, {decision.current}};
  if (held > 0 && decision.current == 0) {
    decision.wanted = std::max<ReplicaCount>(1, role.min);
    decision.why = {ReasonCode::wake_for_waiting, {held, decision.wanted}};
  }
}

/// What the window and the bounds leave of it, and the reason where that is another.
void limit(Decision& decision, const RoleView& role, const Rules& policy, Memory& memory, Instant now) {
  HpaSettings window;
  window.downscale_stabilization = policy.cool_down;
  decision.held_to = stabilize(memory, window, role.current, decision.wanted, now);
  decision.desired = std::clamp(decision.held_to, role.min, role.max);
  if (decision.desired < decision.held_to) decision.why = {ReasonCode::at_maximum, {decision.held_to, role.max}};
  if (decision.desired > decision.held_to) decision.why = {ReasonCode::at_minimum, {decision.held_to, role.min}};
  if (decision.desired == decision.held_to && decision.held_to > decision.wanted) {
    decision.why = {ReasonCode::cooling_down, {decision.wanted, decision.held_to, whole_seconds(policy.cool_down)}};
  }
}

}  // namespace

std::vector<model::SignalField> needs_of(const Rules& policy) {
  std::vector<model::SignalField> needs = load_signals();
  const bool kv = policy.scale_on == ScaleOn::all || policy.scale_on == ScaleOn::kv;
  if (kv) needs.push_back(&model::ReplicaSignals::kv_usage_ppm);
  return needs;
}

Duration period_of(const Rules& policy) { return policy.sync_period; }

Decision decide_by(const Rules& policy, Decision decision, const RoleView& role, Memory& memory, Instant now) {
  note_first_sight(memory, role.current, now);
  const Sight sight{role, policy, read_load(role, load_memory(memory, now), now)};
  if (sight.load.serving == 0) {
    wake(decision, role, sight.load);
  } else {
    weigh(decision, sight, read_rules(sight));
    keep_spread(decision, sight);
  }
  limit(decision, role, policy, memory, now);
  return finish(std::move(decision), role);
}

}  // namespace capstan::decide::scale
