#include "decide/place/passes.h"

namespace capstan::decide::place {

void state_shortfalls(Context& context) {
  for (PendingGang& gang : context.gangs) {
    if (!gang.has_no_room()) continue;
    Shortfall lack = shortfall_of(gang.pods, *gang.refused);
    lack.why = context.search.reason_of(gang.pods, lack);
    if (gang.pods.bound.empty()) context.spread.set_preference(lack);
    if (const auto full = context.queues.refusal_of_promise(gang.pods.ask)) {
      gang.decide(PlacementResult::Kind::held_by_queue, *full);
      continue;
    }
    context.queues.promise(gang.pods.ask);
    gang.decide(PlacementResult::Kind::cannot_fit_now, lack.why);
    gang.shortfall = context.decision.shortfalls.size();
    context.decision.shortfalls.push_back(std::move(lack));
  }
}

}  // namespace capstan::decide::place
