#include "decide/provision/give_back.h"
#include "decide/provision/passes.h"

namespace capstan::decide::provision {
namespace {

/// A replacement node that is not ready after this time is abandoned. Karpenter uses the same timeout.
constexpr Duration kReplacementTimeout = std::chrono::minutes(10);

bool has_arrived(const Memory::Replacement& replacement, const model::Snapshot& snapshot) {
  bool arrived = false;
  snapshot.nodes.for_each([&](NodeId id, const model::Node& node) {
    arrived = arrived || (id > replacement.newest_node && node.pool == replacement.pool &&
                          node.offering == replacement.offering && node.phase == model::Node::Phase::ready);
  });
  return arrived;
}

}  // namespace

void finish_replacements(Context& context) {
  if (!context.consolidates) return;
  std::erase_if(context.memory.replacements, [&](const Memory::Replacement& replacement) {
    const model::Node* old = context.snapshot.nodes.find(replacement.node);
    if (old == nullptr || context.now - replacement.at >= kReplacementTimeout) return true;
    if (old->phase != model::Node::Phase::ready || !has_arrived(replacement, context.snapshot)) return false;
    const MicroUsd price = context.capacity.catalog().offering(replacement.offering).price_per_hour;
    terminate(context, replacement.node, *old,
              {model::ReasonCode::cheaper_replacement, {price.count, price_of(context, *old).count}});
    return true;
  });
}

}  // namespace capstan::decide::provision
