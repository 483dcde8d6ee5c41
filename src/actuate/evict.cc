#include "actuate/evict.h"

#include <algorithm>
#include <utility>

#include "kube/meta.h"

namespace capstan::actuate {

using model::ReasonCode;

Evict::Evict(Ref pod, RandomStream random, Duration time_limit)
    : pod_(std::move(pod)), random_(random), time_limit_(time_limit), change_(ask()) {}

Change Evict::ask() const {
  const kube::ApiRequest eviction = kube::evict_pod(pod_.object, {.uid = pod_.uid, .resource_version = {}});
  return Change::by_writing(pod_, eviction, [eviction](kube::Json pod) {
    return kube::is_terminating(pod) ? Change::Decision::settled() : Change::Decision::to_write(eviction);
  });
}

Step Evict::next(Instant now) {
  if (now < not_before_) return Step::wait(not_before_);
  if (change_.in_progress()) return Step::send(change_.request());
  const bool is_deleted = change_.state() == Change::State::gone;
  return Step::done(is_deleted ? EffectResult::applied() : change_.verdict());
}

void Evict::answered(const kube::Outcome& outcome, Instant now) {
  change_.answered(outcome);
  if (change_.state() != Change::State::refused || change_.error().code != 429) return;
  if (!held_since_) held_since_ = now;
  const Duration pause = std::max(change_.error().retry_after, pause_);
  const Instant retry_at = now + pause + Duration(random_.between(0, pause.count() / 8));
  if (retry_at - *held_since_ > time_limit_) {
    return change_.refuse({ReasonCode::eviction_held, {}});
  }
  not_before_ = retry_at;
  pause_ = std::min(2 * pause_, kPauseMax);
  change_ = ask();
}

}  // namespace capstan::actuate
