#include "decide/provision/capacity.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace capstan::decide::provision {

using model::Claim;
using model::ClaimId;
using model::OfferingId;
using model::PoolId;
using model::Reason;
using model::ReasonCode;

bool in_transit(const Claim& claim, const model::Snapshot& snapshot) {
  switch (claim.phase) {
    case Claim::Phase::requested:
    case Claim::Phase::launched:
      return true;
    case Claim::Phase::registered:  // its node may show a moment later
      return claim.node.valid() && snapshot.nodes.find(claim.node) == nullptr;
    case Claim::Phase::failed:
      break;
  }
  return false;
}

namespace {

bool released(const Memory& memory, model::ClaimGroupId group) {
  return group.valid() && std::ranges::any_of(memory.groups, [&](const Memory::Group& g) {
           return g.id == group && !g.released_at.is_never();
         });
}

}  // namespace

Capacity::Capacity(const Index& index, const model::Snapshot& snapshot, const Memory& memory, Instant now)
    : catalog_(*snapshot.catalog), account_(index, snapshot, memory.asked), now_(now) {
  for (const Memory::Backoff& backoff : memory.backoffs) backoffs_[backoff.offering] = backoff;
  for (const Memory::Terminating& told : memory.terminating) {
    // A node may have gone since: scale looks before provision has followed what the snapshot says.
    if (const model::Node* node = snapshot.nodes.find(told.node)) give_back(node->pool);
  }
  snapshot.claims.for_each([&](ClaimId, const Claim& claim) {
    // What is being released is still paid for, but no gang may count on it.
    if (in_transit(claim, snapshot) && !released(memory, claim.group)) {
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
    const Memory::Backoff& backoff = backoffs_.at(offering);
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

void back_off(Memory& memory, OfferingId offering, const Policy& policy, Instant now) {
  const auto known = std::ranges::find(memory.backoffs, offering, &Memory::Backoff::offering);
  Memory::Backoff& backoff =
      known != memory.backoffs.end() ? *known : memory.backoffs.emplace_back(Memory::Backoff{offering, 0, now, now});
  Duration wait = policy.backoff;
  for (std::int64_t i = 0; i < backoff.failures && wait < policy.backoff_max; ++i) wait *= 2;
  ++backoff.failures;
  backoff.failed_at = now;
  backoff.until = now + std::min(wait, std::max(policy.backoff, policy.backoff_max));
}

namespace {

/// Could the launch be the one that the claim answers? A launch that is held together is answered by one group.
bool answers(const Claim& claim, const Memory::Asked& asked) {
  return asked.count > 0 && asked.pool == claim.pool && asked.offering == claim.offering &&
         asked.within == claim.within && (asked.hold > Duration{}) == claim.group.valid();
}

/// The launch that a group seen for the first time answers: the oldest of its size, else, since some claims may show
/// later than others, the oldest of more.
Memory::Asked* launch_of(Memory& memory, const Claim& claim, std::int64_t claims) {
  Memory::Asked* larger = nullptr;
  for (Memory::Asked& asked : memory.asked) {
    if (asked.group.valid() || !answers(claim, asked)) continue;
    if (asked.count == claims) return &asked;
    if (asked.count > claims && larger == nullptr) larger = &asked;
  }
  return larger;
}

/// New claims of one group answer one launch together, so that no group ever waits for another's claims.
/// A group that no launch of ours is known for, because a predecessor made it, is adopted where its claims say how many
/// they are.
void match_group(Memory& memory, const model::Snapshot& snapshot, const Policy& policy, model::ClaimGroupId id,
                 const std::vector<ClaimId>& claims) {
  const auto size = static_cast<std::int64_t>(claims.size());
  auto group = std::ranges::find(memory.groups, id, &Memory::Group::id);
  if (group == memory.groups.end()) {
    const Claim& first = snapshot.claims.at(claims.front());
    Memory::Asked* asked = launch_of(memory, first, size);
    if (asked == nullptr && first.group_size == 0) return;
    if (asked != nullptr) asked->group = id;
    memory.groups.push_back({.id = id,
                             .offering = first.offering,
                             .count = asked != nullptr ? asked->count : first.group_size,
                             .claims = {},
                             .requested_at = first.requested_at,
                             .until = first.requested_at + (asked != nullptr ? asked->hold : policy.hold),
                             .released_at = Instant::never()});
    group = std::prev(memory.groups.end());
  }
  for (ClaimId claim : claims) {
    if (std::ssize(group->claims) < group->count) group->claims.push_back(claim);
  }
  const auto asked = std::ranges::find(memory.asked, id, &Memory::Asked::group);
  if (asked != memory.asked.end()) asked->count -= size;
}

/// New claims answer the launches that asked for them.
void match_claims(Memory& memory, const model::Snapshot& snapshot, const Policy& policy) {
  const ClaimId newest_before = memory.newest_claim;
  std::map<model::ClaimGroupId, std::vector<ClaimId>> groups;
  snapshot.claims.for_each([&](ClaimId id, const Claim& claim) {
    if (newest_before.valid() && id <= newest_before) return;
    memory.newest_claim = id;
    if (claim.group.valid()) {
      groups[claim.group].push_back(id);
      return;
    }
    const auto asked = std::ranges::find_if(memory.asked, [&](const Memory::Asked& a) { return answers(claim, a); });
    if (asked != memory.asked.end()) --asked->count;
  });
  for (const auto& [group, claims] : groups) match_group(memory, snapshot, policy, group, claims);
}

/// A failed claim backs its offering off; one that was requested later and registered shows that it is to be had again.
void learn_claims(Memory& memory, const model::Snapshot& snapshot, const Policy& policy, Instant now) {
  std::erase_if(memory.failed, [&](ClaimId id) { return snapshot.claims.find(id) == nullptr; });
  snapshot.claims.for_each([&](ClaimId id, const Claim& claim) {
    const bool grouped = has(memory.groups, claim.group, &Memory::Group::id);  // a group comes or fails as one
    if (claim.phase == Claim::Phase::registered && !grouped) {
      std::erase_if(memory.backoffs, [&](const Memory::Backoff& b) {
        return b.offering == claim.offering && b.failed_at < claim.requested_at;
      });
    }
    if (claim.phase != Claim::Phase::failed || has(memory.failed, id)) return;
    memory.failed.push_back(id);
    if (!grouped) back_off(memory, claim.offering, policy, now);
  });
}

/// What became of the claims of a group.
struct Progress {
  std::int64_t whole = 0;  // became nodes
  std::int64_t lost = 0;   // failed or vanished without one
  std::int64_t left = 0;   // still there in any form, and without pods: something to release
};

Progress progress(const Memory::Group& group, const Index& index, const model::Snapshot& snapshot,
                  const std::map<ClaimId, NodeId>& arrived) {
  Progress found;
  for (ClaimId id : group.claims) {
    const Claim* claim = snapshot.claims.find(id);
    const auto there = arrived.find(id);
    const bool node = there != arrived.end() || (claim != nullptr && claim->phase == Claim::Phase::registered);
    const bool used = there != arrived.end() && index.pods_by_node.contains(there->second);
    const bool alive = claim != nullptr && claim->phase != Claim::Phase::failed;
    found.whole += node ? 1 : 0;
    found.lost += !node && !alive ? 1 : 0;
    found.left += (node || alive) && !used ? 1 : 0;
  }
  return found;
}

/// Forgets groups that are whole, and gives back those that cannot be or took too long.
void settle_groups(Memory& memory, const Index& index, const model::Snapshot& snapshot, const Policy& policy,
                   Instant now, Decision& decision) {
  if (memory.groups.empty()) return;
  std::map<ClaimId, NodeId> arrived;
  snapshot.nodes.for_each([&](NodeId id, const model::Node& node) {
    if (node.claim.valid()) arrived[node.claim] = id;
  });
  std::vector<Memory::Group> open;
  for (Memory::Group group : std::exchange(memory.groups, {})) {
    const Progress found = progress(group, index, snapshot, arrived);
    const bool released_before = !group.released_at.is_never();
    if (!released_before && found.whole == group.count) {
      std::erase_if(memory.backoffs, [&](const Memory::Backoff& b) { return b.offering == group.offering; });
      continue;
    }
    // Its maker ended before all claims were made: nobody will make the others.
    const bool abandoned = std::ssize(group.claims) < group.count && now - group.requested_at >= policy.ask_timeout;
    const bool hopeless = found.lost > 0 || abandoned || now >= group.until;
    if (!released_before && hopeless) back_off(memory, group.offering, policy, now);
    const bool repeat = released_before && now - group.released_at >= policy.ask_timeout;
    if ((released_before || hopeless) && found.left == 0) continue;
    if ((!released_before && hopeless) || repeat) {
      group.released_at = now;
      decision.plan.actions.push_back(
          {model::ReleaseGroup{group.id},
           {ReasonCode::group_incomplete,
            {found.whole, group.count, whole_seconds(group.until - group.requested_at), group.offering.value}}});
    }
    open.push_back(std::move(group));
  }
  memory.groups = std::move(open);
}

}  // namespace

void follow(Memory& memory, const Index& index, const model::Snapshot& snapshot, const Policy& policy, Instant now,
            Decision& decision) {
  match_claims(memory, snapshot, policy);
  std::erase_if(memory.asked,
                [&](const Memory::Asked& asked) { return asked.count <= 0 || now - asked.at >= policy.ask_timeout; });
  learn_claims(memory, snapshot, policy, now);
  settle_groups(memory, index, snapshot, policy, now, decision);
}

void buy_minimum(Capacity& capacity, const Policy& policy, Memory& memory, Decision& decision) {
  if (policy.min_nodes == 0) return;
  const model::Catalog& catalog = capacity.catalog();
  for (std::uint32_t p = 0; p < catalog.pools.size(); ++p) {
    const PoolId pool{p};
    for (OfferingId offering : catalog.pool(pool).offerings) {
      while (capacity.nodes_of(pool) < policy.min_nodes &&
             capacity.obstacle(pool, offering, 1) == Capacity::Obstacle::ok) {
        const Reason why{ReasonCode::pool_minimum, {capacity.nodes_of(pool), policy.min_nodes, pool.value}};
        capacity.launch({.pool = pool, .offering = offering, .within = {}, .count = 1, .hold = {}, .gang = {}}, why,
                        decision, memory);
      }
    }
  }
}

}  // namespace capstan::decide::provision
