#include "actuate/change_all.h"

namespace capstan::actuate {

Step ChangeAll::next(Instant) {
  for (; at_ < changes_.size(); ++at_) {
    const Change& change = changes_[at_];
    if (change.in_progress()) return Step::send(change.request());
    if (change.state() == Change::State::refused) {
      refused_ = change.why();
      done_any_ = done_any_ || change.in_doubt();
    } else {
      done_any_ = true;
    }
  }
  if (!refused_) return Step::done(EffectResult::applied());
  return Step::done(done_any_ ? EffectResult::unknown(*refused_) : EffectResult::refused(*refused_));
}

void ChangeAll::answered(const kube::Outcome& outcome, Instant) { changes_[at_].answered(outcome); }

Progress ChangeAll::progress() const {
  const bool in_doubt = at_ < changes_.size() && changes_[at_].in_doubt();
  return done_any_ || in_doubt ? Progress::in_doubt : Progress::none;
}

}  // namespace capstan::actuate
