#include "actuate/runner.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/assert.h"

namespace capstan::actuate {

using model::ReasonCode;

namespace {

/// How often an effect that may not go on while the kill switch is on asks again.
constexpr Duration kHaltedPause = std::chrono::seconds(1);

model::Reason reason_of(Permit permit) {
  switch (permit) {
    case Permit::nothing:
      return {ReasonCode::lease_lost, {}};
    case Permit::see_first:
      return {ReasonCode::view_too_old, {}};
    default:
      return {ReasonCode::halted, {}};
  }
}

/// Whether the same request can succeed later: it changed nothing, and says nothing about the object.
bool passes(const kube::ApiRequest& request, const kube::Outcome& outcome) {
  if (outcome.kind == kube::Outcome::Kind::unreachable) return true;
  if (outcome.kind != kube::Outcome::Kind::refused) return false;
  if (outcome.error.code == 401) return true;  // credentials are renewed
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
    return answer(token, Verdict::refused({ReasonCode::too_many_effects, {static_cast<std::int64_t>(size())}}));
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
  tell(found->second, Verdict::refused({ReasonCode::superseded, {}}));
  found->second.token = token;
  next_ = Instant{};
  return true;
}

bool Runner::busy(std::string_view key) const {
  return std::ranges::any_of(entries_, [&](const auto& e) { return e.second.key == key; });
}

void Runner::answer(model::ActionToken token, Verdict verdict) {
  if (token.valid()) outcomes_.push_back({token, verdict.kind, verdict.why});
}

void Runner::tell(Entry& entry, Verdict verdict) { answer(std::exchange(entry.token, model::ActionToken()), verdict); }

std::vector<ports::Outcome> Runner::take_outcomes() { return std::exchange(outcomes_, {}); }

void Runner::turn() {
  const Instant now = clock_();
  next_ = Instant::never();
  std::set<std::string> taken;  // keys whose turn it is somebody's
  for (auto at = entries_.begin(); at != entries_.end();) {
    Entry& entry = at->second;
    bool over = false;
    if (entry.call == 0 && fence_() == Permit::nothing) {
      over = stopped(entry, Permit::nothing, now);
    } else if (taken.insert(entry.key).second && entry.call == 0) {
      if (now >= entry.not_before) {
        over = drive(at->first, entry, now);
      } else {
        next_ = std::min(next_, entry.not_before);
      }
    }
    if (over) next_ = Instant{};  // whoever waited for the key
    at = over ? entries_.erase(at) : std::next(at);
  }
}

/// Whether the effect is over.
bool Runner::drive(Id id, Entry& entry, Instant now) {
  Step step = entry.effect->next(now);
  switch (step.kind) {
    case Step::Kind::done:
      tell(entry, step.verdict);
      return true;
    case Step::Kind::wait:
      next_ = std::min(next_, step.until);
      return false;
    case Step::Kind::send:
      entry.although_halted = step.although_halted;
      if (kube::is_write(step.request.verb)) {
        if (const Permit permit = fence_(); !may_send(entry, permit)) return stopped(entry, permit, now);
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
      Entry& asking = entries_.at(id);
      const Permit permit = fence_();
      const bool may = may_send(asking, permit);
      if (!may) asking.stopped_by = permit;
      return may;
    };
  }
  kube::ApiRequest kept;
  kept.verb = request.verb;
  kept.retry_when_busy = request.retry_when_busy;
  entry.call = client_.call(std::move(request), [this, id, kept = std::move(kept)](const kube::Outcome& outcome) {
    answered(id, kept, outcome);
  });
}

bool Runner::may_send(const Entry& entry, Permit permit) const {
  return permit == Permit::anything || (permit != Permit::nothing && entry.although_halted);
}

void Runner::answered(Id id, const kube::ApiRequest& request, const kube::Outcome& outcome) {
  const auto at = entries_.find(id);
  CAPSTAN_ASSERT(at != entries_.end());
  Entry& entry = at->second;
  const Instant now = clock_();
  entry.call = 0;
  bool over = false;
  if (const Permit by = std::exchange(entry.stopped_by, Permit::anything); by != Permit::anything) {
    over = stopped(entry, by, now);
  } else if (passes(request, outcome)) {
    over = in_trouble(entry, outcome.error, now);
  } else {
    entry.effect->answered(outcome, now);
    if (outcome.kind == kube::Outcome::Kind::unknown) {
      over = in_trouble(entry, outcome.error, now);
    } else if (kube::is_write(request.verb)) {
      entry.backoff.succeeded();
      entry.trouble_since = Instant::never();
    }
  }
  if (over) entries_.erase(at);
  next_ = Instant{};
}

/// A write may not be sent. Whether the effect is over.
bool Runner::stopped(Entry& entry, Permit permit, Instant now) {
  const bool in_part = entry.effect->standing() == Standing::in_part;
  if (permit == Permit::nothing || !in_part) {
    end_as_it_stands(entry, reason_of(permit));
    return true;  // what is left of it is our successor's
  }
  entry.effect->halt();
  entry.not_before = now + kHaltedPause;
  entry.trouble_since = std::min(entry.trouble_since, now);
  if (now - entry.trouble_since >= options_.patience) end_as_it_stands(entry, reason_of(permit));
  return false;
}

/// Backs off, and gives up in time. Whether the effect is over.
bool Runner::in_trouble(Entry& entry, const kube::ApiError& error, Instant now) {
  entry.not_before = now + std::max(entry.backoff.after_failure(random_), error.retry_after);
  entry.trouble_since = std::min(entry.trouble_since, now);
  return now - entry.trouble_since >= options_.patience &&
         end_as_it_stands(entry, {ReasonCode::api_silent, {whole_seconds(options_.patience)}});
}

/// Tells the outcome without waiting for the effect's own. Whether the effect may be dropped.
bool Runner::end_as_it_stands(Entry& entry, model::Reason why) {
  const Standing standing = entry.effect->standing();
  tell(entry, standing == Standing::nothing ? Verdict::refused(why) : Verdict::unknown(why));
  return standing != Standing::in_part;
}

}  // namespace capstan::actuate
