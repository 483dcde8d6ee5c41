#include <algorithm>
#include <cmath>
#include <optional>

#include "decide/scale/by_policy.h"
#include "decide/scale/capstan/step.h"

namespace capstan::decide::scale {
namespace {

using model::ReasonCode;

/// Returns the whole replicas to request when demand rises. The need is rounded up, unless the usable part of the
/// safety margin covers the fraction above a whole number.
ReplicaCount replicas_when_rising(const RequiredReplicas& need) {
  return whole_replicas(need.total, std::clamp(kUsableMargin * need.margin(), kRoundingTolerance, kClearSurplus));
}

struct NeededInWindows {
  ReplicaCount replicas = 0;
  bool may_lower = true;  ///< false: the history is too short, and `replicas` is the current count
};

/// Returns the replicas to keep, so that no replica is stopped that would be started again soon. A surplus of more than
/// half a replica is removed after the short window, which lasts as long as a stop and a start. A smaller surplus is
/// removed only after the long window.
/// @param have  requested replicas, without one domain's share if the service must survive the loss of a domain
NeededInWindows needed_in_windows(Step& step, double needed, ReplicaCount have) {
  const NeedHistory history = need_history(step, needed);
  const ReplicaCount by_short_window = whole_replicas(history.round_trip_need + kClearSurplus);
  const ReplicaCount by_long_window = whole_replicas(history.longest_need);
  // Before the first measured start the cost of a stop is unknown, so only the long window counts.
  const bool by_short = step.lead_known && by_short_window <= by_long_window;
  step.window = by_short ? history.round_trip : history.longest;
  if (history.seen < (step.lead_known ? history.round_trip : history.longest)) return {have, false};
  if (!step.lead_known) return {by_long_window};
  return {history.seen < history.longest ? by_short_window : std::min(by_short_window, by_long_window)};
}

/// Returns true if the number of replicas stays because some or all of them gave no reading. Without any reading the
/// demand is unknown and not 0.
bool is_kept_without_readings(const Load& load, const Decision& decision) {
  if (load.silent == 0 || decision.desired != decision.current) return false;
  return decision.proposed < decision.current || load.silent >= load.expected_readings;
}

model::Reason reason(const Step& step, const Decision& decision, ReplicaCount asked) {
  const Sizing& s = *decision.sizing;
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
  if (decision.proposed < decision.desired) {
    return {ReasonCode::surplus_kept, {decision.proposed, s.window_milli, whole_seconds(s.window)}};
  }
  if (s.waiting + s.gateway_queued > 0 && s.backlog_drains > Duration{} && s.backlog_drains <= s.lead) {
    return {ReasonCode::backlog_drains,
            {s.waiting + s.gateway_queued, whole_seconds(s.backlog_drains), whole_seconds(s.lead)}};
  }
  return {ReasonCode::demand_met, {s.demand_milli, s.needed_milli, decision.desired}};
}

/// Returns true if the replicas stay only because a cold start would delay requests.
bool stays_warm(const Step& step, const Decision& decision) {
  const bool fewer_suffice = can_sleep(step) || decision.proposed < decision.desired;
  return fewer_suffice && decision.desired == decision.current && decision.desired <= warm_replicas(step);
}

/// Returns the number of replicas of which `needed` remain after the loss of any one domain. If the service need not
/// survive such a loss, returns `needed`.
/// @param may_lower  true: the count may be lowered
ReplicaCount sized_for_loss(const Step& step, ReplicaCount needed, bool may_lower, Decision& decision) {
  if (!step.role.spread || needed == 0) return needed;
  decision.spread = size_for_loss(*step.role.spread, needed);
  // A replica that is loading may replace one in another domain, which must serve until the new one does. The count is
  // therefore not lowered while a replica is loading.
  const bool keeps = !may_lower || step.load.variants.front().loading > 0;
  return keeps ? std::max(decision.spread->required, decision.current) : decision.spread->required;
}

/// Returns how many replicas to request so that `decision.stabilized` replicas remain after a loss. If some of
/// them are needed only until a scale-down window ends, existing replicas stay for them but none is started.
ReplicaCount held_for_loss(const Step& step, bool may_lower, Decision& decision) {
  const ReplicaCount held = sized_for_loss(step, decision.stabilized, may_lower, decision);
  if (held <= decision.current || decision.stabilized == decision.proposed) return held;
  const std::optional<SpreadSizing> held_spread = decision.spread;
  const ReplicaCount proposed = sized_for_loss(step, decision.proposed, may_lower, decision);
  if (proposed > decision.current) return proposed;
  decision.spread = held_spread;
  return decision.spread->required = decision.current;
}

/// Returns a reason about the loss of a domain: the loss cannot be survived, the current distribution does not survive
/// it, or more replicas are requested to survive it.
std::optional<model::Reason> loss_reason(const Step& step, const Decision& decision, ReplicaCount asked) {
  if (!decision.spread || decision.desired != asked) return std::nullopt;
  const SpreadSizing& s = *decision.spread;
  const bool unchanged = decision.desired == decision.current;
  const auto level = static_cast<std::int64_t>(s.level);
  if (!s.possible()) {
    if (!unchanged) return std::nullopt;
    return model::Reason{ReasonCode::loss_not_survived, {s.domains, s.need, level}};
  }
  const bool all_placed = step.load.starting == 0 && s.placed >= decision.desired;
  if (unchanged && all_placed && s.left() < s.need) {
    return model::Reason{ReasonCode::spread_uneven, {s.fullest, s.placed, s.left(), s.need, level}};
  }
  // If only a window holds the current replicas, `s.required` is their number, even if their distribution does not
  // survive a loss. The required number is therefore computed again.
  const bool survives = decision.desired >= size_for_loss(*step.role.spread, s.need).required;
  if (decision.desired < decision.current || !survives) return std::nullopt;
  return model::Reason{ReasonCode::loss_survived, {s.need, decision.desired, s.domains, s.fullest, level}};
}

/// Decides the number of replicas while none serves. Only the gateway then knows the demand.
Decision wake(Decision decision, Step& step) {
  const RequestCount queued = step.gateway_queued();
  ReplicaCount asked = std::max(decision.current, step.variants.front().min);
  decision.why = {ReasonCode::demand_unknown, {asked}};
  if (queued > 0) {
    const ReplicaCount woken =
        whole_replicas(static_cast<double>(queued) / static_cast<double>(step.first_variant_capacity().batch));
    asked = std::max(asked, sized_for_loss(step, woken, false, decision));
    decision.why = {ReasonCode::wake_for_waiting, {queued, asked}};
  }
  decision.proposed = decision.stabilized = asked;
  decision.desired = std::clamp(asked, step.variants.front().min, step.role.max);
  decision.sizing = sizing_of(step);
  decision.lead = step.lead;
  return finish(std::move(decision), step.role);
}

}  // namespace

std::vector<model::SignalField> signals_needed_by(const Capstan&) { return load_signals(); }

Duration period_of(const Capstan& policy) { return policy.sync_period; }

Decision decide_by(const Capstan& policy, Decision decision, const WorkloadView& role, Memory& memory, Instant now) {
  if (!role.alternatives.empty()) return decide_mix(policy, role, load_memory(memory, now), now);
  Step step = observe(role, policy, load_memory(memory, now), now);
  if (step.load.serving == 0) return wake(std::move(decision), step);
  const double needed = compute_need(step);
  decision.proposed = replicas_when_rising(step.need);
  const ReplicaCount in_flight =
      whole_replicas(step.load.in_flight() / static_cast<double>(step.first_variant_capacity().batch));
  const ReplicaCount warm = warm_replicas(step);
  // `have` assumes an even distribution. An uneven one would lower `have`, and replicas would stop before the end of
  // their window.
  const bool spreads = role.spread && role.spread->domains > 1;
  const ReplicaCount have = decision.current - (spreads ? even_share(decision.current, role.spread->domains) : 0);
  const NeededInWindows held = needed_in_windows(step, needed, have);
  const ReplicaCount floor = std::max({held.replicas, in_flight, warm});
  decision.stabilized = std::max(decision.proposed, std::min(floor, decision.current));
  decision.needed_now = std::max(needed_now(step), in_flight);
  if (step.load.silent > 0) decision.stabilized = std::max(decision.stabilized, have);
  const bool sleeps = can_sleep(step) && warm == 0;
  if (sleeps) decision.proposed = decision.stabilized = 0;
  const ReplicaCount asked = held_for_loss(step, held.may_lower && step.load.silent == 0, decision);
  decision.desired = std::clamp(asked, step.variants.front().min, role.max);
  decision.is_stated = asked > decision.desired;
  decision.sizing = sizing_of(step);
  decision.lead = step.lead;
  decision.why = reason(step, decision, asked);
  if (sleeps && decision.desired == 0) {
    decision.why = {ReasonCode::no_demand, {whole_seconds(now - step.memory.last_used)}};
  } else if (is_kept_without_readings(step.load, decision)) {
    decision.why = {ReasonCode::signal_missing, {step.load.silent, step.load.expected_readings}};
  } else if (const auto spread = loss_reason(step, decision, asked)) {
    decision.why = *spread;
  } else if (stays_warm(step, decision)) {
    decision.why = warm_reason(*step.warm);
  }
  return finish(std::move(decision), role);
}

}  // namespace capstan::decide::scale
