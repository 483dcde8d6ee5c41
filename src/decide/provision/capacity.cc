#include "decide/provision/capacity.h"

#include <algorithm>

#include "base/known_row.h"

namespace capstan::decide::provision {

using model::Claim;
using model::ClaimId;
using model::OfferingId;
using model::PoolId;
using model::Reason;
using model::ReasonCode;

namespace {

/// Returns true if memory holds the group as one that is being released.
bool is_being_released(const Memory& memory, model::ClaimGroupId group) {
  return group.valid() && std::ranges::any_of(memory.groups, [&](const Memory::Group& g) {
           return g.id == group && !g.released_at.is_never();
         });
}

}  // namespace

Capacity::Capacity(const Index& index, const model::Snapshot& snapshot, const Memory& memory, Instant now)
    : catalog_(*snapshot.catalog), account_(index, snapshot, memory.asked), now_(now) {
  for (const Memory::Backoff& backoff : memory.backoffs) backoffs_[backoff.offering] = backoff;
  for (const Memory::Terminating& terminating : memory.terminating) {
    // The node may already be gone: the scale layer reads this before provision updates memory from the snapshot.
    if (const model::Node* node = snapshot.nodes.find(terminating.node)) give_back(node->pool);
  }
  snapshot.claims.for_each([&](ClaimId, const Claim& claim) {
    // Claims that are being released are still paid for, but no gang may count on them.
    if (in_transit(claim, snapshot) && !is_being_released(memory, claim.group)) {
      add_coming(claim.pool, claim.offering, claim.within, 1);
    }
  });
  for (const Memory::Asked& asked : memory.asked) add_coming(asked.pool, asked.offering, asked.within, asked.count);
}

void Capacity::add_coming(PoolId pool, OfferingId id, model::DomainId within, std::int64_t count) {
  const model::Offering& offering = catalog_.offering(id);
  coming_gpus_ += count * offering.gpus;
  const Coming coming{{pool, id}, offering.gpu, within.valid() ? within : offering.zone, whole_gpus(offering.gpus)};
  coming_.insert(coming_.end(), static_cast<std::size_t>(std::max<std::int64_t>(count, 0)), coming);
}

std::int64_t Capacity::nodes_of(PoolId pool) const {
  const auto going = going_.find(pool);
  return account_.nodes_of(pool) - (going == going_.end() ? 0 : going->second);
}

Capacity::Obstacle Capacity::obstacle(PoolId pool, OfferingId offering, std::int64_t count) const {
  const auto backoff = backoffs_.find(offering);
  if (backoff != backoffs_.end() && now_ < backoff->second.until) return Obstacle::backing_off;
  return account_.exceeded(pool, offering, count) == NodeAccount::Limit::none ? Obstacle::ok : Obstacle::limit;
}

Reason Capacity::reason(Obstacle obstacle, PoolId pool, OfferingId offering, std::int64_t count) const {
  if (obstacle == Obstacle::backing_off) {
    const Memory::Backoff& backoff = known_row(backoffs_, offering);
    return {
        ReasonCode::backing_off,
        {whole_seconds(now_ - backoff.failed_at), whole_seconds(backoff.until - backoff.failed_at), offering.value}};
  }
  return account_.reason(account_.exceeded(pool, offering, count), pool, offering, count);
}

bool Capacity::inside(model::DomainId inner, model::DomainId outer) const {
  return !outer.valid() || catalog_.lies_within(inner, outer);
}

model::DomainId Capacity::at_level(model::DomainId domain, model::TopologyLevel level) const {
  for (; domain.valid(); domain = catalog_.domain(domain).parent) {
    if (catalog_.domain(domain).level == level) return domain;
  }
  return {};
}

void Capacity::launch(const model::LaunchNodes& launch, Reason why, Decision& decision, Memory& memory) {
  account_.add(launch.pool, launch.offering, launch.count);
  add_coming(launch.pool, launch.offering, launch.within, launch.count);
  decision.launched_gpus += launch.count * catalog_.offering(launch.offering).gpus;
  memory.asked.push_back(
      {launch.pool, launch.offering, launch.within, launch.gang, {}, launch.count, launch.hold, now_});
  decision.plan.actions.push_back({launch, why});
}

}  // namespace capstan::decide::provision
