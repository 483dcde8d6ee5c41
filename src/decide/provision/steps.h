#pragma once

#include <algorithm>
#include <functional>
#include <set>

#include "decide/provision/capacity.h"
#include "decide/provision/provision.h"

// The steps of one decision, one file each, in the order in which decide() takes them.
namespace capstan::decide::provision {

/// The inputs, the memory and the output that all steps of one decision share.
struct Context {
  Index& index;
  const model::Snapshot& snapshot;
  const place::Decision& placed;
  const Policy& policy;
  Instant now;
  Memory& memory;
  Decision& decision;
};

/// Updates memory from the snapshot: new claims are matched to the launches that asked for them, failed claims put
/// their offering into backoff and successful ones end it, and groups are completed or released.
void follow(const Context& context);

/// Buys nodes for each pool that has fewer than the policy's minimum.
void buy_minimum(const Context& context, Capacity& capacity);

/// Buys nodes for single pods that fit on no node, with the policy `per_pod`.
/// @param nominated  receives the nodes on which waiting pods are expected to fit
void buy_per_pod(const Context& context, Capacity& capacity, std::set<model::NodeId>& nominated);

/// Buys nodes for whole gangs, with the policy `group`.
void buy_groups(const Context& context, Capacity& capacity);

/// Gives nodes back that are empty, or underutilized if the policy says so.
/// @param nominated  nodes that are not given back
void consolidate(const Context& context, Capacity& capacity, const std::set<model::NodeId>& nominated);

/// Puts an offering into backoff after a failed launch. Each failure in a row doubles the wait, up to a maximum.
void back_off(Memory& memory, model::OfferingId offering, const Policy& policy, Instant now);

/// Returns true if a row, or the given field of a row, equals `value`.
template <typename Rows, typename Value, typename Field = std::identity>
bool has(const Rows& rows, const Value& value, Field field = {}) {
  return std::ranges::find(rows, value, field) != std::ranges::end(rows);
}

}  // namespace capstan::decide::provision
