#include "decide/provision/purchase_limits.h"

#include <algorithm>

#include "base/known_row.h"

namespace capstan::decide::provision {

using model::Claim;
using model::OfferingId;
using model::PoolId;
using model::Reason;
using model::ReasonCode;

PurchaseLimits::PurchaseLimits(const Index& index, const model::Snapshot& snapshot, const Memory& memory, Instant now)
    : catalog_(*snapshot.catalog),
      account_(index, snapshot, memory.pending_launches),
      new_nodes_(snapshot, index.rooms),
      expected_nodes_(new_nodes_),
      now_(now) {
  for (const Memory::Backoff& backoff : memory.backoffs) backoffs_[backoff.offering] = backoff;
  for (const Memory::PendingTermination& terminating : memory.terminating) {
    // The node may already be gone, because the scale layer creates a `PurchaseLimits` before the provision layer
    // updates its memory from the snapshot.
    if (const model::Node* node = snapshot.nodes.find(terminating.node)) give_back(node->pool);
  }
  // Claims that are being released are still paid for, but no gang may count on them.
  const place::LeavingNodes given_back = leaving(memory);
  expected_nodes_.add_claims(snapshot, [&groups = given_back.groups](const Claim& claim) {
    return !std::ranges::binary_search(groups, claim.group);
  });
  for (const Memory::PendingLaunch& asked : memory.pending_launches) {
    expected_nodes_.add({asked.pool, asked.offering}, asked.domain, asked.count);
  }
}

std::int64_t PurchaseLimits::nodes_of(PoolId pool) const {
  const auto going = terminating_.find(pool);
  return account_.nodes_of(pool) - (going == terminating_.end() ? 0 : going->second);
}

PurchaseLimits::Obstacle PurchaseLimits::obstacle(PoolId pool, OfferingId offering, std::int64_t count) const {
  const auto backoff = backoffs_.find(offering);
  if (backoff != backoffs_.end() && now_ < backoff->second.until) return Obstacle::backing_off;
  return account_.refusal(pool, offering, count) ? Obstacle::limit : Obstacle::ok;
}

Reason PurchaseLimits::reason(Obstacle obstacle, PoolId pool, OfferingId offering, std::int64_t count) const {
  if (obstacle == Obstacle::backing_off) {
    const Memory::Backoff& backoff = known_row(backoffs_, offering);
    return {
        ReasonCode::backing_off,
        {whole_seconds(now_ - backoff.failed_at), whole_seconds(backoff.until - backoff.failed_at), offering.value}};
  }
  return account_.refusal(pool, offering, count).value();
}

Reason PurchaseLimits::reason(const place::Nomination& nomination, MilliGpu short_by) const {
  if (nomination.last.valid()) return place::reason_of(nomination, now_);
  return {ReasonCode::capacity_on_its_way, {expected_nodes_.gpus(), gpus_up(short_by)}};
}

bool PurchaseLimits::inside(model::DomainId inner, model::DomainId outer) const {
  return !outer.valid() || catalog_.lies_within(inner, outer);
}

void PurchaseLimits::launch(const model::LaunchNodes& launch, Reason why, Decision& decision, Memory& memory) {
  account_.add(launch.pool, launch.offering, launch.count);
  expected_nodes_.add({launch.pool, launch.offering}, launch.domain, launch.count);
  decision.launched_gpus += launch.count * catalog_.offering(launch.offering).gpus;
  memory.pending_launches.push_back(
      {launch.pool, launch.offering, launch.domain, launch.gang, {}, launch.count, launch.hold, now_});
  decision.plan.actions.push_back({launch, why});
}

}  // namespace capstan::decide::provision
