#include <algorithm>
#include <iterator>

#include "decide/place/passes.h"

namespace capstan::decide::place {

void refuse_oversized(Context& context) {
  for (PendingGang& gang : context.gangs) {
    if (!gang.has_no_room()) continue;
    const model::GangSpec& spec = gang.pods.request.spec;
    // A gang with several pod sets is refused only if its largest pods have too few nodes.
    const std::int64_t all =
        spec.other_pods.empty() ? std::ssize(context.snapshot.gangs.at(gang.id()).pods) : spec.pods.count;
    // most_ever() visits all nodes that exist, so it is called only if too few nodes can be bought. A gang with bound
    // pods is never refused.
    const std::int64_t buyable = gang.pods.bound.empty() ? context.search.most_buyable(gang.pods) : all;
    if (buyable >= all) continue;
    const std::int64_t largest = context.search.most_ever(gang.pods);
    if (largest >= all) continue;
    // The running pods that keep the pods of the gang away will end.
    const model::PodClass* pods = context.snapshot.catalog->eligibility.find(spec.pods.pod_class);
    if (pods != nullptr && !pods->kept_apart.empty()) continue;
    const auto gpus = [&](std::int64_t pods) { return gpus_up(spec.pods.gpus_per_pod * pods); };
    const bool has_class = spec.pods.pod_class.valid() && gang.pods.bound.empty();
    // If a pool sells nodes for the pods, its limit is the cause, even if other nodes exclude the pods.
    if (has_class && context.search.most_on_all_nodes(gang.pods) >= all &&
        !context.search.higher_limits_suffice(gang.pods)) {
      gang.decide(PlacementResult::Kind::never_fits,
                  {model::ReasonCode::no_node_admits,
                   {gpus(all), gpus(std::max(largest, buyable)), model::reason_number(spec.required_level),
                    spec.pods.gpu.value}});
      continue;
    }
    gang.decide(PlacementResult::Kind::never_fits, {model::ReasonCode::never_fits,
                                                    {gpus(all), gpus(largest), gpus(buyable),
                                                     model::reason_number(spec.required_level), spec.pods.gpu.value}});
  }
}

}  // namespace capstan::decide::place
