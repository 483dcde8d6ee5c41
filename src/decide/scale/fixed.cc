#include "decide/scale/fixed.h"

#include <algorithm>

#include "decide/scale/by_policy.h"

namespace capstan::decide::scale {

Duration period_of(const Fixed& policy) { return policy.period; }

std::vector<model::SignalField> signals_needed_by(const Fixed&) { return {}; }

Decision decide_by(const Fixed& policy, Decision decision, const WorkloadView& role, Memory&, Instant) {
  decision.proposed = decision.stabilized = policy.replicas;
  decision.desired = std::clamp(policy.replicas, role.min, role.max);
  decision.is_stated = decision.desired <= policy.replicas;
  decision.why = {model::ReasonCode::fixed_replicas, {policy.replicas}};
  if (decision.desired < policy.replicas) decision.why = {model::ReasonCode::at_maximum, {policy.replicas, role.max}};
  if (decision.desired > policy.replicas) decision.why = {model::ReasonCode::at_minimum, {policy.replicas, role.min}};
  return finish(std::move(decision), role);
}

}  // namespace capstan::decide::scale
