#include "decide/provision/provision.h"

#include <algorithm>
#include <utility>

#include "decide/provision/checks.h"
#include "decide/provision/context.h"
#include "decide/provision/give_back.h"
#include "decide/provision/passes.h"

namespace capstan::decide::provision {
namespace {

/// Forgets nodes that the snapshot shows as terminating or no longer shows. Also forgets nodes that do not terminate
/// although the timeout is over: the action was lost.
void forget_terminated(Memory& memory, const model::Snapshot& snapshot, const Policy& policy, Instant now) {
  std::erase_if(memory.terminating, [&](const Memory::PendingTermination& terminating) {
    const model::Node* node = snapshot.nodes.find(terminating.node);
    return node == nullptr || node->phase == model::Node::Phase::terminating ||
           now - terminating.at >= policy.ask_timeout;
  });
}

}  // namespace

Policy cluster_autoscaler() {
  Policy policy;
  policy.kind = Policy::Kind::per_pod;
  policy.scan_interval = std::chrono::seconds(10);
  policy.backoff = std::chrono::minutes(5);
  policy.consolidation.policy = model::ConsolidationPolicy::when_empty_or_underutilized;
  policy.consolidation.after = std::chrono::minutes(10);
  policy.consolidation.use_below_ppm = 500'000;
  return policy;
}

Policy karpenter() {
  Policy policy;
  policy.kind = Policy::Kind::per_pod;
  policy.batch_idle = std::chrono::seconds(1);
  policy.batch_max = std::chrono::seconds(10);
  policy.backoff = policy.backoff_max = std::chrono::minutes(3);
  policy.consolidation.policy = model::ConsolidationPolicy::when_empty_or_underutilized;
  policy.consolidation.after = {};
  return policy;
}

Policy whole_groups() { return {}; }

void forget(Memory& memory, const model::LaunchNodes& launch) {
  const auto asked = std::ranges::find_if(memory.pending_launches, [&](const Memory::PendingLaunch& a) {
    return a.pool == launch.pool && a.offering == launch.offering && a.domain == launch.domain &&
           a.gang == launch.gang && a.count == launch.count;
  });
  if (asked != memory.pending_launches.end()) memory.pending_launches.erase(asked);
}

void refused(Memory& memory, const model::LaunchNodes& launch, const Policy& policy, Instant now) {
  forget(memory, launch);
  back_off(memory, launch.offering, policy, now);
}

void refused(Memory& memory, const model::TerminateNode& terminate) {
  std::erase_if(memory.terminating,
                [&](const Memory::PendingTermination& terminating) { return terminating.node == terminate.node; });
}

place::LeavingNodes leaving(const Memory& memory) {
  place::LeavingNodes leaving;
  for (const Memory::PendingTermination& terminating : memory.terminating) leaving.nodes.push_back(terminating.node);
  for (const Memory::Group& group : memory.groups) {
    if (!group.released_at.is_never()) leaving.groups.push_back(group.id);
  }
  std::ranges::sort(leaving.nodes);
  std::ranges::sort(leaving.groups);
  return leaving;
}

void keep_terminating(Memory& memory, std::span<const NodeId> nodes, Instant now) {
  for (Memory::PendingTermination& terminating : memory.terminating) {
    if (std::ranges::binary_search(nodes, terminating.node)) terminating.at = now;
  }
}

Decision decide(Index& index, const model::Snapshot& snapshot, const place::Decision& placed, const Policy& policy,
                Memory& memory, Instant now, Options options) {
  forget_terminated(memory, snapshot, policy, now);
  std::vector<model::Action> releases = follow(memory, index, snapshot, policy, now);
  Context context(index, snapshot, placed, policy, memory, now, std::move(releases));
  if (context.consolidates) note_stable_pods(memory, index, snapshot, now);
  context.detail = options.detail;
  run_passes(passes(), context, options.verify, broken_invariant);
  return std::move(context.decision);
}

}  // namespace capstan::decide::provision
