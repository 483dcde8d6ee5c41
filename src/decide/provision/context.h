#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

#include "decide/provision/provision.h"
#include "decide/provision/purchase_limits.h"

namespace capstan::decide::provision {

/// The inputs of a decision about nodes, the state that its passes share, and the decision that they make.
struct Context {
  /// @param releases  releases of the groups that can no longer be completed
  Context(Index& index, const model::Snapshot& snapshot, const place::Decision& placed, const Policy& policy,
          Memory& memory, Instant now, std::vector<model::Action> releases);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Index& index;
  const model::Snapshot& snapshot;
  const place::Decision& placed;
  const Policy& policy;
  Memory& memory;
  const Instant now;
  const std::vector<model::Action> releases;

  Detail detail = Detail::reasons;  ///< what the decision keeps for explanations
  bool scans = false;               ///< true: launches are decided now (Policy::scan_interval)
  bool consolidates = false;        ///< true: nodes to give back are chosen now (Consolidation::poll)
  PurchaseLimits capacity;
  std::set<model::NodeId> nominated;  ///< nodes on which waiting pods are expected to fit; they are not given back
  bool gave_back_empty = false;       ///< true: an empty node is given back now
  Decision decision;
};

/// Updates memory from the snapshot before the passes run. It matches new claims to the launches that asked for them,
/// and forgets complete groups. A failed claim puts its offering into backoff, and a successful one ends the backoff. A
/// group that can no longer be completed, or that took too long, is marked as released.
/// @return the releases of these groups
std::vector<model::Action> follow(Memory& memory, const Index& index, const model::Snapshot& snapshot,
                                  const Policy& policy, Instant now);

/// Puts an offering into backoff after a failed launch. Each failure in a row doubles the wait, up to a maximum.
void back_off(Memory& memory, model::OfferingId offering, const Policy& policy, Instant now);

/// Returns true if a row, or the given field of a row, equals `value`.
template <typename Rows, typename Value, typename Field = std::identity>
bool has(const Rows& rows, const Value& value, Field field = {}) {
  return std::ranges::find(rows, value, field) != std::ranges::end(rows);
}

}  // namespace capstan::decide::provision
