#include "control/controller.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "base/known_row.h"
#include "control/planned.h"
#include "decide/scale/roles.h"

namespace capstan::control {
namespace {

using Layer = LoggedAction::Layer;

/// Returns true if Capstan itself refused the action and never called the API. The causes are Shadow mode, the kill
/// switch, a stale view, a lost Lease, and too many effects on their way.
bool is_refused_by_capstan(model::ReasonCode refusal) {
  using enum model::ReasonCode;
  return refusal == shadow_mode || refusal == halted || refusal == view_too_old || refusal == lease_lost ||
         refusal == too_many_effects;
}

/// Moves the actions out of a plan; the reasons of inaction stay.
model::Plan actions_of(model::Plan& plan) { return {.actions = std::exchange(plan.actions, {}), .no_actions = {}}; }

}  // namespace

void start_from_requested(const std::vector<RequestedReplicas>& requested, decide::scale::WorkloadView& role) {
  const auto start = [&](auto& view) {
    const auto found = std::ranges::lower_bound(requested, view.service, {}, &RequestedReplicas::service);
    if (found != requested.end() && found->service == view.service) view.current = found->replicas;
  };
  start(role);
  std::ranges::for_each(role.alternatives, start);
}

Controller::Controller(Policies policies, ports::World& world, Options options)
    : policies_(std::move(policies)),
      world_(world),
      input_observer_(std::move(options.input_observer)),
      outcome_observer_(std::move(options.outcome_observer)),
      decider_(options.decider ? std::move(options.decider) : std::make_unique<PolicyDecider>()),
      next_tick_(world.now()),
      next_place_(policies_.place ? next_tick_ : Instant::never()) {}

void Controller::set_policies(Policies policies) {
  const bool placed = policies_.place.has_value();
  policies_ = std::move(policies);
  if (policies_.place && !placed) next_place_ = world_.now();
  if (policies_.place) return;
  next_place_ = Instant::never();
  placed_ = {};
  provisioned_ = {};
}

void Controller::tick() {
  const Instant now = world_.now();
  ++stats_.ticks;

  const ports::Observation seen = world_.observe();
  update_state(seen);
  process_outcomes(seen.outcomes, now);
  // From here on the index and the memory agree with the snapshot. The layers only read the snapshot.

  update_planned(memory_.planned, seen.snapshot, index_, now);
  memory_.requested.clear();
  for (const auto& [service, replicas] : in_flight_.requested()) memory_.requested.push_back({service, replicas});
  const std::vector<model::ServiceId> due = due_services(seen.snapshot, now);
  if (!due.empty()) {
    update_slos(seen.snapshot, due, now);
    if (input_observer_) {
      input_observer_(seen.snapshot, memory_, due_at(seen.snapshot, decidable(seen.snapshot, due), now));
    }
    scale(seen, due, now);
  }
  if (now >= next_place_) {
    place_and_provision(seen, !due.empty(), now);
    next_place_ = now + policies_.place->period;
  }
  show_withheld();
  next_tick_ = std::min(next_scale(seen.snapshot, now), next_place_);
}

/// Returns the services whose period has passed, and starts their next period. Only services of the snapshot count,
/// because a removed service keeps its row in the catalog.
std::vector<model::ServiceId> Controller::due_services(const model::Snapshot& snapshot, Instant now) {
  std::vector<model::ServiceId> due;
  snapshot.services.for_each([&](model::ServiceId service, const model::ServiceState&) {
    if (now < next_scale_[service.value]) return;
    next_scale_[service.value] = now + decide::scale::period(policies_.scale[service.value]);
    due.push_back(service);
  });
  return due;
}

/// Returns the services of `due` that can be decided now: their current counts are known, and so are those of the
/// services with which they are decided.
std::vector<model::ServiceId> Controller::decidable(const model::Snapshot& snapshot,
                                                    const std::vector<model::ServiceId>& due) const {
  if (in_flight_.entries().empty()) return due;
  const model::Catalog& catalog = *snapshot.catalog;
  const std::vector<model::ServiceId> deciders = deciders_of(snapshot);
  std::set<model::ServiceId> unknown;
  for (const model::ServiceId service : due) {
    const auto has_unknown_count = [&](model::ServiceId id) {
      return known_row(deciders, id.value) == service && snapshot.services.find(id) != nullptr &&
             is_scaling(id, snapshot);
    };
    if (has_unknown_count(service) || std::ranges::any_of(catalog.service(service).alternatives, has_unknown_count)) {
      unknown.insert(service);
    }
  }
  std::vector<model::ServiceId> known = due;
  std::erase_if(known, [&](model::ServiceId service) {
    if (unknown.contains(service)) return true;
    return decide::scale::is_paired(catalog, service, policy_of(service)) &&
           unknown.contains(decide::scale::other_role(catalog, service));
  });
  return known;
}

const decide::scale::Policy& Controller::policy_of(model::ServiceId service) const {
  return settings_in_force(memory_.slo[service.value], policies_.scale[service.value]);
}

/// Returns, by service, the service whose decision sets its replicas.
std::vector<model::ServiceId> Controller::deciders_of(const model::Snapshot& snapshot) const {
  return decide::scale::deciders(snapshot,
                                 [&](model::ServiceId id) -> const decide::scale::Policy& { return policy_of(id); });
}

DueDecisions Controller::due_at(const model::Snapshot& snapshot, const std::vector<model::ServiceId>& services,
                                Instant now) const {
  DueDecisions due{.placement = now >= next_place_};
  if (services.size() < snapshot.services.size()) due.services = services;
  return due;
}

Instant Controller::next_scale(const model::Snapshot& snapshot, Instant now) const {
  Instant next = now + kIdlePeriod;
  snapshot.services.for_each(
      [&](model::ServiceId service, const model::ServiceState&) { next = std::min(next, next_scale_[service.value]); });
  return next;
}

void Controller::restore(Memory memory) {
  CAPSTAN_ASSERT(stats_.ticks == 0);
  memory_ = std::move(memory);
}

Policies Controller::in_force() const {
  Policies policies = policies_;
  for (std::size_t i = 0; i < std::min(policies.scale.size(), memory_.slo.size()); ++i) {
    policies.scale[i] = settings_in_force(memory_.slo[i], policies.scale[i]);
  }
  return policies;
}

void Controller::update_state(const ports::Observation& seen) {
  if (indexed_) {
    fleet::apply(index_, seen.snapshot, seen.delta);
  } else {
    index_ = fleet::build(seen.snapshot);
    indexed_ = true;
  }
  memory_.scale.resize(seen.snapshot.catalog->services.size());
  memory_.slo.resize(memory_.scale.size());
  CAPSTAN_ASSERT(policies_.scale.size() == memory_.scale.size());
  next_scale_.resize(memory_.scale.size());
  last_direction_.resize(memory_.scale.size());
  decide::scale::Decision none;
  none.why = {model::ReasonCode::nothing_to_do, {}};
  scale_decisions_.resize(memory_.scale.size(), none);
}

void Controller::process_outcomes(const std::vector<ports::Outcome>& outcomes, Instant now) {
  for (const InFlight::SettledAction& settled : in_flight_.settle(outcomes, now)) {
    if (outcome_observer_) {
      using Kind = ActionOutcome::Kind;
      const bool is_applied = settled.kind == ports::Outcome::Kind::applied;
      const Kind kind = is_applied                                      ? Kind::applied
                        : settled.kind == ports::Outcome::Kind::refused ? Kind::refused
                                                                        : Kind::unknown;
      const auto why = is_applied ? std::nullopt : std::optional(settled.why);
      outcome_observer_({.decided_at = settled.decided_at, .action = settled.action, .kind = kind, .why = why});
    }
    if (settled.kind == ports::Outcome::Kind::applied) continue;
    if (settled.kind == ports::Outcome::Kind::unknown) {
      // The action stays in the layer's memory: later snapshots show whether it took effect. If they never show it, the
      // memory drops it after a time limit.
      ++stats_.unknown;
      continue;
    }
    ++stats_.refused;
    // If Capstan itself refused the launch, the provider was not called, so the offering does not back off.
    const auto* launch = std::get_if<model::LaunchNodes>(&settled.action.effect);
    const bool asked = launch != nullptr && policies_.provision && !is_refused_by_capstan(settled.why.code);
    if (asked) {
      decide::provision::refused(memory_.provision, *launch, *policies_.provision, now);
    } else {
      forget(settled.action);
    }
  }
}

void Controller::update_slos(const model::Snapshot& snapshot, const std::vector<model::ServiceId>& due, Instant now) {
  const SloBreachRule* rule = policies_.slo_breach ? &*policies_.slo_breach : nullptr;
  for (const model::ServiceId service : due) {
    SloMemory& memory = memory_.slo[service.value];
    if (rule == nullptr && !memory.rolled_back()) continue;
    const Instant acknowledged =
        service.value < policies_.acknowledged.size() ? policies_.acknowledged[service.value] : Instant{};
    update_slo(rule, acknowledged, decide::scale::view(snapshot, index_, service), policies_.scale[service.value],
               memory, memory_.scale[service.value], now);
  }
}

void Controller::scale(const ports::Observation& seen, const std::vector<model::ServiceId>& due, Instant now) {
  const model::Catalog& catalog = *seen.snapshot.catalog;
  const std::vector<model::ServiceId> deciders = deciders_of(seen.snapshot);
  const decide::scale::MixSource mixes{
      .deciders = deciders,
      .memories = memory_.scale,
      .provision_memory = policies_.provision ? &memory_.provision : nullptr,
  };
  std::map<model::ServiceId, decide::scale::RolePart> paired;
  std::set<model::ServiceId> unknown;  // services whose current count is unknown
  for (const model::ServiceId service : due) {
    if (deciders[service.value] != service) continue;
    std::optional<decide::scale::WorkloadView> role = view_of(seen.snapshot, mixes, service, now);
    if (!role) {
      unknown.insert(service);
      continue;
    }
    const decide::scale::Policy& policy = policy_of(service);
    decide::scale::Decision decision =
        decider_->scale({seen.snapshot, *role, policy, now}, memory_.scale[service.value]);
    if (decide::scale::is_paired(catalog, service, policy)) {
      paired.emplace(service, decide::scale::RolePart{std::move(*role), std::move(decision)});
    } else {
      submit_decision(std::move(decision), seen.snapshot, now);
    }
  }
  // A role is skipped if the current count of its counterpart is unknown at this tick. Otherwise the role could start
  // replicas that the counterpart can lend, or violate the ratio, and the next tick would revert this decision.
  std::erase_if(paired,
                [&](const auto& part) { return unknown.contains(decide::scale::other_role(catalog, part.first)); });
  decide::scale::reconcile_roles(catalog, paired);
  for (auto& [service, part] : paired) submit_decision(std::move(part.decision), seen.snapshot, now);
}

/// Returns the view for a decision about the service and its alternatives; empty while a current count is unknown.
std::optional<decide::scale::WorkloadView> Controller::view_of(const model::Snapshot& snapshot,
                                                               const decide::scale::MixSource& mixes,
                                                               model::ServiceId service, Instant now) const {
  decide::scale::WorkloadView role = decide::scale::view_of_mix(snapshot, index_, service, mixes, now);
  const auto unknown = [&](const auto& view) { return is_scaling(view.service, snapshot); };
  if (unknown(role) || std::ranges::any_of(role.alternatives, unknown)) return std::nullopt;
  start_from_requested(memory_.requested, role);
  return role;
}

/// Submits the decision's plan and stores the decision for later explanation.
void Controller::submit_decision(decide::scale::Decision decision, const model::Snapshot& snapshot, Instant now) {
  remove_further_scale_downs(decision.plan);
  count_reversals(decision.plan, snapshot, now);
  submit(std::exchange(decision.plan, {}), Layer::scale, snapshot, now);
  for (decide::scale::Decision& other : std::exchange(decision.alternatives, {})) {
    scale_decisions_[other.service.value] = std::move(other);
  }
  scale_decisions_[decision.service.value] = std::move(decision);
}

/// Decides about pods and nodes. These decisions are made every second, and most of them have no action. So the
/// observer sees the inputs only of decisions with an action.
/// @param is_shown  true: the observer has already seen the inputs of this tick
void Controller::place_and_provision(const ports::Observation& seen, bool is_shown, Instant now) {
  decide::place::keep_assumed(memory_.place, in_flight_.binding(), now + policies_.place->assume_for);
  decide::provision::keep_terminating(memory_.provision, in_flight_.terminating(), now);
  const decide::place::LeavingNodes leaving = decide::provision::leaving(memory_.provision);
  std::optional<std::pair<decide::place::Memory, decide::provision::Memory>> before;
  if (input_observer_ && !is_shown) before.emplace(memory_.place, memory_.provision);
  placed_ = decider_->place({index_, seen.snapshot, memory_.planned, *policies_.place, now, leaving}, memory_.place);
  if (policies_.provision) {
    provisioned_ = decider_->provision({index_, seen.snapshot, placed_, *policies_.provision, now}, memory_.provision);
  } else {
    provisioned_ = {};
  }
  const bool has_actions = !placed_.plan.actions.empty() || !provisioned_.plan.actions.empty();
  submit(actions_of(placed_.plan), Layer::place, seen.snapshot, now);
  submit(actions_of(provisioned_.plan), Layer::provision, seen.snapshot, now);
  if (!before || !has_actions) return;  // a withheld action counts, because its outcome is shown as well
  Memory inputs = memory_;
  std::tie(inputs.place, inputs.provision) = *std::move(before);
  input_observer_(seen.snapshot, inputs, {.services = std::vector<model::ServiceId>(), .placement = true});
}

void Controller::submit(model::Plan plan, Layer layer, const model::Snapshot& snapshot, Instant now) {
  if (plan.actions.empty()) return;
  for (const model::Action& action :
       guard(plan, snapshot, index_, memory_.place, memory_.provision, stats_.violations)) {
    withhold(action, snapshot.at);
  }
  stats_.violations.scale_downs_without_data += count_scale_downs_without_data(
      plan, snapshot, index_, in_flight_,
      [&](model::ServiceId id) -> const decide::scale::Policy& { return policy_of(id); });
  for (model::Action& action : plan.actions) {
    if (in_flight_.full()) {
      withhold(action, snapshot.at);  // a later tick decides it again
      continue;
    }
    ++stats_.actions;
    log_.add(now, layer, action);
    const model::ActionToken token = world_.submit(action);
    in_flight_.add(token, std::move(action), now, snapshot.at);
  }
}

/// Forgets an action that is not submitted.
void Controller::withhold(const model::Action& action, Instant decided_at) {
  forget(action);
  if (outcome_observer_) withheld_.push_back({decided_at, action});
}

void Controller::show_withheld() {
  for (const WithheldAction& one : std::exchange(withheld_, {})) {
    outcome_observer_({.decided_at = one.decided_at, .action = one.action, .kind = ActionOutcome::Kind::withheld});
  }
}

/// Removes from the memories an action that was not submitted, or that was refused.
void Controller::forget(const model::Action& action) {
  if (const auto* bind = std::get_if<model::BindPods>(&action.effect)) {
    decide::place::forget(memory_.place, bind->gang);
  } else if (const auto* launch = std::get_if<model::LaunchNodes>(&action.effect)) {
    decide::provision::forget(memory_.provision, *launch);
  } else if (const auto* terminate = std::get_if<model::TerminateNode>(&action.effect)) {
    decide::provision::refused(memory_.provision, *terminate);
  }
}

void Controller::count_reversals(const model::Plan& plan, const model::Snapshot& snapshot, Instant now) {
  for (const model::Action& action : plan.actions) {
    if (const auto* set = std::get_if<model::SetReplicas>(&action.effect)) {
      const ReplicaCount desired = snapshot.services.at(set->service).desired_replicas;
      const ReplicaCount current = in_flight_.requested_replicas(set->service).value_or(desired);
      count_reversal(set->service, set->replicas > current ? 1 : set->replicas < current ? -1 : 0, now);
    } else if (const auto* convert = std::get_if<model::ConvertReplica>(&action.effect)) {
      count_reversal(convert->from, -1, now);
      count_reversal(convert->to, 1, now);
    }
  }
}

void Controller::count_reversal(model::ServiceId service, int sign, Instant now) {
  if (sign == 0) return;
  Direction& last = known_row(last_direction_, service.value);
  if (last.sign == -sign && now - last.at <= kReversalWindow) ++stats_.reversals;
  last = {sign, now};
}

/// Returns true while the replica count of the service is unknown, because a conversion or a write of `/scale` has no
/// outcome yet. A scale-down in progress does not count: it is written only after its replicas have drained, which
/// takes minutes, and until then the count is known.
bool Controller::is_scaling(model::ServiceId service, const model::Snapshot& snapshot) const {
  const std::optional<ReplicaCount> asked = in_flight_.requested_replicas(service);
  if (in_flight_.is_converting(service)) return true;
  return asked && *asked >= snapshot.services.at(service).desired_replicas;
}

/// Removes further scale-downs while replicas drain, so that the first one can finish. A scale-up stays and cancels the
/// drain.
void Controller::remove_further_scale_downs(model::Plan& plan) const {
  std::erase_if(plan.actions, [&](const model::Action& action) {
    const auto* set = std::get_if<model::SetReplicas>(&action.effect);
    return set != nullptr && in_flight_.requested_replicas(set->service).value_or(set->replicas) > set->replicas;
  });
}

}  // namespace capstan::control
