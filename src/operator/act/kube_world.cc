#include "operator/act/kube_world.h"

#include <variant>

#include "base/assert.h"

namespace capstan::op {

void KubeWorld::set_view(const ClusterView& view, const Readings& readings) {
  // The next build replaces the delta, so a delta that was not observed would be lost. Before the first observation
  // there is no earlier state to which a delta could apply.
  CAPSTAN_ASSERT(!observed_ || seen_.delta.empty());
  seen_ = builder_.build(view, readings, now());
  const FleetPolicy& fleet = fleet_policy(view.fleet);
  layers_ = {.placement = fleet.placement,
             // Capstan buys nodes only for gangs that it places. The mode of the node layer is therefore at most that
             // of placement.
             .nodes = std::min(fleet.nodes, fleet.placement),
             .hold = std::max<Duration>(fleet.hold, kHoldMin),
             .consolidate_after = std::max<Duration>(fleet.consolidate_after, {})};
}

ports::Observation KubeWorld::observe() {
  observed_ = true;
  would_bind_.clear();
  ports::Observation seen{seen_.snapshot, std::exchange(seen_.delta, {}), std::exchange(refused_, {})};
  if (effects_ == nullptr) return seen;
  const std::vector<ports::Outcome> outcomes = effects_->outcomes();
  seen.outcomes.insert(seen.outcomes.end(), outcomes.begin(), outcomes.end());
  return seen;
}

model::ActionToken KubeWorld::submit(const model::Action& action) {
  const model::ActionToken token{next_token_++};
  if (may_carry_out(action)) {
    effects_->submit(token, action, seen_.snapshot);
  } else {
    if (const auto* bind = std::get_if<model::BindPods>(&action.effect)) would_bind_.emplace(bind->gang, *bind);
    refused_.push_back({token, ports::Outcome::Kind::refused, {model::ReasonCode::shadow_mode, {}}});
  }
  return token;
}

/// Returns whether the action may be carried out. The mode of the scaler decides about an action of the replica layer,
/// and the modes of the fleet decide about actions of the other layers.
bool KubeWorld::may_carry_out(const model::Action& action) const {
  if (effects_ == nullptr) return false;
  const bool places =
      std::holds_alternative<model::BindPods>(action.effect) || std::holds_alternative<model::EvictPod>(action.effect);
  if (places) return layers_.placement == Mode::active;
  const auto* set = std::get_if<model::SetReplicas>(&action.effect);
  if (std::holds_alternative<model::ConvertReplica>(action.effect)) return false;  // the operator converts no replica
  if (set == nullptr) return layers_.nodes == Mode::active;
  const auto origin = builder_.services().find(set->service);
  return origin != builder_.services().end() && origin->second.mode == Mode::active;
}

control::Policies KubeWorld::policies() const {
  control::Policies policies{.name = "capstan", .scale = builder_.policies(), .place = {}, .provision = {}};
  if (layers_.placement == Mode::off) return policies;
  policies.place.emplace();
  if (layers_.nodes == Mode::off) return policies;
  decide::provision::Policy whole = decide::provision::whole_groups();
  whole.hold = layers_.hold;
  whole.consolidation.after = layers_.consolidate_after;
  policies.provision = whole;
  return policies;
}

}  // namespace capstan::op
