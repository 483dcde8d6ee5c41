#include "decide/scale/scale.h"

#include <algorithm>
#include <tuple>

#include "base/assert.h"
#include "decide/scale/hpa.h"
#include "decide/scale/hpa_metrics.h"

namespace capstan::decide::scale {
namespace {

using model::Gang;
using model::ReasonCode;

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

const model::Signal& signal_of(const model::ReplicaSignals& signals, MetricReading::Kind kind) {
  switch (kind) {
    case MetricReading::Kind::duty_cycle:
      return signals.duty_cycle_percent;
    case MetricReading::Kind::memory:
      return signals.memory_used_percent;
    case MetricReading::Kind::running:
      return signals.running;
    case MetricReading::Kind::waiting:
      break;
  }
  return signals.waiting;
}

std::int64_t per_mille(double ratio) { return static_cast<std::int64_t>(std::min(ratio, 1e12) * 1000.0); }

/// What HPA makes of one metric. It asks no reading for its age: a stale value is a value.
MetricReading read_metric(const RoleView& role, MetricReading::Kind kind, std::int64_t target,
                          const HpaSettings& settings) {
  MetricReading reading{.kind = kind, .target = target};
  std::vector<HpaPod> pods;
  for (const RoleView::Replica& replica : role.replicas) {
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
  reading.wanted = proposal.replicas;
  return reading;
}

/// The reason that the metric itself gives for its answer.
model::Reason metric_reason(const MetricReading& reading, const Decision& decision, const HpaSettings& settings) {
  const bool up = reading.wanted > decision.current;
  if (reading.within_tolerance) {
    const bool above = reading.filled_ratio_per_mille >= 1000;
    return {
        ReasonCode::within_tolerance,
        {reading.filled_ratio_per_mille, above ? settings.tolerance_up_per_mille : settings.tolerance_down_per_mille}};
  }
  if (reading.wanted == decision.current && (reading.missing > 0 || reading.unready > 0)) {
    return {
        ReasonCode::filled_in,
        {reading.ratio_per_mille, reading.filled_ratio_per_mille, reading.missing + reading.unready, decision.current}};
  }
  const std::int64_t mean = reading.mean_milli / 1000;
  switch (reading.kind) {
    case MetricReading::Kind::duty_cycle:
      return {up ? ReasonCode::duty_above_target : ReasonCode::duty_below_target,
              {mean, reading.target, reading.wanted, decision.counted}};
    case MetricReading::Kind::memory:
      return {up ? ReasonCode::memory_above_target : ReasonCode::memory_below_target,
              {mean, reading.target, reading.wanted, decision.counted}};
    case MetricReading::Kind::running:
      return {up ? ReasonCode::running_above_target : ReasonCode::running_below_target,
              {reading.total, reading.target, reading.wanted, decision.counted}};
    case MetricReading::Kind::waiting:
      break;
  }
  return {up ? ReasonCode::queue_above_target : ReasonCode::queue_below_target,
          {reading.total, reading.target, reading.wanted, decision.counted}};
}

/// Turns `desired` into a plan: one action, or the reason why there is none.
Decision finish(Decision decision, const RoleView& role) {
  if (decision.desired == decision.current) {
    decision.plan.kept.push_back({model::Plan::Kept::Subject::service, decision.service.value, decision.why});
    return decision;
  }
  if (decision.desired < decision.current) decision.drain = victims(role, decision.desired);
  decision.plan.actions.push_back(
      {model::SetReplicas{decision.service, decision.variant, decision.desired, decision.drain}, decision.why});
  return decision;
}

/// Outside the bounds HPA reads no metric: it goes to the bound at once.
bool outside_bounds(Decision& decision, const RoleView& role) {
  if (role.current > role.max) {
    decision.desired = role.max;
    decision.why = {ReasonCode::at_maximum, {role.current, role.max}};
  } else if (role.current < role.min) {
    decision.desired = role.min;
    decision.why = {ReasonCode::at_minimum, {role.current, role.min}};
  } else {
    return false;
  }
  decision.wanted = decision.held_to = decision.desired;
  return true;
}

/// The reason of what was done to `wanted` after the metric spoke; the metric's own where nothing was.
model::Reason limit_reason(const Decision& decision, const RoleView& role, const HpaSettings& settings,
                           model::Reason metric) {
  if (decision.desired != decision.held_to) {
    if (decision.desired == role.max && decision.held_to > role.max) {
      return {ReasonCode::at_maximum, {decision.held_to, role.max}};
    }
    if (decision.desired == role.min && decision.held_to < role.min) {
      return {ReasonCode::at_minimum, {decision.held_to, role.min}};
    }
    return {ReasonCode::rate_limited, {decision.held_to, decision.desired}};
  }
  if (decision.held_to != decision.wanted) {
    const bool down = decision.wanted < decision.held_to;
    const Duration window = !settings.behavior ? settings.downscale_stabilization
                            : down             ? settings.behavior->down.stabilization
                                               : settings.behavior->up.stabilization;
    return {ReasonCode::cooling_down,
            {decision.wanted, decision.held_to, std::chrono::duration_cast<std::chrono::seconds>(window).count()}};
  }
  return metric;
}

struct Target {
  MetricReading::Kind kind;
  std::int64_t value;
};

/// Replicas that serve and of which a metric that decides is not known.
ReplicaCount silent_replicas(const RoleView& role, std::span<const Target> targets) {
  return std::ranges::count_if(role.replicas, [&](const RoleView::Replica& replica) {
    return replica.phase == Gang::Phase::ready && std::ranges::any_of(targets, [&](const Target& target) {
             return !signal_of(replica.signals, target.kind).usable();
           });
  });
}

/// Why nothing is lowered: of the metric that nobody gave, else of the replicas that are mute.
model::Reason silence_reason(const Decision& decision, const RoleView& role, ReplicaCount mute) {
  const auto reading = std::ranges::find(decision.readings, false, &MetricReading::valid);
  if (reading == decision.readings.end()) {
    return {ReasonCode::signal_missing, {mute, static_cast<std::int64_t>(role.replicas.size())}};
  }
  const ReplicaCount pods = reading->read + reading->missing + reading->unready;
  if (pods == 0) return {ReasonCode::no_replica_to_read, {role.current}};
  return {ReasonCode::signal_missing, {reading->missing + reading->unready, pods}};
}

Decision hpa(Decision decision, const RoleView& role, std::span<const Target> targets, const HpaSettings& settings,
             Memory& memory, Instant now) {
  if (!memory.seen) {
    memory.seen = true;
    memory.answers.push_back({now, role.current});
  }
  if (role.current == 0 && role.min != 0) {
    decision.why = {ReasonCode::scaling_disabled, {role.min}};
    return finish(std::move(decision), role);
  }
  if (outside_bounds(decision, role)) {
    note_change(memory, settings, decision.current, decision.desired, now);
    return finish(std::move(decision), role);
  }

  const MetricReading* highest = nullptr;
  ReplicaCount silent = 0;
  for (const Target& target : targets)
    decision.readings.push_back(read_metric(role, target.kind, target.value, settings));
  for (const MetricReading& reading : decision.readings) {
    if (!reading.valid)
      ++silent;
    else if (highest == nullptr || reading.wanted > highest->wanted)
      highest = &reading;
  }
  const ReplicaCount mute = silent_replicas(role, targets);
  if (settings.silence_holds && (mute > 0 || silent > 0)) {
    const ReplicaCount floor = std::min(std::max(role.current, memory.recommended), role.max);
    if (highest == nullptr || highest->wanted <= floor) {
      decision.why = silence_reason(decision, role, mute);
      decision.wanted = decision.held_to = decision.desired = floor;
      stabilize(memory, settings, role.current, floor, now);  // as if all were needed: the window begins anew
      note_change(memory, settings, decision.current, decision.desired, now);
      return finish(std::move(decision), role);
    }
  }
  // One metric alone may raise; to lower, all must have spoken.
  if (highest == nullptr || (silent > 0 && highest->wanted < role.current)) {
    decision.why = silence_reason(decision, role, 0);
    return finish(std::move(decision), role);
  }

  decision.wanted = highest->wanted;
  decision.held_to = stabilize(memory, settings, role.current, decision.wanted, now);
  decision.desired = limit_rate(memory, settings, role.current, decision.held_to, role.min, role.max, now).replicas;
  note_change(memory, settings, decision.current, decision.desired, now);
  decision.why = limit_reason(decision, role, settings, metric_reason(*highest, decision, settings));
  return finish(std::move(decision), role);
}

/// Nothing is lowered, and as many as the floor says are asked for, as far as the maximum allows.
Decision keep_floor(Decision decision, const RoleView& role, ReplicaCount floor) {
  const ReplicaCount least = std::max(role.current, std::min(floor, role.max));
  if (decision.desired >= least) return decision;
  decision.desired = decision.held_to = least;
  decision.why = {ReasonCode::slo_roll_back, {least, role.current, floor}};
  decision.drain.clear();
  decision.plan = {};
  return finish(std::move(decision), role);
}

Decision fixed(Decision decision, const RoleView& role, const Fixed& policy) {
  decision.wanted = decision.held_to = policy.replicas;
  decision.desired = std::clamp(policy.replicas, role.min, role.max);
  decision.why = {ReasonCode::fixed_replicas, {policy.replicas}};
  if (decision.desired < policy.replicas) decision.why = {ReasonCode::at_maximum, {policy.replicas, role.max}};
  if (decision.desired > policy.replicas) decision.why = {ReasonCode::at_minimum, {policy.replicas, role.min}};
  return finish(std::move(decision), role);
}

}  // namespace

Duration period(const Policy& policy) {
  return std::visit(
      Overloaded{[](const Fixed& fixed) { return fixed.period; }, [](const auto& hpa) { return hpa.hpa.sync_period; }},
      policy);
}

RoleView view(const model::Snapshot& snapshot, const Index& index, ServiceId service) {
  RoleView role;
  role.service = service;
  const model::Service& settings = snapshot.catalog->service(service);
  role.min = settings.min_replicas;
  role.max = settings.max_replicas;
  if (const model::ServiceState* state = snapshot.services.find(service)) role.current = state->desired_replicas;
  const auto gangs = index.gangs_by_service.find(service);
  if (gangs == index.gangs_by_service.end()) return role;
  for (GangId id : gangs->second) {
    const Gang& gang = snapshot.gangs.at(id);
    if (gang.variant == role.variant) role.replicas.push_back({id, gang.phase, gang.created_at, gang.signals});
  }
  return role;
}

std::vector<GangId> victims(const RoleView& role, ReplicaCount keep) {
  struct Candidate {
    int phase;           // pending, starting, ready
    std::int64_t holds;  // requests
    Instant created_at;
    GangId id;
  };
  std::vector<Candidate> candidates;
  for (const RoleView::Replica& replica : role.replicas) {
    if (replica.phase == Gang::Phase::draining) continue;
    // A replica whose load nobody knows may hold anything: it goes last among the ready ones.
    constexpr std::int64_t kUnknown = std::int64_t{1} << 40;
    const model::ReplicaSignals& s = replica.signals;
    const auto load = [](const model::Signal& signal) {
      return signal.state == model::Signal::State::missing ? kUnknown : signal.value;
    };
    const bool ready = replica.phase == Gang::Phase::ready;
    candidates.push_back({static_cast<int>(replica.phase), ready ? load(s.running) + load(s.waiting) : 0,
                          replica.created_at, replica.id});
  }
  std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.phase, a.holds, b.created_at, b.id) < std::tuple(b.phase, b.holds, a.created_at, a.id);
  });
  std::vector<GangId> chosen;
  const auto surplus = static_cast<ReplicaCount>(candidates.size()) - std::max<ReplicaCount>(keep, 0);
  for (ReplicaCount i = 0; i < surplus; ++i) chosen.push_back(candidates[static_cast<std::size_t>(i)].id);
  return chosen;
}

