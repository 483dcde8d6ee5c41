#include "actuate/runner.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/assert.h"
#include "base/known_row.h"

namespace capstan::actuate {

using model::ReasonCode;

namespace {

/// Pause before the next attempt of a partly applied effect that is halted.
constexpr Duration kHaltedPause = std::chrono::seconds(1);

model::Reason reason_of(Permit permit) {
  switch (permit) {
    case Permit::none:
      return {ReasonCode::lease_lost, {}};
    case Permit::stale_view:
      return {ReasonCode::view_too_old, {}};
    default:
      return {ReasonCode::halted, {}};
  }
}

/// Returns true if the same request may succeed later: it changed nothing, and the answer does not depend on the
/// object.
bool is_retryable(const kube::ApiRequest& request, const kube::Outcome& outcome) {
  if (outcome.kind == kube::Outcome::Kind::unreachable) return true;
  if (outcome.kind != kube::Outcome::Kind::refused) return false;
  if (outcome.error.code == 401) return true;  // new credentials are on the way
  return (outcome.error.code == 429 && request.retry_when_busy) ||
         (outcome.error.code >= 500 && !kube::is_write(request.verb));
}

}  // namespace

Runner::Runner(kube::Client& client, net::Clock clock, Fence fence, RandomStream random, Options options)
    : client_(client), clock_(std::move(clock)), fence_(std::move(fence)), random_(random), options_(options) {}

Runner::~Runner() {
  for (const auto& [id, entry] : entries_) {
    if (entry.call != 0) client_.cancel(entry.call);
  }
}

void Runner::submit(std::string key, model::ActionToken token, std::unique_ptr<Effect> effect) {
  if (entries_.size() >= options_.effects_max) {
    return answer(token, EffectResult::refused({ReasonCode::too_many_effects, {static_cast<std::int64_t>(size())}}));
  }
  Entry& entry = entries_[++last_id_];
  entry.key = std::move(key);
  entry.token = token;
  entry.effect = std::move(effect);
  next_ = Instant{};
}

bool Runner::take_over(std::string_view key, model::ActionToken token) {
  const auto found = std::ranges::find_if(entries_, [&](const auto& e) { return e.second.key == key; });
  if (found == entries_.end()) return false;
  report(found->second, EffectResult::refused({ReasonCode::superseded, {}}));
  found->second.token = token;
  next_ = Instant{};
  return true;
}

bool Runner::busy(std::string_view key) const {
  return std::ranges::any_of(entries_, [&](const auto& e) { return e.second.key == key; });
}

void Runner::answer(model::ActionToken token, EffectResult verdict) {
  if (token.valid()) outcomes_.push_back({token, verdict.kind, verdict.why});
}

void Runner::report(Entry& entry, EffectResult verdict) {
  answer(std::exchange(entry.token, model::ActionToken()), verdict);
}

std::vector<ports::Outcome> Runner::take_outcomes() { return std::exchange(outcomes_, {}); }

void Runner::run_once() {
  const Instant now = clock_();
  next_ = Instant::never();
  std::set<std::string> taken;  // keys of the effects before this one
  for (auto at = entries_.begin(); at != entries_.end();) {
    Entry& entry = at->second;
    bool over = false;
    if (entry.call == 0 && fence_() == Permit::none) {
      over = stop(entry, Permit::none, now);
    } else if (taken.insert(entry.key).second && entry.call == 0) {
      if (now >= entry.not_before) {
        over = drive(at->first, entry, now);
      } else {
        next_ = std::min(next_, entry.not_before);
      }
    }
    if (over) next_ = Instant{};  // another effect may wait for the key
    at = over ? entries_.erase(at) : std::next(at);
  }
}

/// Takes the next step of an effect. Returns true if the effect has ended.
bool Runner::drive(Id id, Entry& entry, Instant now) {
  Step step = entry.effect->next(now);
  switch (step.kind) {
    case Step::Kind::done:
      report(entry, step.verdict);
      return true;
    case Step::Kind::wait:
      next_ = std::min(next_, step.until);
      return false;
    case Step::Kind::send:
      entry.allowed_when_halted = step.allowed_when_halted;
      if (kube::is_write(step.request.verb)) {
        if (const Permit permit = fence_(); !may_send(entry, permit)) return stop(entry, permit, now);
      }
      send(id, entry, std::move(step));
      return false;
  }
  CAPSTAN_ASSERT(false);
}

void Runner::send(Id id, Entry& entry, Step step) {
  kube::ApiRequest request = std::move(step.request);
  if (kube::is_write(request.verb)) {
    request.may_send = [this, id] {
      Entry& asking = known_row(entries_, id);
      const Permit permit = fence_();
      const bool may = may_send(asking, permit);
      if (!may) asking.stopped_by = permit;
      return may;
    };
  }
  kube::ApiRequest sent;
  sent.verb = request.verb;
  sent.retry_when_busy = request.retry_when_busy;
  entry.call = client_.call(std::move(request), [this, id, sent = std::move(sent)](const kube::Outcome& outcome) {
    answered(id, sent, outcome);
  });
}

bool Runner::may_send(const Entry& entry, Permit permit) const {
  return permit == Permit::all || (permit != Permit::none && entry.allowed_when_halted);
}

void Runner::answered(Id id, const kube::ApiRequest& request, const kube::Outcome& outcome) {
  const auto at = entries_.find(id);
  CAPSTAN_ASSERT(at != entries_.end());
  Entry& entry = at->second;
  const Instant now = clock_();
  entry.call = 0;
  bool over = false;
  if (const Permit by = std::exchange(entry.stopped_by, Permit::all); by != Permit::all) {
    over = stop(entry, by, now);
  } else if (is_retryable(request, outcome)) {
    over = back_off(entry, outcome.error, now);
  } else {
    entry.effect->answered(outcome, now);
    if (outcome.kind == kube::Outcome::Kind::unknown) {
      over = back_off(entry, outcome.error, now);
    } else if (kube::is_write(request.verb)) {
      entry.backoff.succeeded();
      entry.failing_since = Instant::never();
    }
  }
  if (over) entries_.erase(at);
  next_ = Instant{};
}

/// Handles a write that may not be sent. Returns true if the effect has ended.
bool Runner::stop(Entry& entry, Permit permit, Instant now) {
  const bool is_partial = entry.effect->progress() == Progress::partial;
  if (permit == Permit::none || !is_partial) {
    end_early(entry, reason_of(permit));
    return true;  // if the effect is partial, the next leader finishes or rolls back the rest
  }
  entry.effect->halt();
  entry.not_before = now + kHaltedPause;
  entry.failing_since = std::min(entry.failing_since, now);
  if (now - entry.failing_since >= options_.give_up_after) end_early(entry, reason_of(permit));
  return false;
}

/// Waits before the next attempt, and gives up after the time limit. Returns true if the effect has ended.
bool Runner::back_off(Entry& entry, const kube::ApiError& error, Instant now) {
  entry.not_before = now + std::max(entry.backoff.after_failure(random_), error.retry_after);
  entry.failing_since = std::min(entry.failing_since, now);
  return now - entry.failing_since >= options_.give_up_after &&
         end_early(entry, {ReasonCode::api_silent, {whole_seconds(options_.give_up_after)}});
}

/// Reports an outcome from the progress so far, without waiting for the effect to end. Returns true if the effect may
/// be dropped.
bool Runner::end_early(Entry& entry, model::Reason why) {
  const Progress progress = entry.effect->progress();
  report(entry, progress == Progress::none ? EffectResult::refused(why) : EffectResult::unknown(why));
  return progress != Progress::partial;
}

}  // namespace capstan::actuate
