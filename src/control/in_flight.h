#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "model/ids.h"
#include "model/plan.h"
#include "ports/world.h"

namespace capstan::control {

/// Actions that were submitted and whose outcome has not arrived, oldest first.
class InFlight {
 public:
  /// More than this many actions never wait for an answer at once; the loop submits the rest at a later tick.
  static constexpr std::size_t kMost = 20'000;
  /// Without an answer for this long the outcome counts as unknown: the next snapshot tells what happened.
  static constexpr Duration kPatience = std::chrono::seconds(60);
  /// Of a lowering, whose replicas may drain for ten minutes before it is written.
  static constexpr Duration kDrainPatience = std::chrono::minutes(11);

  struct Entry {
    model::ActionToken token;
    model::Action action;
    Instant submitted_at;
  };
  struct Settled {
    model::Action action;
    ports::Outcome::Kind kind = ports::Outcome::Kind::unknown;
    model::Reason why;
  };

  bool full() const { return entries_.size() >= kMost; }
  void add(model::ActionToken token, model::Action action, Instant now);

  /// Takes out what has been answered, and what has waited beyond patience as unknown; in order of submission.
  std::vector<Settled> settle(const std::vector<ports::Outcome>& outcomes, Instant now);

  /// The replicas that the last of those that set this service's goes for; nothing: there is none.
  std::optional<ReplicaCount> asked(model::ServiceId service) const;

  /// Returns the gangs whose pods are being bound, sorted.
  std::vector<model::GangId> binding() const;

  /// Returns the nodes that are being ended, sorted.
  std::vector<model::NodeId> terminating() const;

  /// A replica that changes over from or to this service.
  bool converting(model::ServiceId service) const;

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

}  // namespace capstan::control
