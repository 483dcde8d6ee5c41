#pragma once

#include <map>
#include <string>

#include "base/time.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {

/// How long claims take to become nodes that take pods, by pool: the longest of those that have and still exist.
class ClaimTimes {
 public:
  explicit ClaimTimes(const kube::StoreSnapshot<kube::NodeClaim>& claims);
  /// When it was, or by the others of its pool will be, initialized; never where none of them has been.
  Instant expected_ready_at(const kube::NodeClaim& claim) const;

 private:
  std::map<std::string, Duration, std::less<>> longest_;
};

}  // namespace capstan::op
