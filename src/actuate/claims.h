#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "actuate/node_claim.h"

namespace capstan::actuate {

/// Creates all claims of a group or none: if one cannot be created, the others are deleted. The names of the claims
/// derive from the name of the group, so that a repeated launch finds the existing claims.
class LaunchGroup : public Effect {
 public:
  /// Number of attempts, one per second, to delete claims.
  static constexpr int kGiveBackTries = 30;

  explicit LaunchGroup(ClaimGroup group) : group_(std::move(group)) {}

  Step next(Instant now) override;
  void answered(const kube::Outcome& outcome, Instant now) override;
  Progress progress() const override { return begun_ ? Progress::partial : Progress::none; }
  void halt() override { delete_claims(); }

 private:
  kube::ObjectRef claim(std::int64_t index) const;
  Change create(std::int64_t index) const;
  Change discard(std::int64_t index) const;
  void delete_claims();

  ClaimGroup group_;
  std::int64_t at_ = 0;  // index of the claim that is being created or deleted
  std::optional<Change> change_;
  bool begun_ = false;
  bool is_rolling_back_ = false;
  std::int64_t made_ = 0;
  int tries_ = 0;
  Instant not_before_{};
};

/// Deletes a claim and thereby its node.
Change delete_claim(const Ref& claim);

}  // namespace capstan::actuate
