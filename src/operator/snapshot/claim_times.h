#pragma once

#include <map>
#include <string>

#include "base/time.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {

/// The time that a claim takes to become a node that accepts pods: for each pool, the longest time that one of its
/// existing claims took.
class ClaimTimes {
 public:
  explicit ClaimTimes(const kube::StoreSnapshot<kube::NodeClaim>& claims);
  /// Returns the time at which the claim was initialized, or else a prediction of it. Returns never if no claim of its
  /// pool was initialized.
  Instant expected_ready_at(const kube::NodeClaim& claim) const;

 private:
  std::map<std::string, Duration, std::less<>> longest_;
};

}  // namespace capstan::op
