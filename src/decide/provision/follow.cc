// Updates memory from the snapshot: claims, backoffs and groups.
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "decide/provision/context.h"

namespace capstan::decide::provision {

using model::Claim;
using model::ClaimId;
using model::OfferingId;
using model::Reason;
using model::ReasonCode;

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

/// Returns true if the claim may result from this launch. All claims of a launch with a hold time have one group.
bool may_result_from(const Claim& claim, const Memory::PendingLaunch& asked) {
  return asked.count > 0 && asked.pool == claim.pool && asked.offering == claim.offering &&
         asked.domain == claim.domain && (asked.hold > Duration{}) == claim.group.valid();
}

/// Returns the launch that created a new group: the oldest launch of the same size. If there is none, returns the
/// oldest larger launch, because some claims may appear later than others.
Memory::PendingLaunch* launch_of(Memory& memory, const Claim& claim, std::int64_t claims) {
  Memory::PendingLaunch* larger = nullptr;
  for (Memory::PendingLaunch& asked : memory.pending_launches) {
    if (asked.group.valid() || !may_result_from(claim, asked)) continue;
    if (asked.count == claims) return &asked;
    if (asked.count > claims && larger == nullptr) larger = &asked;
  }
  return larger;
}

/// Matches the new claims of one group to one launch, so that no group waits for the claims of another group.
/// A group without a known launch was made by an earlier controller process. It is adopted if its claims state the size
/// of the group.
void match_group(Memory& memory, const model::Snapshot& snapshot, const Policy& policy, model::ClaimGroupId id,
                 const std::vector<ClaimId>& claims) {
  const auto size = static_cast<std::int64_t>(claims.size());
  auto group = std::ranges::find(memory.groups, id, &Memory::Group::id);
  if (group == memory.groups.end()) {
    const Claim& first = snapshot.claims.at(claims.front());
    Memory::PendingLaunch* asked = launch_of(memory, first, size);
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
  const auto asked = std::ranges::find(memory.pending_launches, id, &Memory::PendingLaunch::group);
  if (asked != memory.pending_launches.end()) asked->count -= size;
}

/// Matches new claims to the launches that asked for them.
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
    const auto asked = std::ranges::find_if(memory.pending_launches,
                                            [&](const Memory::PendingLaunch& a) { return may_result_from(claim, a); });
    if (asked != memory.pending_launches.end()) --asked->count;
  });
  for (const auto& [group, claims] : groups) match_group(memory, snapshot, policy, group, claims);
}

/// Updates backoffs from claims. A failed claim puts its offering into backoff. A claim that was requested after that
/// failure and has registered shows that the offering is available again.
void learn_claims(Memory& memory, const model::Snapshot& snapshot, const Policy& policy, Instant now) {
  std::erase_if(memory.failed, [&](ClaimId id) { return snapshot.claims.find(id) == nullptr; });
  snapshot.claims.for_each([&](ClaimId id, const Claim& claim) {
    const bool grouped = has(memory.groups, claim.group, &Memory::Group::id);  // settle_groups() updates their backoffs
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

/// The claims of a group, counted by their outcome.
struct Progress {
  std::int64_t arrived = 0;     // claims that became nodes
  std::int64_t lost = 0;        // claims that failed or disappeared before they became nodes
  std::int64_t releasable = 0;  // claims and nodes that exist and have no pods
};

Progress progress(const Memory::Group& group, const Index& index, const model::Snapshot& snapshot,
                  const std::map<ClaimId, NodeId>& node_by_claim) {
  Progress found;
  for (ClaimId id : group.claims) {
    const Claim* claim = snapshot.claims.find(id);
    const auto node = node_by_claim.find(id);
    const bool has_node = node != node_by_claim.end();
    const bool arrived = has_node || (claim != nullptr && claim->phase == Claim::Phase::registered);
    const bool used = has_node && index.pods_by_node.contains(node->second);
    const bool alive = claim != nullptr && claim->phase != Claim::Phase::failed;
    found.arrived += arrived ? 1 : 0;
    found.lost += !arrived && !alive ? 1 : 0;
    found.releasable += (arrived || alive) && !used ? 1 : 0;
  }
  return found;
}

/// Forgets groups that are complete. If a group can no longer be completed or took too long, marks it as released.
/// Returns the releases.
std::vector<model::Action> settle_groups(Memory& memory, const Index& index, const model::Snapshot& snapshot,
                                         const Policy& policy, Instant now) {
  std::vector<model::Action> releases;
  if (memory.groups.empty()) return releases;
  std::map<ClaimId, NodeId> node_by_claim;
  snapshot.nodes.for_each([&](NodeId id, const model::Node& node) {
    if (node.claim.valid()) node_by_claim[node.claim] = id;
  });
  std::vector<Memory::Group> open;
  for (Memory::Group group : std::exchange(memory.groups, {})) {
    const Progress found = progress(group, index, snapshot, node_by_claim);
    const bool released_before = !group.released_at.is_never();
    if (!released_before && found.arrived == group.count) {
      std::erase_if(memory.backoffs, [&](const Memory::Backoff& b) { return b.offering == group.offering; });
      continue;
    }
    // Claims that are still missing after the timeout never appear: the controller process that created the group ended
    // before it created them, and no other process does so.
    const bool abandoned = std::ssize(group.claims) < group.count && now - group.requested_at >= policy.ask_timeout;
    const bool hopeless = found.lost > 0 || abandoned || now >= group.until;
    if (!released_before && hopeless) back_off(memory, group.offering, policy, now);
    const bool repeat = released_before && now - group.released_at >= policy.ask_timeout;
    if ((released_before || hopeless) && found.releasable == 0) continue;
    if ((!released_before && hopeless) || repeat) {
      group.released_at = now;
      releases.push_back(
          {model::ReleaseGroup{group.id},
           {ReasonCode::group_incomplete,
            {found.arrived, group.count, whole_seconds(group.until - group.requested_at), group.offering.value}}});
    }
    open.push_back(std::move(group));
  }
  memory.groups = std::move(open);
  return releases;
}

}  // namespace

std::vector<model::Action> follow(Memory& memory, const Index& index, const model::Snapshot& snapshot,
                                  const Policy& policy, Instant now) {
  match_claims(memory, snapshot, policy);
  std::erase_if(memory.pending_launches, [&](const Memory::PendingLaunch& asked) {
    return asked.count <= 0 || now - asked.at >= policy.ask_timeout;
  });
  learn_claims(memory, snapshot, policy, now);
  return settle_groups(memory, index, snapshot, policy, now);
}

}  // namespace capstan::decide::provision
