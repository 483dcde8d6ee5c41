#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "actuate/node_claim.h"

namespace capstan::actuate {

/// Makes the claims of a group, all or none: where one cannot be made, those that were are deleted. Their names follow
/// from the group's, so that making them again finds those that are there.
class LaunchGroup : public Effect {
 public:
  /// A claim that cannot be deleted is tried again once a second, this often.
  static constexpr int kGiveBackTries = 30;

  explicit LaunchGroup(ClaimGroup group) : group_(std::move(group)) {}

  Step next(Instant now) override;
  void answered(const kube::Outcome& outcome, Instant now) override;
  Standing standing() const override { return begun_ ? Standing::in_part : Standing::nothing; }
  void halt() override { give_back(); }

 private:
  kube::ObjectRef claim(std::int64_t index) const;
  Change create(std::int64_t index) const;
  Change discard(std::int64_t index) const;
  void give_back();

  ClaimGroup group_;
  std::int64_t at_ = 0;  // the claim that is being made, or deleted
  std::optional<Change> change_;
  bool begun_ = false;
  bool giving_back_ = false;
  std::int64_t made_ = 0;
  int tries_ = 0;
  Instant not_before_{};
};

/// Deletes a claim, and with it its node: one of a group that is released, or the one of a node that is given back.
Change delete_claim(const Ref& claim);

}  // namespace capstan::actuate
