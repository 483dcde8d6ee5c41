#include "operator/snapshot/claim_times.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "kube/well_known_labels.h"

namespace capstan::op {
namespace {

std::string_view pool_of(const kube::NodeClaim& claim) { return claim.meta.labels.get(kube::labels::kNodePool); }

std::optional<Instant> ready_at(const kube::NodeClaim& claim) {
  const kube::Condition* done = kube::find_condition(claim.conditions, "Initialized");
  if (done == nullptr || !done->is_true || !done->since.is_set()) return std::nullopt;
  return instant_of(done->since);
}

}  // namespace

ClaimTimes::ClaimTimes(const kube::StoreSnapshot<kube::NodeClaim>& claims) {
  claims.for_each([&](kube::RowId, const kube::NodeClaim& claim) {
    const std::optional<Instant> ready = ready_at(claim);
    if (!ready) return;
    Duration& longest = longest_[std::string(pool_of(claim))];
    longest = std::max(longest, *ready - instant_of(claim.meta.created_at));
  });
}

Instant ClaimTimes::expected_ready_at(const kube::NodeClaim& claim) const {
  if (const std::optional<Instant> ready = ready_at(claim)) return *ready;
  const auto found = longest_.find(pool_of(claim));
  return found == longest_.end() ? Instant::never() : instant_of(claim.meta.created_at) + found->second;
}

}  // namespace capstan::op
