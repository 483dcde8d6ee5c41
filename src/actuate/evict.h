#pragma once

#include <optional>

#include "actuate/change.h"
#include "base/random.h"

namespace capstan::actuate {

/// Evicts a pod through its `eviction` subresource. A disruption budget's no (429) is waited out: asked again as late
/// as the server says, or after a pause that doubles, until `patience` is over.
class Evict : public Effect {
 public:
  /// Less than control::InFlight's patience of a minute.
  static constexpr Duration kPatience = std::chrono::seconds(45);
  static constexpr Duration kPauseFirst = std::chrono::seconds(1);
  static constexpr Duration kPauseMax = std::chrono::seconds(10);  // what the server itself asks for

  Evict(Ref pod, RandomStream random, Duration patience = kPatience);

  Step next(Instant now) override;
  void answered(const kube::Outcome& outcome, Instant now) override;
  Standing standing() const override { return change_.in_doubt() ? Standing::in_doubt : Standing::nothing; }

 private:
  Change ask() const;

  Ref pod_;
  RandomStream random_;
  Duration patience_;
  Change change_;
  std::optional<Instant> held_since_;
  Instant not_before_{};
  Duration pause_ = kPauseFirst;
};

}  // namespace capstan::actuate
