#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "decide/place/gang_pods.h"
#include "decide/place/place.h"
#include "decide/place/queue_budget.h"
#include "decide/place/room_search.h"
#include "decide/place/spread_constraint.h"

namespace capstan::decide::place {

/// A pending gang, and what the passes decided about it so far.
struct PendingGang {
  GangPods pods;
  std::optional<PlacementResult> result{};  ///< none: no pass has decided yet
  std::vector<model::Action> actions{};     ///< actions for the gang
  std::optional<BestPlace> refused{};       ///< best place of a gang for which there was no room
  std::optional<std::size_t> shortfall{};   ///< position of its shortfall in the decision

  GangId id() const { return pods.request.gang; }
  void decide(PlacementResult::Kind kind, const model::Reason& why) { result = {id(), kind, why}; }
  /// Returns true if the gang has no room and no pass has decided about it yet.
  bool has_no_room() const { return !result && refused; }
};

/// The inputs of a placement, the state that its passes share, and the decision that they make.
struct Context {
  /// Sets up a decision. Gangs that wait for something other than room get their result here.
  /// @param index  its assumed rooms are up to date
  Context(Index& index, const model::Snapshot& snapshot, std::span<const model::PlannedGang> planned,
          const Policy& policy, Memory& memory, Instant now, const LeavingNodes& leaving);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Index& index;
  const model::Snapshot& snapshot;
  std::span<const model::PlannedGang> planned;
  const Policy& policy;
  Memory& memory;
  const Instant now;
  const LeavingNodes& leaving;

  AssumedRooms& rooms;
  QueueBudget queues;
  SpreadConstraint spread;
  RoomSearch search;
  std::vector<PendingGang> gangs;  ///< in the order in which they are served (fleet::Index::PendingGang)
  Decision decision;

  /// Takes room for a pod.
  void take(NodeId node, MilliGpu gpus, model::PodClassId pods);
  /// Decides that a gang waits until a snapshot shows its bindings.
  void wait_for_confirmation(PendingGang& gang) const;
  /// Returns the memory of a broken gang; null if the gang is not broken.
  Memory::BrokenGang* broken(GangId id);
};

/// Returns the reason why pods with this rule are not placed.
model::Reason reason_of(model::PodRule rule);

/// Returns the shortfall of a gang for which there is no room.
Shortfall shortfall_of(const GangPods& gang, const BestPlace& best);

/// Writes what the passes decided about each gang into the decision, in the order in which gangs are served. A gang
/// about which no pass decided stays pending, because a pass is switched off.
Decision finished(Context& context);

}  // namespace capstan::decide::place
