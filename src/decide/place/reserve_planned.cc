#include "decide/place/passes.h"

namespace capstan::decide::place {
namespace {

void reserve(const GangPods& gang, Context& context) {
  if (context.queues.refusal_of_promise(gang.ask)) return;
  const Fit fit = context.search.find(gang).fit;
  for (const NodeId node : fit.nodes) {
    context.take(node, gang.shape.spec.pods.gpus_per_pod, gang.shape.spec.pods.pod_class);
  }
  context.queues.promise(gang.ask);
  if (!fit.nodes.empty()) return;
  const std::int64_t pods = gang.shape.spec.pods.count;
  if (context.search.most_buyable(gang) < pods && context.search.most_ever(gang) < pods) return;
  Shortfall& lack = context.decision.shortfalls.emplace_back(shortfall_of(gang, fit));
  lack.why = context.search.reason_of(gang, lack);
  context.spread.set_preference(lack);
}

}  // namespace

void reserve_planned(Context& context) {
  for (const model::PlannedGang& planned : context.planned) {
    reserve(gang_pods_of(*context.snapshot.catalog, planned), context);
  }
}

}  // namespace capstan::decide::place
