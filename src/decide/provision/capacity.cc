#include "decide/provision/capacity.h"

#include <algorithm>

#include "base/known_row.h"

namespace capstan::decide::provision {

using model::Claim;
using model::OfferingId;
using model::PoolId;
using model::Reason;
using model::ReasonCode;

Capacity::Capacity(const Index& index, const model::Snapshot& snapshot, const Memory& memory, Instant now)
    : catalog_(*snapshot.catalog),
      account_(index, snapshot, memory.pending_launches),
      new_nodes_(snapshot, index.rooms),
      expected_nodes_(new_nodes_),
      now_(now) {
  for (const Memory::Backoff& backoff : memory.backoffs) backoffs_[backoff.offering] = backoff;
  for (const Memory::PendingTermination& terminating : memory.terminating) {
    // The node may already be gone: the scale layer reads this before provision updates memory from the snapshot.
    if (const model::Node* node = snapshot.nodes.find(terminating.node)) give_back(node->pool);
  }
  // Claims that are being released are still paid for, but no gang may count on them.
  const place::LeavingNodes given_back = leaving(memory);
  expected_nodes_.add_claims(snapshot, [&groups = given_back.groups](const Claim& claim) {
    return !std::ranges::binary_search(groups, claim.group);
  });
  for (const Memory::PendingLaunch& asked : memory.pending_launches) {
    expected_nodes_.add({asked.pool, asked.offering}, asked.within, asked.count);
  }
}

std::int64_t Capacity::nodes_of(PoolId pool) const {
  const auto going = terminating_.find(pool);
  return account_.nodes_of(pool) - (going == terminating_.end() ? 0 : going->second);
}

Capacity::Obstacle Capacity::obstacle(PoolId pool, OfferingId offering, std::int64_t count) const {
  const auto backoff = backoffs_.find(offering);
  if (backoff != backoffs_.end() && now_ < backoff->second.until) return Obstacle::backing_off;
  return account_.refusal(pool, offering, count) ? Obstacle::limit : Obstacle::ok;
}

Reason Capacity::reason(Obstacle obstacle, PoolId pool, OfferingId offering, std::int64_t count) const {
  if (obstacle == Obstacle::backing_off) {
    const Memory::Backoff& backoff = known_row(backoffs_, offering);
    return {
        ReasonCode::backing_off,
        {whole_seconds(now_ - backoff.failed_at), whole_seconds(backoff.until - backoff.failed_at), offering.value}};
  }
  return account_.refusal(pool, offering, count).value();
}

Reason Capacity::reason(const place::Nomination& nomination, MilliGpu short_by) const {
  if (nomination.last.valid()) return place::reason_of(nomination, now_);
  return {ReasonCode::capacity_on_its_way, {expected_nodes_.gpus(), gpus_up(short_by)}};
}

bool Capacity::inside(model::DomainId inner, model::DomainId outer) const {
  return !outer.valid() || catalog_.lies_within(inner, outer);
}

void Capacity::launch(const model::LaunchNodes& launch, Reason why, Decision& decision, Memory& memory) {
  account_.add(launch.pool, launch.offering, launch.count);
  expected_nodes_.add({launch.pool, launch.offering}, launch.within, launch.count);
  decision.launched_gpus += launch.count * catalog_.offering(launch.offering).gpus;
  memory.pending_launches.push_back(
      {launch.pool, launch.offering, launch.within, launch.gang, {}, launch.count, launch.hold, now_});
  decision.plan.actions.push_back({launch, why});
}

}  // namespace capstan::decide::provision
