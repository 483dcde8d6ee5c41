#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "model/ids.h"
#include "model/plan.h"
#include "ports/world.h"

namespace capstan::control {

/// Submitted actions without an outcome, oldest first.
class InFlight {
 public:
  /// Limit of actions without an outcome. The loop withholds further actions, and a later tick decides them again.
  static constexpr std::size_t kMax = 20'000;
  /// Time after which an action without an outcome counts as unknown. The next snapshot shows what happened.
  static constexpr Duration kOutcomeTimeout = std::chrono::seconds(60);
  /// The same time for a scale-down, whose replicas may drain for ten minutes before it is written.
  static constexpr Duration kDrainTimeout = std::chrono::minutes(11);

  struct Entry {
    model::ActionToken token;
    model::Action action;
    Instant submitted_at;
    Instant decided_at{};  ///< time of the snapshot from which it was decided
  };
  struct SettledAction {
    model::Action action;
    ports::Outcome::Kind kind = ports::Outcome::Kind::unknown;
    model::Reason why;
    Instant decided_at{};
  };

  bool full() const { return entries_.size() >= kMax; }
  void add(model::ActionToken token, model::Action action, Instant now, Instant decided_at = {});

  /// Removes and returns, in order of submission, the actions with an outcome and the actions that waited too long.
  /// Actions that waited too long have the outcome `unknown`.
  std::vector<SettledAction> settle(const std::vector<ports::Outcome>& outcomes, Instant now);

  /// Returns the replicas that the last submitted action for this service asks for; empty if there is none.
  std::optional<ReplicaCount> requested_replicas(model::ServiceId service) const;

  /// Returns requested_replicas() of every service that has such an action.
  std::map<model::ServiceId, ReplicaCount> requested() const;

  /// Returns the gangs whose pods are being bound, sorted.
  std::vector<model::GangId> binding() const;

  /// Returns the nodes that are being terminated, sorted.
  std::vector<model::NodeId> terminating() const;

  /// Returns true if a replica is converting from or to this service.
  bool is_converting(model::ServiceId service) const;

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

}  // namespace capstan::control
