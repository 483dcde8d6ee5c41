#include "decide/provision/checks.h"

#include <algorithm>
#include <set>
#include <variant>

#include "decide/provision/node_account.h"

namespace capstan::decide::provision {
namespace {

/// Checks the actions of a plan one by one. Each call returns what is wrong with an action, or an empty text.
class ActionCheck {
 public:
  explicit ActionCheck(const Context& context)
      : context_(context), account_(context.index, context.snapshot, context.memory.pending_launches) {}

  std::string operator()(const model::LaunchNodes& launch) {
    const auto backoff = std::ranges::find(context_.memory.backoffs, launch.offering, &Memory::Backoff::offering);
    if (backoff != context_.memory.backoffs.end() && context_.now < backoff->until)
      return "4: an offering is bought while it is in backoff";
    // The count is 0 because the account contains the launch already: the launch is in the memory.
    if (account_.refusal(launch.pool, launch.offering, 0)) return "4: a launch exceeds a limit";
    launched_gpus_ += launch.count * context_.snapshot.catalog->offering(launch.offering).gpus;
    return launch.count > 0 ? "" : "6: a launch of no node";
  }
  std::string operator()(const model::TerminateNode& terminate) {
    const model::Node* node = context_.snapshot.nodes.find(terminate.node);
    if (node == nullptr || node->is_foreign) return "2: a node that is not ours is terminated";
    if (!terminated_.insert(terminate.node).second) return "2: a node is terminated twice";
    if (!has(context_.memory.terminating, terminate.node, &Memory::PendingTermination::node))
      return "2: the termination of a node is not remembered";
    const bool only_empty = context_.policy.consolidation.policy == model::ConsolidationPolicy::when_empty;
    if (!only_empty) return "";
    if (context_.nominated.contains(terminate.node)) return "2: a node on which a pod is expected is terminated";
    return context_.index.pods_by_node.contains(terminate.node) ? "2: a node with pods is terminated" : "";
  }
  std::string operator()(const model::ReleaseGroup& release) {
    if (!released_.insert(release.group).second) return "6: a group is released twice";
    const auto group = std::ranges::find(context_.memory.groups, release.group, &Memory::Group::id);
    const bool is_marked = group != context_.memory.groups.end() && group->released_at == context_.now;
    return is_marked ? "" : "6: a group is released that memory does not mark as released";
  }
  template <typename Other>
  std::string operator()(const Other&) const {
    return "9: an action of another layer";
  }

  GpuCount launched_gpus() const { return launched_gpus_; }

 private:
  const Context& context_;
  const NodeAccount account_;
  GpuCount launched_gpus_ = 0;
  std::set<NodeId> terminated_;
  std::set<model::ClaimGroupId> released_;
};

}  // namespace

std::string broken_invariant(const Context& context) {
  ActionCheck check(context);
  for (const model::Action& action : context.decision.plan.actions) {
    if (std::string broken = std::visit(check, action.effect); !broken.empty()) return broken;
  }
  return context.decision.launched_gpus == check.launched_gpus() ? "" : "9: the launched GPUs are counted wrongly";
}

}  // namespace capstan::decide::provision
