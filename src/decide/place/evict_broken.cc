#include "decide/place/expected_nodes.h"
#include "decide/place/passes.h"

namespace capstan::decide::place {
namespace {

using model::Reason;
using model::ReasonCode;

/// Returns true if nodes with GPUs of the gang's kind are on their way, as is_expected() defines it.
bool nodes_are_coming(const PendingGang& gang, const Context& context) {
  bool coming = false;
  context.snapshot.claims.for_each([&](model::ClaimId, const model::Claim& claim) {
    coming |= is_expected(claim, context.snapshot) &&
              context.snapshot.catalog->offering(claim.offering).gpu == gang.pods.request.spec.pods.gpu;
  });
  return coming;
}

/// Evicts the bound pods of the gang. The time after which a broken gang is given up starts again.
void give_up(PendingGang& gang, Memory::BrokenGang& broken, const Reason& why, const Context& context) {
  for (const PodId pod : context.snapshot.gangs.at(gang.id()).pods) {
    const model::Pod* row = context.snapshot.pods.find(pod);
    if (row != nullptr && has_node(*row)) gang.actions.push_back({model::EvictPod{pod}, why});
  }
  broken.since = context.now;
}

}  // namespace

void evict_broken(Context& context) {
  for (PendingGang& gang : context.gangs) {
    const bool all_bound = gang.pods.without_node.empty();
    if (gang.result || !(all_bound || gang.refused)) continue;
    Memory::BrokenGang* broken = context.broken(gang.id());
    if (broken == nullptr) continue;
    const bool gives_up = context.now - broken->since >= context.policy.broken_for && !nodes_are_coming(gang, context);
    // As long as the gang is not given up, a later pass decides how its pods without a node get one.
    if (!gives_up && !all_bound) continue;
    const std::int64_t needed = context.snapshot.gangs.at(gang.id()).spec.needed();
    const Reason why{gives_up ? ReasonCode::gang_given_up : ReasonCode::gang_broken,
                     {gang.pods.have_node, needed, whole_seconds(context.policy.broken_for)}};
    if (gives_up) give_up(gang, *broken, why, context);
    gang.decide(PlacementResult::Kind::cannot_fit_now, why);
  }
}

}  // namespace capstan::decide::place