Decision decide(const RoleView& role, const Policy& policy, Memory& memory, Instant now) {
  CAPSTAN_ASSERT(role.min <= role.max);
  Decision decision;
  decision.service = role.service;
  decision.variant = role.variant;
  decision.current = decision.wanted = decision.held_to = decision.desired = role.current;
  const auto existing =
      std::ranges::count_if(role.replicas, [](const RoleView::Replica& r) { return r.phase != Gang::Phase::draining; });
  decision.counted = std::max(role.current, static_cast<ReplicaCount>(existing));

  decision =
      std::visit(Overloaded{[&](const Fixed& p) { return fixed(std::move(decision), role, p); },
                            [&](const DutyCycleHpa& p) {
                              const Target targets[] = {{MetricReading::Kind::duty_cycle, p.target_percent}};
                              return hpa(std::move(decision), role, targets, p.hpa, memory, now);
                            },
                            [&](const MemoryHpa& p) {
                              const Target targets[] = {{MetricReading::Kind::memory, p.target_percent}};
                              return hpa(std::move(decision), role, targets, p.hpa, memory, now);
                            },
                            [&](const QueueHpa& p) {
                              std::vector<Target> targets = {{MetricReading::Kind::waiting, p.waiting_per_replica}};
                              if (p.running_per_replica)
                                targets.push_back({MetricReading::Kind::running, *p.running_per_replica});
                              return hpa(std::move(decision), role, targets, p.hpa, memory, now);
                            }},
                 policy);
  if (memory.floor > 0) decision = keep_floor(std::move(decision), role, memory.floor);
  memory.recommended = decision.desired;
  return decision;
}

}  // namespace capstan::decide::scale
