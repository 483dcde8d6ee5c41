#pragma once

#include "decide/scale/scale.h"

/// The functions that each policy implements: its interval, the signals it needs of a replica, and its decision.
/// `decide` dispatches on the type of the settings.
namespace capstan::decide::scale {

Duration period_of(const Fixed& policy);
Duration period_of(const DutyCycleHpa& policy);
Duration period_of(const MemoryHpa& policy);
Duration period_of(const QueueHpa& policy);
Duration period_of(const Capstan& policy);
Duration period_of(const Rules& policy);

std::vector<model::SignalField> signals_needed_by(const Fixed& policy);
std::vector<model::SignalField> signals_needed_by(const DutyCycleHpa& policy);
std::vector<model::SignalField> signals_needed_by(const MemoryHpa& policy);
std::vector<model::SignalField> signals_needed_by(const QueueHpa& policy);
std::vector<model::SignalField> signals_needed_by(const Capstan& policy);
std::vector<model::SignalField> signals_needed_by(const Rules& policy);

/// @param decision the service, its variant and its current replicas; all counts start at the current replicas
/// @return the finished decision, with its plan
Decision decide_by(const Fixed& policy, Decision decision, const WorkloadView& role, Memory& memory, Instant now);
Decision decide_by(const DutyCycleHpa& policy, Decision decision, const WorkloadView& role, Memory& memory,
                   Instant now);
Decision decide_by(const MemoryHpa& policy, Decision decision, const WorkloadView& role, Memory& memory, Instant now);
Decision decide_by(const QueueHpa& policy, Decision decision, const WorkloadView& role, Memory& memory, Instant now);
Decision decide_by(const Capstan& policy, Decision decision, const WorkloadView& role, Memory& memory, Instant now);
Decision decide_by(const Rules& policy, Decision decision, const WorkloadView& role, Memory& memory, Instant now);

/// Turns `desired` into a plan: one action, or the reason why there is none.
Decision finish(Decision decision, const WorkloadView& role);

}  // namespace capstan::decide::scale
