#include "actuate/scale_to.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace capstan::actuate {

using model::ReasonCode;

namespace {

bool contains(const std::vector<Ref>& pods, const std::string& uid) {
  return std::ranges::find(pods, uid, &Ref::uid) != pods.end();
}

}  // namespace

ScaleTo::ScaleTo(std::shared_ptr<const ScaleGoal> goal, kube::WallClock wall)
    : goal_(std::move(goal)), wall_(std::move(wall)), revision_(goal_->revision) {
  for (const ScaleGoal::DrainedPod& entry : goal_->drained) drained_.emplace(entry.pod.uid, entry);
}

Progress ScaleTo::progress() const {
  const bool scaling = change_ && task_ == Task::scale && change_->in_doubt();
  return scaling ? Progress::in_doubt : Progress::none;
}

Step ScaleTo::next(Instant now) {
  for (;;) {
    if (change_ && change_->in_progress()) {
      const bool outdated = revision_ != goal_->revision || (task_ == Task::scale && lost() > 0);
      if (change_->in_doubt() || !outdated) return Step::send(change_->request());
      change_.reset();  // its last write has a known outcome
    }
    if (change_) finished(now);
    change_.reset();
    if (std::exchange(revision_, goal_->revision) != goal_->revision) {
      scaled_ = false;
      ending_.reset();
    }
    if (std::optional<Step> step = plan(now)) return std::move(*step);
  }
}

void ScaleTo::answered(const kube::Outcome& outcome, Instant) { change_->answered(outcome); }

/// Returns how many of the replicas that served at the decision are gone. It is 0 unless the goal is a scale-down.
std::int64_t ScaleTo::lost() const {
  if (!lowers()) return 0;
  return goal_->lost +
         std::ranges::count_if(gone_, [&](const auto& entry) { return contains(goal_->victims, entry.first); });
}

void ScaleTo::start(Task task, Change change) {
  task_ = task;
  change_.emplace(std::move(change));
}

/// Evaluates the change that has ended.
void ScaleTo::finished(Instant now) {
  const Ref& ref = change_->ref();
  const bool settled = change_->state() == Change::State::settled;
  switch (task_) {
    case Task::check_owner:
      owner_checked_ = settled;
      if (!settled) refuse(change_->why());
      return;
    case Task::put_back:
      drained_.erase(ref.uid);
      return;
    case Task::unmark:
      marked_.erase(ref.uid);
      return;
    case Task::take_out:
      if (settled) drained_.try_emplace(ref.uid, ScaleGoal::DrainedPod{ref, now});
      if (change_->state() == Change::State::gone) gone_.emplace(ref.uid, ref);
      if (change_->state() == Change::State::refused) refuse(change_->why());
      return;
    case Task::mark:
      // A failed write of pod-deletion-cost matters only with a router label. The victim is then still ready, so the
      // ReplicaSet may delete a serving pod instead. With a readiness gate the victim is not ready, so the ReplicaSet
      // deletes it first. An engine that drains itself cuts no request, whichever pod is deleted.
      if (change_->state() == Change::State::refused && goal_->means.kind == DrainMeans::Kind::router_label) {
        refuse(change_->why());
        return;
      }
      marked_.emplace(ref.uid, ref);
      return;
    case Task::scale:
      scaled_ = settled;
      if (!settled) ending_ = change_->verdict();
      return;
  }
  CAPSTAN_ASSERT(false);
}

/// Starts the next change and returns nothing. If no change is possible now, returns a step instead. Also returns
/// nothing after it refuses a drain whose pods report no load; the next call then puts the pods back.
std::optional<Step> ScaleTo::plan(Instant now) {
  if (scaled_) return Step::done(EffectResult::applied());
  if (!ending_ && goal_->is_cancelled) refuse({ReasonCode::superseded, {}});
  if (!ending_ && lost() > 0) refuse({ReasonCode::replicas_lost, {lost()}});
  if (!ending_ && !owner_checked_) {
    start(Task::check_owner, check_owner(goal_->target));
    return std::nullopt;
  }
  if (!ending_ && lowers() && goal_->means.kind == DrainMeans::Kind::none) refuse({ReasonCode::drain_unsafe, {}});
  if (undo_one_step()) return std::nullopt;
  if (ending_) return Step::done(*ending_);
  if (goal_->means.drains_by_router() && take_out_one()) return std::nullopt;
  Instant until = Instant::never();
  switch (drain_state(now, until)) {
    case Drain::waiting:
      return Step::wait(until);
    case Drain::silent:
      refuse({ReasonCode::drain_silent,
              {silent_, static_cast<std::int64_t>(goal_->victims.size()), whole_seconds(goal_->drain_limit)}});
      return std::nullopt;
    case Drain::done:
      break;
  }
  if (!mark_one()) start(Task::scale, set_replicas(goal_->target, goal_->requested_before, goal_->desired));
  return std::nullopt;
}

/// Undoes one step for a pod that stays: removes its deletion mark or, if it has none, puts it back into the router. A
/// pod stays if it is not a victim, or if the effect ends without scaling (`ending_`). Returns false if nothing is left
/// to undo.
bool ScaleTo::undo_one_step() {
  const auto stays = [&](const auto& entry) { return ending_ || !contains(goal_->victims, entry.first); };
  if (const auto marked = std::ranges::find_if(marked_, stays); marked != marked_.end()) {
    start(Task::unmark, mark_for_deletion(marked->second, false));
    return true;
  }
  if (const auto found = std::ranges::find_if(drained_, stays); found != drained_.end()) {
    start(Task::put_back, set_serving(found->second.pod, goal_->means, true, wall_()));
    return true;
  }
  return false;
}

bool ScaleTo::take_out_one() {
  for (const Ref& victim : goal_->victims) {
    if (drained_.contains(victim.uid)) continue;
    start(Task::take_out, set_serving(victim, goal_->means, false, wall_()));
    return true;
  }
  return false;
}

bool ScaleTo::mark_one() {
  if (!goal_->can_mark) return false;
  for (const Ref& victim : goal_->victims) {
    if (marked_.contains(victim.uid)) continue;
    start(Task::mark, mark_for_deletion(victim, true));
    return true;
  }
  return false;
}

/// Checks whether the victims have finished their requests. If some have not, sets `until` to the time at which the
/// first of them reaches its drain limit.
ScaleTo::Drain ScaleTo::drain_state(Instant now, Instant& until) {
  if (!goal_->means.drains_by_router()) return Drain::done;
  bool waiting = false;
  silent_ = 0;
  for (const Ref& victim : goal_->victims) {
    const auto found = drained_.find(victim.uid);
    if (found == drained_.end() || goal_->never_served.contains(victim.uid)) continue;  // the pod has no requests
    const Instant since = found->second.since;
    const auto load = goal_->loads.find(victim.uid);
    const bool heard =
        load != goal_->loads.end() && load->second.usable && load->second.measured_at >= since + kRouterLag;
    if (heard && load->second.requests == 0) continue;
    const Instant limit = since + goal_->drain_limit;
    if (now < limit) {
      waiting = true;
      until = std::min(until, limit);
    } else if (!heard) {
      silent_ += 1;
    }
  }
  if (waiting) return Drain::waiting;
  return silent_ > 0 ? Drain::silent : Drain::done;
}

}  // namespace capstan::actuate
