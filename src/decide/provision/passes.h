#pragma once

#include <span>

#include "decide/passes.h"
#include "decide/provision/context.h"

// The passes of a decision about nodes, one file each. passes.cc lists them in their order.
namespace capstan::decide::provision {

std::span<const Pass<Policy::Kind, Context>> passes();

/// Releases the groups that can no longer be completed or took too long.
void release_groups(Context& context);

/// Buys nodes for each pool that has fewer than the policy's minimum.
void buy_minimum(Context& context);

/// `per_pod`: buys nodes for single pods that fit on no node.
void buy_for_pods(Context& context);

/// `group`: buys nodes for whole gangs.
void buy_for_gangs(Context& context);

/// Terminates nodes whose cheaper replacement is ready, and abandons replacements that take too long.
void finish_replacements(Context& context);

/// Terminates empty nodes, as many as the budget allows.
void give_back_empty(Context& context);

/// Considers nodes with pods by price per disruption, the highest first, until it can act on a node. It gives the node
/// back if its pods fit on other nodes, or else buys a cheaper replacement if there is one. Does nothing without the
/// policy `when_empty_or_underutilized`, or if an empty node is given back.
void give_back_underutilized(Context& context);

}  // namespace capstan::decide::provision
