#include "decide/provision/give_back.h"
#include "decide/provision/passes.h"

namespace capstan::decide::provision {

using model::ReasonCode;

void give_back_empty(Context& context) {
  if (!context.consolidates) return;
  const Policy& policy = context.policy;
  const auto add_no_action = [&](NodeId id, model::Reason why) {
    context.decision.plan.no_actions.push_back({model::Plan::NoAction::Subject::node, id.value, why});
  };
  ReturnableNodes nodes(context);
  const std::int64_t wait = whole_seconds(policy.consolidation.after);
  context.snapshot.nodes.for_each([&](NodeId id, const model::Node& node) {
    if (!nodes.is_empty(id) || !nodes.contains(id, node)) return;
    const Duration quiet = nodes.unchanged_for(id);
    if (quiet < policy.consolidation.after)
      return add_no_action(id, {ReasonCode::not_quiet_yet, {whole_seconds(quiet), wait}});
    const std::int64_t in_pool = context.capacity.nodes_of(node.pool);
    if (in_pool <= policy.min_nodes)
      return add_no_action(id, {ReasonCode::pool_minimum, {in_pool, policy.min_nodes, node.pool.value}});
    if (nodes.budget(node.pool) <= 0) {
      if (const auto why = nodes.wait_for_budget(node.pool)) add_no_action(id, *why);
      return;
    }
    nodes.count_return(node.pool);
    terminate(context, id, node, {ReasonCode::node_empty, {whole_seconds(quiet), wait}});
    context.gave_back_empty = true;
  });
}

}  // namespace capstan::decide::provision
