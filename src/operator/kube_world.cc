#include "operator/kube_world.h"

#include <variant>

#include "base/assert.h"

namespace capstan::op {

void KubeWorld::look(const ClusterView& view, const Readings& readings) {
  // A delta that nobody has seen would be lost; before the first observation there is nothing that it could change.
  CAPSTAN_ASSERT(!observed_ || seen_.delta.empty());
  seen_ = builder_.build(view, readings, now());
}

ports::Observation KubeWorld::observe() {
  observed_ = true;
  ports::Observation seen{seen_.snapshot, std::exchange(seen_.delta, {}), std::exchange(refused_, {})};
  if (effects_ == nullptr) return seen;
  const std::vector<ports::Outcome> outcomes = effects_->outcomes();
  seen.outcomes.insert(seen.outcomes.end(), outcomes.begin(), outcomes.end());
  return seen;
}

model::ActionToken KubeWorld::submit(const model::Action& action) {
  const model::ActionToken token{next_token_++};
  if (active(action)) {
    effects_->submit(token, action, seen_.snapshot);
  } else {
    refused_.push_back({token, ports::Outcome::Kind::refused, {model::ReasonCode::shadow_mode, {}}});
  }
  return token;
}

/// Only replicas are acted on; the other layers have no mode of a scaler.
bool KubeWorld::active(const model::Action& action) const {
  const auto* set = std::get_if<model::SetReplicas>(&action.what);
  if (effects_ == nullptr || set == nullptr) return false;
  const auto origin = builder_.services().find(set->service);
  return origin != builder_.services().end() && origin->second.mode == Mode::active;
}

control::Policies KubeWorld::policies() const { return {"capstan", builder_.policies(), {}, {}}; }

}  // namespace capstan::op
