#include <algorithm>
#include <optional>

#include "base/known_row.h"
#include "decide/place/expected_nodes.h"
#include "decide/place/passes.h"

namespace capstan::decide::place {

void nominate_claims(Context& context) {
  if (context.decision.shortfalls.empty()) return;
  const NewNodes new_nodes(context.snapshot, context.index.rooms);
  ExpectedNodes expected(new_nodes);
  expected.add_claims(context.snapshot, [&](const model::Claim& claim) {
    return !std::ranges::binary_search(context.leaving.groups, claim.group);
  });
  for (PendingGang& gang : context.gangs) {
    if (!gang.shortfall) continue;
    const std::optional<Nomination> found = expected.nominate(known_row(context.decision.shortfalls, *gang.shortfall));
    if (!found || !found->last.valid()) continue;
    gang.decide(PlacementResult::Kind::nominated, reason_of(*found, context.now));
  }
}

}  // namespace capstan::decide::place
