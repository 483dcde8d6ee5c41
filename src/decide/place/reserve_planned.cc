#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "decide/place/passes.h"

namespace capstan::decide::place {
namespace {

void reserve(const GangPods& gang, Context& context) {
  if (context.snapshot.catalog->eligibility.unsupported_rule(gang.request.spec) != model::PodRule::none) return;
  if (context.queues.refusal_of_promise(gang.ask)) return;
  const Fit fit = context.search.find(gang).fit;
  std::size_t taken = 0;  // used nodes of the fit, which has one node for each pod, in the order of the sets
  for (std::size_t set = 0; set < gang.request.spec.sets() && !fit.nodes.empty(); ++set) {
    const model::PodSet& pods = gang.request.spec.set(set);
    for (std::int64_t i = 0; i < pods.count; ++i) context.take(fit.nodes[taken++], pods.gpus_per_pod, pods.pod_class);
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
