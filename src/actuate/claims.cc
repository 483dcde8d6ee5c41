#include "actuate/claims.h"

#include <utility>

#include "kube/meta.h"

namespace capstan::actuate {

using kube::is_terminating;
using kube::Json;
using model::ReasonCode;
using Decision = Change::Decision;

namespace {

constexpr Duration kGiveBackPause = std::chrono::seconds(1);

}  // namespace

Change delete_claim(const Ref& claim) {
  return {claim, [object = claim.object](Json now) {
            if (is_terminating(now)) return Decision::settled();
            return Decision::to_write(
                kube::remove(object, {.uid = std::string(now["metadata"]["uid"].text()), .resource_version = {}}));
          }};
}

kube::ObjectRef LaunchGroup::claim(std::int64_t index) const {
  return {kube::resources::kNodeClaims, {}, claim_name(group_, index)};
}

Change LaunchGroup::create(std::int64_t index) const {
  const auto decide = [name = group_.name](Json now) {
    const bool is_own_claim = now["metadata"]["labels"][kClaimGroup].text() == name && !is_terminating(now);
    return is_own_claim ? Decision::settled() : Decision::refuse({ReasonCode::object_contended, {1}});
  };
  return Change::by_creating(claim(index), kube::create(claim(index), claim_body(group_, index)), decide);
}

Change LaunchGroup::discard(std::int64_t index) const {
  const kube::ObjectRef object = claim(index);
  return {{object, {}}, [object, name = group_.name](Json now) {
            if (is_terminating(now) || now["metadata"]["labels"][kClaimGroup].text() != name)
              return Decision::settled();
            return Decision::to_write(
                kube::remove(object, {.uid = std::string(now["metadata"]["uid"].text()), .resource_version = {}}));
          }};
}

/// Starts to delete the claims, from the current one back to the first.
void LaunchGroup::delete_claims() {
  if (std::exchange(is_rolling_back_, true)) return;
  change_.reset();
  at_ = std::min(at_, group_.count - 1);
}

Step LaunchGroup::next(Instant now) {
  if (now < not_before_) return Step::wait(not_before_);
  for (;;) {
    if (is_rolling_back_ ? at_ < 0 : at_ == group_.count) break;
    if (!change_) change_.emplace(is_rolling_back_ ? discard(at_) : create(at_));
    if (change_->in_progress()) return Step::send(change_->request());
    const bool settled = change_->state() == Change::State::settled;
    const bool refused = change_->state() == Change::State::refused;
    change_.reset();
    if (is_rolling_back_ && refused && ++tries_ < kGiveBackTries) {
      not_before_ = now + kGiveBackPause;
      return Step::wait(not_before_);
    }
    if (is_rolling_back_) {
      --at_;
    } else if (settled) {
      ++made_;
      ++at_;
    } else if (begun_) {
      delete_claims();
    } else {
      return Step::done(EffectResult::refused({ReasonCode::claims_given_back, {0, group_.count}}));
    }
  }
  if (!is_rolling_back_) return Step::done(EffectResult::applied());
  const model::Reason why{ReasonCode::claims_given_back, {made_, group_.count}};
  return Step::done(tries_ < kGiveBackTries ? EffectResult::refused(why) : EffectResult::unknown(why));
}

void LaunchGroup::answered(const kube::Outcome& outcome, Instant) {
  change_->answered(outcome);
  if (change_->in_doubt() || change_->state() == Change::State::settled) begun_ = true;
}

}  // namespace capstan::actuate
