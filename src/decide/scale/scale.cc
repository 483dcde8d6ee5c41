#include "decide/scale/scale.h"

#include <algorithm>

#include "base/assert.h"
#include "decide/scale/by_policy.h"

namespace capstan::decide::scale {
namespace {

using model::ReasonCode;

/// Raises the decision to the floor, up to the maximum, and undoes any scale-down.
Decision keep_floor(Decision decision, const WorkloadView& role, ReplicaCount floor) {
  const ReplicaCount least = std::max(role.current, std::min(floor, role.max));
  if (decision.desired >= least) return decision;
  decision.desired = decision.stabilized = least;
  decision.why = {ReasonCode::slo_roll_back, {least, role.current, floor}};
  decision.is_stated = false;
  decision.drain.clear();
  decision.plan = {};
  return finish(std::move(decision), role);
}

}  // namespace

Duration period(const Policy& policy) {
  return std::visit([](const auto& settings) { return period_of(settings); }, policy);
}

std::vector<model::SignalField> needed_signals(const Policy& policy) {
  return std::visit([](const auto& settings) { return signals_needed_by(settings); }, policy);
}

Decision finish(Decision decision, const WorkloadView& role) {
  if (decision.desired == decision.current) {
    decision.plan.no_actions.push_back({model::Plan::NoAction::Subject::service, decision.service.value, decision.why});
    return decision;
  }
  if (decision.desired < decision.current) decision.drain = victims(role, decision.desired);
  decision.plan.actions.push_back(
      {model::SetReplicas{decision.service, decision.desired, decision.drain, decision.is_stated}, decision.why});
  return decision;
}

Decision decide(const WorkloadView& role, const Policy& policy, Memory& memory, Instant now) {
  CAPSTAN_ASSERT(role.min <= role.max);
  Decision decision;
  decision.service = role.service;
  decision.current = decision.proposed = decision.stabilized = decision.desired = role.current;
  const auto existing = std::ranges::count_if(
      role.replicas, [](const WorkloadView::Replica& r) { return r.phase != model::Gang::Phase::draining; });
  decision.counted = std::max(role.current, static_cast<ReplicaCount>(existing));

  decision = std::visit(
      [&](const auto& settings) { return decide_by(settings, std::move(decision), role, memory, now); }, policy);
  if (decision.needed_now == 0) decision.needed_now = decision.desired;
  if (memory.floor > 0) {
    decision = keep_floor(std::move(decision), role, memory.floor);
    decision.needed_now = std::max(decision.needed_now, role.current);
  }
  memory.recommended = decision.desired;
  return decision;
}

}  // namespace capstan::decide::scale
