#include <algorithm>
#include <functional>
#include <vector>

#include "decide/place/passes.h"

namespace capstan::decide::place {
namespace {

void reserve(const GangPods& gang, Context& context) {
  if (context.queues.refusal_of_promise(gang.ask)) return;
  const Fit fit = context.search.find(gang).fit;
  for (const NodeId node : fit.nodes) {
    context.take(node, gang.request.spec.pods.gpus_per_pod, gang.request.spec.pods.pod_class);
  }
  context.queues.promise(gang.ask);
  if (!fit.nodes.empty()) return;
  const std::int64_t pods = gang.request.spec.pods.count;
  if (context.search.most_buyable(gang) < pods && context.search.most_ever(gang) < pods) return;
  Shortfall& lack = context.decision.shortfalls.emplace_back(shortfall_of(gang, fit));
  lack.why = context.search.reason_of(gang, lack);
  context.spread.set_preference(lack);
}

}  // namespace

void reserve_planned(Context& context) {
  std::vector<GangPods> gangs;
  for (const model::PlannedGang& planned : context.planned) {
    gangs.push_back(gang_pods_of(*context.snapshot.catalog, planned));
  }
  const auto priority = [](const GangPods& gang) { return gang.request.spec.priority; };
  std::ranges::stable_sort(gangs, std::ranges::greater{}, priority);
  for (const GangPods& gang : gangs) reserve(gang, context);
}

}  // namespace capstan::decide::place
