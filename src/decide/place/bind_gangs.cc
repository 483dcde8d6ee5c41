#include "decide/place/passes.h"

namespace capstan::decide::place {
namespace {

using model::Reason;
using model::ReasonCode;

/// Returns the reason for a gang that is placed in one domain of `level`.
Reason reason_of_place(const model::Catalog& catalog, const model::GangSpec& spec, model::Level level) {
  const std::int64_t pods = spec.count();
  if (!spec.preferred) return {ReasonCode::placed_together, {pods, model::reason_number(level)}};
  const model::Level preferred = model::levels_to_try(catalog.topologies, spec.required_level, spec.preferred).front();
  if (level == preferred) return {ReasonCode::placed_as_preferred, {pods, model::reason_number(level)}};
  return {ReasonCode::placed_wider, {pods, model::reason_number(level), model::reason_number(preferred)}};
}

void bind(PendingGang& gang, const RoomSearch::LevelFit& found, Context& context) {
  const GangPods& pods = gang.pods;
  context.queues.place(pods.without_node);
  model::BindPods bind{.gang = gang.id(), .bindings = {}};
  context.spread.place(pods.request.service, gang.id(), found.fit.nodes.front());
  for (std::size_t set = 0; set < pods.request.spec.sets(); ++set) {
    const model::PodSet& equal = pods.request.spec.set(set);
    for (std::int64_t i = 0; i < equal.count; ++i) {
      const NodeId node = found.fit.nodes[bind.bindings.size()];
      context.take(node, equal.gpus_per_pod, equal.pod_class);
      bind.bindings.push_back({pods.without_node[bind.bindings.size()], node});
    }
  }
  const Reason why = reason_of_place(*context.snapshot.catalog, pods.request.spec, found.level);
  gang.actions.push_back({std::move(bind), why});
  gang.decide(PlacementResult::Kind::placed, why);
}

}  // namespace

void bind_gangs(Context& context) {
  for (PendingGang& gang : context.gangs) {
    if (gang.result || gang.pods.without_node.empty()) continue;
    gang.pods.ask = context.queues.demand_of(gang.pods.without_node);
    if (const auto full = context.queues.refusal_of(gang.pods.ask)) {
      gang.decide(PlacementResult::Kind::held_by_queue, *full);
      continue;
    }
    const RoomSearch::LevelFit found = context.search.find(gang.pods);
    if (found.fit.nodes.empty())
      gang.refused = found.fit;
    else
      bind(gang, found, context);
  }
}

}  // namespace capstan::decide::place
