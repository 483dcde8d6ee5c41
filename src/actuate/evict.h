#pragma once

#include <optional>

#include "actuate/change.h"
#include "base/random.h"

namespace capstan::actuate {

/// Evicts a pod through its `eviction` subresource. After a refusal by a disruption budget (429) it asks again, after
/// the wait that the server asks for or after a pause that doubles, until `time_limit` is over.
class Evict : public Effect {
 public:
  /// Time limit of an eviction, shorter than the minute after which control::InFlight gives up.
  static constexpr Duration kTimeLimit = std::chrono::seconds(45);
  static constexpr Duration kPauseFirst = std::chrono::seconds(1);
  static constexpr Duration kPauseMax = std::chrono::seconds(10);  // longest pause; the API server may ask for 10 s

  Evict(Ref pod, RandomStream random, Duration time_limit = kTimeLimit);

  Step next(Instant now) override;
  void answered(const kube::Outcome& outcome, Instant now) override;
  Progress progress() const override { return change_.in_doubt() ? Progress::in_doubt : Progress::none; }

 private:
  Change ask() const;

  Ref pod_;
  RandomStream random_;
  Duration time_limit_;
  Change change_;
  std::optional<Instant> held_since_;
  Instant not_before_{};
  Duration pause_ = kPauseFirst;
};

}  // namespace capstan::actuate
