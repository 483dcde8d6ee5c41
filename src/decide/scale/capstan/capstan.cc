#include <algorithm>
#include <cmath>

#include "decide/scale/by_policy.h"
#include "decide/scale/capstan/step.h"

namespace capstan::decide::scale {
namespace {

using model::ReasonCode;

/// How many to ask for where more are needed: a part of what is kept in hand may be used up first.
ReplicaCount raised(const Sizing& s, double needed) {
  const double in_hand = needed - static_cast<double>(s.forecast_milli + s.backlog_milli) / 1000.0;
  return whole(needed, std::clamp(kMarginTolerated * in_hand, kTolerated, kClearly));
}

/// How many fewer would have sufficed for as long as stopping one and starting it again costs. What lies beyond the
/// spread of demand may go after the short window, the rest only after the long one.
ReplicaCount hold(Step& step, double needed) {
  const LookBack back = look_back(step, needed);
  const ReplicaCount soon = whole(back.soon + kClearly);
  const ReplicaCount late = whole(back.late);
  // Before the first start nobody knows what a stop would cost.
  const bool by_short = step.lead_known && soon <= late;
  tell_window(step, by_short ? back.round_trip : back.longest);
  if (back.seen < (step.lead_known ? back.round_trip : back.longest)) return step.role.current;
  if (!step.lead_known) return late;
  return back.seen < back.longest ? soon : std::min(soon, late);
}

model::Reason reason(const Step& step, const Decision& decision, ReplicaCount asked) {
  const Sizing& s = step.sizing;
  if (decision.desired != asked) {
    const ReplicaCount least = step.variants.front().min;
    if (asked > decision.desired) return {ReasonCode::at_maximum, {asked, step.role.max}};
    if (least == step.role.min) return {ReasonCode::at_minimum, {asked, least}};
    return {ReasonCode::minimum_ahead, {asked, least}};
  }
  if (decision.desired > decision.current) {
    return {ReasonCode::demand_rising, {s.demand_milli, s.needed_milli, whole_seconds(s.lead), decision.desired}};
  }
  if (decision.desired < decision.current) {
    return {ReasonCode::demand_falling, {s.window_milli, whole_seconds(s.window), decision.desired, decision.counted}};
  }
  if (decision.wanted < decision.desired) {
    return {ReasonCode::surplus_kept, {decision.wanted, s.window_milli, whole_seconds(s.window)}};
  }
  if (s.waiting + s.held > 0 && s.backlog_drains > Duration{} && s.backlog_drains <= s.lead) {
    return {ReasonCode::backlog_drains, {s.waiting + s.held, whole_seconds(s.backlog_drains), whole_seconds(s.lead)}};
  }
  return {ReasonCode::demand_met, {s.demand_milli, s.needed_milli, decision.desired}};
}

/// Nothing serves: only the gateway knows what is asked for.
Decision wake(Decision decision, Step& step) {
  const RequestCount held = step.load.gateway_read ? step.sizing.held : 0;
  ReplicaCount asked = std::max(decision.current, step.variants.front().min);
  decision.why = {ReasonCode::demand_unknown, {asked}};
  if (held > 0) {
    asked = std::max(asked, whole(static_cast<double>(held) / static_cast<double>(step.unit().batch)));
    decision.why = {ReasonCode::wake_for_waiting, {held, asked}};
  }
  decision.wanted = decision.held_to = asked;
  decision.desired = std::clamp(asked, step.variants.front().min, step.role.max);
  decision.sizing = step.sizing;
  return finish(std::move(decision), step.role);
}

}  // namespace

std::vector<model::SignalField> needs_of(const Capstan&) { return load_signals(); }

Duration period_of(const Capstan& policy) { return policy.sync_period; }

Decision decide_by(const Capstan& policy, Decision decision, const RoleView& role, Memory& memory, Instant now) {
  if (!role.beside.empty()) return decide_mix(policy, role, load_memory(memory, now), now);
  Step step = observe(role, policy, load_memory(memory, now), now);
  if (step.load.serving == 0) return wake(std::move(decision), step);
  const double needed = size(step);
  decision.wanted = raised(step.sizing, needed);
  const ReplicaCount in_flight = whole(step.load.in_flight() / static_cast<double>(step.unit().batch));
  const ReplicaCount floor = std::max(hold(step, needed), std::min(in_flight, decision.current));
  decision.held_to = std::max(decision.wanted, std::min(floor, decision.current));
  if (step.load.silent > 0) decision.held_to = std::max(decision.held_to, decision.current);
  ReplicaCount asked = decision.held_to;
  const bool sleeps = may_sleep(step);
  if (sleeps) asked = decision.wanted = decision.held_to = 0;
  decision.desired = std::clamp(asked, step.variants.front().min, role.max);
  decision.sizing = step.sizing;
  decision.why = reason(step, decision, asked);
  if (sleeps && decision.desired == 0) {
    decision.why = {ReasonCode::no_demand, {whole_seconds(now - step.memory.last_used)}};
  } else if (step.load.silent > 0 && decision.desired == decision.current && decision.wanted < decision.current) {
    decision.why = {ReasonCode::signal_missing, {step.load.silent, step.load.asked}};
  }
  return finish(std::move(decision), role);
}

}  // namespace capstan::decide::scale
