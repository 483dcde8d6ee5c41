#include "decide/provision/provision.h"

#include <algorithm>

#include "decide/provision/capacity.h"

namespace capstan::decide::provision {
namespace {

bool due(Instant last, Duration every, Instant now) { return last.is_never() || now - last >= every; }

/// Drops nodes that are gone or show as terminating, for which the snapshot speaks now, and those that were told so
/// long ago that they did not hear it.
void forget_terminated(Memory& memory, const model::Snapshot& snapshot, const Policy& policy, Instant now) {
  std::erase_if(memory.terminating, [&](const Memory::Terminating& told) {
    const model::Node* node = snapshot.nodes.find(told.node);
    return node == nullptr || node->phase == model::Node::Phase::terminating || now - told.at >= policy.ask_timeout;
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
  const auto asked = std::ranges::find_if(memory.asked, [&](const Memory::Asked& a) {
    return a.pool == launch.pool && a.offering == launch.offering && a.within == launch.within &&
           a.gang == launch.gang && a.count == launch.count;
  });
  if (asked != memory.asked.end()) memory.asked.erase(asked);
}

void refused(Memory& memory, const model::LaunchNodes& launch, const Policy& policy, Instant now) {
  forget(memory, launch);
  back_off(memory, launch.offering, policy, now);
}

void refused(Memory& memory, const model::TerminateNode& terminate) {
  std::erase_if(memory.terminating, [&](const Memory::Terminating& told) { return told.node == terminate.node; });
}

std::vector<NodeId> leaving_nodes(const Memory& memory) {
  std::vector<NodeId> nodes;
  for (const Memory::Terminating& told : memory.terminating) nodes.push_back(told.node);
  std::ranges::sort(nodes);
  return nodes;
}

void keep_terminating(Memory& memory, std::span<const NodeId> nodes, Instant now) {
  for (Memory::Terminating& told : memory.terminating) {
    if (std::ranges::binary_search(nodes, told.node)) told.at = now;
  }
}

Decision decide(Index& index, const model::Snapshot& snapshot, const place::Decision& placed, const Policy& policy,
                Memory& memory, Instant now) {
  Decision decision;
  forget_terminated(memory, snapshot, policy, now);
  follow(memory, index, snapshot, policy, now, decision);
  Capacity capacity(index, snapshot, memory, now);
  decision.coming_gpus = capacity.coming_gpus();
  std::set<NodeId> nominated = placed.nominated;

  if (due(memory.last_scan, policy.scan_interval, now)) {
    memory.last_scan = now;
    buy_minimum(capacity, policy, memory, decision);
    if (policy.kind == Policy::Kind::per_pod) {
      buy_per_pod(index, snapshot, placed, capacity, policy, memory, now, decision, nominated);
    } else {
      buy_groups(index, placed, capacity, policy, memory, decision);
    }
  }
  if (policy.consolidation.enabled && due(memory.last_consolidation, policy.consolidation.poll, now)) {
    memory.last_consolidation = now;
    consolidate(index, snapshot, placed, nominated, capacity, policy, memory, now, decision);
  }
  return decision;
}

}  // namespace capstan::decide::provision
