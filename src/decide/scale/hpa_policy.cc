#include <algorithm>
#include <span>

#include "decide/scale/by_policy.h"
#include "decide/scale/hpa.h"
#include "decide/scale/hpa_metrics.h"

namespace capstan::decide::scale {
namespace {

using model::Gang;
using model::ReasonCode;

const model::Signal& signal_of(const model::ReplicaSignals& signals, MetricReading::Kind kind) {
  switch (kind) {
    case MetricReading::Kind::duty_cycle:
      return signals.duty_cycle_percent;
    case MetricReading::Kind::memory:
      return signals.memory_used_percent;
    case MetricReading::Kind::running:
      return signals.running;
    default:  // waiting is the only other metric that HPA reads
      break;
  }
  return signals.waiting;
}

std::int64_t per_mille(double ratio) { return static_cast<std::int64_t>(std::min(ratio, 1e12) * 1000.0); }

/// HPA's proposal for one metric, and its arithmetic for the explanation.
struct MetricProposal {
  HpaProposal proposal;
  MetricReading reading;
};

/// Returns HPA's calculation for one metric. HPA ignores the age of a reading: a stale value counts.
MetricProposal read_metric(const WorkloadView& role, MetricReading::Kind kind, std::int64_t target,
                           const HpaSettings& settings) {
  MetricReading reading{.kind = kind, .target = target};
  std::vector<HpaPod> pods;
  for (const WorkloadView::Replica& replica : role.replicas) {
    if (replica.phase == Gang::Phase::draining) continue;
    const model::Signal& signal = signal_of(replica.signals, kind);
    if (replica.phase == Gang::Phase::pending) {
      pods.push_back({HpaPod::Group::unready, 0, {}});
      ++reading.unready;
    } else if (signal.state == model::Signal::State::missing) {
      pods.push_back({HpaPod::Group::missing, 0, {}});
      ++reading.missing;
    } else {
      pods.push_back({HpaPod::Group::ready, signal.value * 1000, {}});
      ++reading.read;
      reading.total += signal.value;
    }
  }
  const HpaProposal proposal = propose_by_pods(pods, target * 1000, role.current, settings);
  reading.valid = proposal.valid;
  reading.mean_milli = proposal.mean_milli;
  reading.ratio_per_mille = per_mille(proposal.ratio);
  reading.filled_ratio_per_mille = per_mille(proposal.filled_ratio);
  reading.within_tolerance = proposal.within_tolerance;
  reading.proposed = proposal.replicas;
  return {proposal, reading};
}

/// Returns the reason that follows from the metric alone.
model::Reason metric_reason(const MetricReading& reading, const Decision& decision, const HpaSettings& settings) {
  const bool up = reading.proposed > decision.current;
  if (reading.within_tolerance) {
    const bool above = reading.filled_ratio_per_mille >= 1000;
    return {
        ReasonCode::within_tolerance,
        {reading.filled_ratio_per_mille, above ? settings.tolerance_up_per_mille : settings.tolerance_down_per_mille}};
  }
  if (reading.proposed == decision.current && (reading.missing > 0 || reading.unready > 0)) {
    return {
        ReasonCode::filled_in,
        {reading.ratio_per_mille, reading.filled_ratio_per_mille, reading.missing + reading.unready, decision.current}};
  }
  const std::int64_t mean = reading.mean_milli / 1000;
  switch (reading.kind) {
    case MetricReading::Kind::duty_cycle:
      return {up ? ReasonCode::duty_above_target : ReasonCode::duty_below_target,
              {mean, reading.target, reading.proposed, decision.counted}};
    case MetricReading::Kind::memory:
      return {up ? ReasonCode::memory_above_target : ReasonCode::memory_below_target,
              {mean, reading.target, reading.proposed, decision.counted}};
    case MetricReading::Kind::running:
      return {up ? ReasonCode::running_above_target : ReasonCode::running_below_target,
              {reading.total, reading.target, reading.proposed, decision.counted}};
    default:  // waiting is the only other metric that HPA reads
      break;
  }
  return {up ? ReasonCode::queue_above_target : ReasonCode::queue_below_target,
          {reading.total, reading.target, reading.proposed, decision.counted}};
}

/// Returns true if the current replicas are outside the bounds. HPA then reads no metric and goes to the bound at once.
bool outside_bounds(Decision& decision, const WorkloadView& role) {
  if (role.current > role.max) {
    decision.desired = role.max;
    decision.is_stated = true;
    decision.why = {ReasonCode::above_maximum, {role.current, role.max}};
  } else if (role.current < role.min) {
    decision.desired = role.min;
    decision.why = {ReasonCode::below_minimum, {role.current, role.min}};
  } else {
    return false;
  }
  decision.proposed = decision.stabilized = decision.desired;
  return true;
}

/// Returns true if the count that a window holds is beyond a bound although the metric's own count is not.
bool only_window_exceeds(const Decision& decision, const WorkloadView& role) {
  return (decision.stabilized > role.max && decision.proposed <= role.max) ||
         (decision.stabilized < role.min && decision.proposed >= role.min);
}

/// Returns true if the maximum limits the metric's count.
bool is_at_maximum(const Decision& decision, const WorkloadView& role) {
  return decision.desired == role.max && decision.stabilized > role.max && !only_window_exceeds(decision, role);
}

/// Returns the reason of a window or limit that changed the metric's count, else `metric`.
model::Reason limit_reason(const Decision& decision, const WorkloadView& role, const HpaSettings& settings,
                           model::Reason metric) {
  if (is_at_maximum(decision, role)) return {ReasonCode::at_maximum, {decision.stabilized, role.max}};
  if (decision.desired != decision.stabilized && !only_window_exceeds(decision, role)) {
    if (decision.desired == role.min && decision.stabilized < role.min) {
      return {ReasonCode::at_minimum, {decision.stabilized, role.min}};
    }
    return {ReasonCode::rate_limited, {decision.stabilized, decision.desired}};
  }
  if (decision.stabilized != decision.proposed) {
    const bool down = decision.proposed < decision.stabilized;
    const Duration window = !settings.behavior ? settings.downscale_stabilization
                            : down             ? settings.behavior->down.stabilization
                                               : settings.behavior->up.stabilization;
    return {ReasonCode::cooling_down, {decision.proposed, decision.stabilized, whole_seconds(window)}};
  }
  return metric;
}

struct Target {
  MetricReading::Kind kind;
  std::int64_t value;
};

/// Returns the number of ready replicas that lack a usable reading of at least one of the metrics.
ReplicaCount silent_replicas(const WorkloadView& role, std::span<const Target> targets) {
  return std::ranges::count_if(role.replicas, [&](const WorkloadView::Replica& replica) {
    return replica.phase == Gang::Phase::ready && std::ranges::any_of(targets, [&](const Target& target) {
             return !signal_of(replica.signals, target.kind).usable();
           });
  });
}

/// Returns the reason why the count is not lowered: the metric without a reading, else the silent replicas.
model::Reason silence_reason(const Decision& decision, const WorkloadView& role, ReplicaCount silent) {
  const auto reading = std::ranges::find(decision.readings, false, &MetricReading::valid);
  if (reading == decision.readings.end()) {
    return {ReasonCode::signal_missing, {silent, static_cast<std::int64_t>(role.replicas.size())}};
  }
  const ReplicaCount pods = reading->read + reading->missing + reading->unready;
  if (pods == 0) return {ReasonCode::no_replica_to_read, {role.current}};
  if (reading->unready == pods) return {ReasonCode::replicas_starting, {pods}};
  return {ReasonCode::signal_missing, {reading->missing + reading->unready, pods}};
}

Decision hpa(Decision decision, const WorkloadView& role, std::span<const Target> targets, const HpaSettings& settings,
             Memory& memory, Instant now) {
  record_first_replicas(memory, role.current, now);
  if (role.current == 0 && role.min != 0) {
    decision.why = {ReasonCode::scaling_disabled, {role.min}};
    return finish(std::move(decision), role);
  }
  if (outside_bounds(decision, role)) {
    record_change(memory, settings, decision.current, decision.desired, now);
    return finish(std::move(decision), role);
  }

  std::optional<MetricProposal> highest;
  ReplicaCount invalid = 0;
  for (const Target& target : targets) {
    const MetricProposal metric = read_metric(role, target.kind, target.value, settings);
    decision.readings.push_back(metric.reading);
    if (!metric.proposal.valid)
      ++invalid;
    else if (!highest || metric.proposal.replicas > highest->proposal.replicas)
      highest = metric;
  }
  const ReplicaCount silent = silent_replicas(role, targets);
  if (settings.blocks_scale_down_if_silent && (silent > 0 || invalid > 0)) {
    const ReplicaCount floor = std::min(std::max(role.current, memory.recommended), role.max);
    if (!highest || highest->proposal.replicas <= floor) {
      decision.why = silence_reason(decision, role, silent);
      decision.proposed = decision.stabilized = decision.desired = floor;
      stabilize(memory, settings, role.current, floor, now);  // restarts the window
      record_change(memory, settings, decision.current, decision.desired, now);
      return finish(std::move(decision), role);
    }
  }
  // One metric suffices for a scale-up; a scale-down needs a reading of every metric.
  if (!highest || (invalid > 0 && highest->proposal.replicas < role.current)) {
    decision.why = silence_reason(decision, role, 0);
    return finish(std::move(decision), role);
  }

  decision.proposed = highest->proposal.replicas;
  decision.stabilized = stabilize(memory, settings, role.current, decision.proposed, now);
  decision.desired = limit_rate(memory, settings, role.current, decision.stabilized, role.min, role.max, now).replicas;
  record_change(memory, settings, decision.current, decision.desired, now);
  decision.is_stated = is_at_maximum(decision, role);
  decision.why = limit_reason(decision, role, settings, metric_reason(highest->reading, decision, settings));
  return finish(std::move(decision), role);
}

}  // namespace

std::vector<model::SignalField> signals_needed_by(const DutyCycleHpa&) {
  return {&model::ReplicaSignals::duty_cycle_percent};
}

std::vector<model::SignalField> signals_needed_by(const MemoryHpa&) {
  return {&model::ReplicaSignals::memory_used_percent};
}

std::vector<model::SignalField> signals_needed_by(const QueueHpa& policy) {
  std::vector<model::SignalField> signals = {&model::ReplicaSignals::waiting};
  if (policy.running_per_replica) signals.push_back(&model::ReplicaSignals::running);
  return signals;
}

Duration period_of(const DutyCycleHpa& policy) { return policy.hpa.sync_period; }
Duration period_of(const MemoryHpa& policy) { return policy.hpa.sync_period; }
Duration period_of(const QueueHpa& policy) { return policy.hpa.sync_period; }

Decision decide_by(const DutyCycleHpa& policy, Decision decision, const WorkloadView& role, Memory& memory,
                   Instant now) {
  const Target targets[] = {{MetricReading::Kind::duty_cycle, policy.target_percent}};
  return hpa(std::move(decision), role, targets, policy.hpa, memory, now);
}

Decision decide_by(const MemoryHpa& policy, Decision decision, const WorkloadView& role, Memory& memory, Instant now) {
  const Target targets[] = {{MetricReading::Kind::memory, policy.target_percent}};
  return hpa(std::move(decision), role, targets, policy.hpa, memory, now);
}

Decision decide_by(const QueueHpa& policy, Decision decision, const WorkloadView& role, Memory& memory, Instant now) {
  std::vector<Target> targets = {{MetricReading::Kind::waiting, policy.waiting_per_replica}};
  if (policy.running_per_replica) targets.push_back({MetricReading::Kind::running, *policy.running_per_replica});
  return hpa(std::move(decision), role, targets, policy.hpa, memory, now);
}

}  // namespace capstan::decide::scale
