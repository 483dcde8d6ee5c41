#include "sim/cluster/drains.h"

#include "base/assert.h"

namespace capstan::sim {

Drains::Drains(Basics& basics, ServingHook& hook, DrainListener& listener)
    : Component(basics), hook_(hook), listener_(listener) {
  CAPSTAN_ASSERT(config_.drain_poll.count() > 0);
}

void Drains::begin(model::GangId id, DrainPurpose purpose) {
  hook_.drain(id, now());
  const Instant cut_at = now() + config_.termination_grace;
  drains_[id] = {purpose, cut_at};
  events_.schedule(cut_at, EventKind::drain_deadline, id.value);
  if (!is_polling_) events_.schedule(now() + config_.drain_poll, EventKind::drain_poll);
  is_polling_ = true;
}

bool Drains::contains(model::GangId id, DrainPurpose purpose) const {
  const auto it = drains_.find(id);
  return it != drains_.end() && it->second.purpose == purpose;
}

void Drains::poll() {
  poll(DrainPurpose::leave);
  poll(DrainPurpose::convert);
  is_polling_ = !drains_.empty();
  if (is_polling_) events_.schedule(now() + config_.drain_poll, EventKind::drain_poll);
}

void Drains::poll(DrainPurpose purpose) {
  std::vector<model::GangId> gangs;  // a copy, because the listener erases
  for (const auto& [id, drain] : drains_) {
    if (drain.purpose == purpose) gangs.push_back(id);
  }
  for (model::GangId id : gangs) {
    if (hook_.drained(id)) listener_.drained(id, purpose);
  }
}

void Drains::deadline(model::GangId id) {
  const auto it = drains_.find(id);
  if (it == drains_.end() || now() < it->second.cut_at) return;
  const DrainPurpose purpose = it->second.purpose;
  if (!hook_.drained(id)) {
    ++meter_.drains_cut;
    hook_.killed(id, now(), Interruption::grace_over);
  }
  listener_.drained(id, purpose);
}

}  // namespace capstan::sim
