#include <algorithm>
#include <cmath>
#include <optional>

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

struct Held {
  ReplicaCount replicas = 0;
  bool settled = true;  ///< long enough seen to say so; else they are all there are
};

/// How many fewer would have sufficed for as long as stopping one and starting it again costs. What lies beyond the
/// spread of demand may go after the short window, the rest only after the long one.
/// @param have  that hold the SLO of those there are
Held hold(Step& step, double needed, ReplicaCount have) {
  const LookBack back = look_back(step, needed);
  const ReplicaCount soon = whole(back.soon + kClearly);
  const ReplicaCount late = whole(back.late);
  // Before the first start nobody knows what a stop would cost.
  const bool by_short = step.lead_known && soon <= late;
  tell_window(step, by_short ? back.round_trip : back.longest);
  if (back.seen < (step.lead_known ? back.round_trip : back.longest)) return {have, false};
  if (!step.lead_known) return {late};
  return {back.seen < back.longest ? soon : std::min(soon, late)};
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

/// It is for the requests that a start would make late that so many stay.
bool stays_warm(const Step& step, const Decision& decision) {
  const bool fewer_would_do = could_sleep(step) || decision.wanted < decision.desired;
  return fewer_would_do && decision.desired == decision.current && decision.desired <= kept_warm(step);
}

/// So many that the loss of any one domain leaves those that are needed, where that is asked for.
/// @param settled  fewer may be asked for than there are
ReplicaCount with_a_loss(const Step& step, ReplicaCount needed, bool settled, Decision& decision) {
  if (!step.role.spread || needed == 0) return needed;
  decision.spread = survive(*step.role.spread, needed);
  // What is moved from a full domain to another goes when the other serves.
  const bool keeps = !settled || step.load.variants.front().loading > 0;
  return keeps ? std::max(decision.spread->asked, decision.current) : decision.spread->asked;
}

/// As many as leave what is wanted. For what the windows hold beyond that none is started: no more than there are stay.
ReplicaCount held_with_a_loss(const Step& step, bool settled, Decision& decision) {
  const ReplicaCount held = with_a_loss(step, decision.held_to, settled, decision);
  if (held <= decision.current || decision.held_to == decision.wanted) return held;
  const std::optional<SpreadSizing> of_held = decision.spread;
  const ReplicaCount wanted = with_a_loss(step, decision.wanted, settled, decision);
  if (wanted > decision.current) return wanted;
  decision.spread = of_held;
  return decision.spread->asked = decision.current;
}

/// What there is to say of a loss that is to be survived: that it cannot be, that it would not be as replicas stand, or
/// that it is what more are asked for.
std::optional<model::Reason> why_spread(const Step& step, const Decision& decision, ReplicaCount asked) {
  if (!decision.spread || decision.desired != asked) return std::nullopt;
  const SpreadSizing& s = *decision.spread;
  const bool still = decision.desired == decision.current;
  if (!s.possible()) {
    if (!still) return std::nullopt;
    return model::Reason{ReasonCode::loss_not_survived, {s.domains, s.need}};
  }
  const bool all_stand = step.load.starting == 0 && s.placed >= decision.desired;
  if (still && all_stand && s.left() < s.need) {
    return model::Reason{ReasonCode::spread_uneven, {s.fullest, s.placed, s.left(), s.need}};
  }
  // Those that stay for a window may stand where a loss takes too many of them.
  const bool survives = decision.desired >= survive(*step.role.spread, s.need).asked;
  if (decision.desired < decision.current || !survives) return std::nullopt;
  return model::Reason{ReasonCode::loss_survived, {s.need, decision.desired, s.domains, s.fullest}};
}

/// Nothing serves: only the gateway knows what is asked for.
Decision wake(Decision decision, Step& step) {
  const RequestCount held = step.load.gateway_read ? step.sizing.held : 0;
  ReplicaCount asked = std::max(decision.current, step.variants.front().min);
  decision.why = {ReasonCode::demand_unknown, {asked}};
  if (held > 0) {
    const ReplicaCount woken = whole(static_cast<double>(held) / static_cast<double>(step.unit().batch));
    asked = std::max(asked, with_a_loss(step, woken, false, decision));
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
  const ReplicaCount warm = kept_warm(step);
  // Of a spread fleet, by its size alone: one that stands badly is not to lose its windows for it.
  const bool spreads = role.spread && role.spread->domains > 1;
  const ReplicaCount have = decision.current - (spreads ? even_share(decision.current, role.spread->domains) : 0);
  const Held held = hold(step, needed, have);
  const ReplicaCount floor = std::max({held.replicas, in_flight, warm});
  decision.held_to = std::max(decision.wanted, std::min(floor, decision.current));
  decision.needed_now = std::max(needed_now(step), in_flight);
  if (step.load.silent > 0) decision.held_to = std::max(decision.held_to, have);
  const bool sleeps = could_sleep(step) && warm == 0;
  if (sleeps) decision.wanted = decision.held_to = 0;
  const ReplicaCount asked = held_with_a_loss(step, held.settled && step.load.silent == 0, decision);
  decision.desired = std::clamp(asked, step.variants.front().min, role.max);
  decision.sizing = step.sizing;
  decision.why = reason(step, decision, asked);
  if (sleeps && decision.desired == 0) {
    decision.why = {ReasonCode::no_demand, {whole_seconds(now - step.memory.last_used)}};
  } else if (step.load.silent > 0 && decision.desired == decision.current && decision.wanted < decision.current) {
    decision.why = {ReasonCode::signal_missing, {step.load.silent, step.load.asked}};
  } else if (const auto spread = why_spread(step, decision, asked)) {
    decision.why = *spread;
  } else if (stays_warm(step, decision)) {
    decision.why = too_late(*step.sizing.warm);
  }
  return finish(std::move(decision), role);
}

}  // namespace capstan::decide::scale
