#include "kube/reflector.h"

#include <utility>

#include "base/assert.h"

namespace capstan::kube {
namespace {

/// A watch that ends sooner than this and without an event was rejected by the server, so the next one backs off.
constexpr Duration kWatchMin = std::chrono::seconds(1);

/// Returns true if the error means that the server does not support watch-list.
bool refuses_watch_list(const ApiError& error) { return error.code == 400 || error.code == 422; }

}  // namespace

Reflector::Reflector(Options options, RandomStream random) : options_(options), random_(random) {
  CAPSTAN_ASSERT(options_.page_objects > 0 && options_.watch_min <= options_.watch_max);
}

std::optional<Reflector::Call> Reflector::poll(Instant now) {
  if (state_ == State::initial_events && now >= call_started_at_ + options_.initial_events_max) {
    // An old server treats a watch-list as a plain watch and never sends the end of the initial events.
    options_.watch_list = false;
    start_over();
    wait(now);
  }
  if (state_ != State::waiting || now < not_before_) return std::nullopt;
  if (!need_all_ && now - fresh_at_ > options_.resume_max) start_over();
  Call call;
  call.serial = ++serial_;
  call_started_at_ = now;
  has_event_ = false;
  if (need_all_ && !options_.watch_list) {
    call.kind = Call::Kind::list;
    call.continue_token = continue_token_;
    call.page_objects = options_.page_objects;
    state_ = State::listing;
    return call;
  }
  call.kind = need_all_ ? Call::Kind::watch_list : Call::Kind::watch;
  call.resource_version = need_all_ ? std::string() : resource_version_;
  call.timeout =
      std::chrono::seconds(random_.between(whole_seconds(options_.watch_min), whole_seconds(options_.watch_max)));
  state_ = need_all_ ? State::initial_events : State::watching;
  return call;
}

Instant Reflector::next_deadline() const {
  if (state_ == State::waiting) return not_before_;
  return state_ == State::initial_events ? call_started_at_ + options_.initial_events_max : Instant::never();
}

Reflector::Step Reflector::page(std::uint64_t serial, const Page& page, Instant now) {
  if (!current(serial) || state_ != State::listing) return {};
  Step step{.begin = continue_token_.empty(), .stage = true, .apply = false, .finish = false, .fresh = false};
  continue_token_ = page.continue_token;
  wait(now);
  if (continue_token_.empty()) {
    finished(page.resource_version, now);
    step.finish = step.fresh = true;
  }
  return step;
}

Reflector::Step Reflector::event(std::uint64_t serial, const Event& event, Instant now) {
  if (!current(serial) || state_ == State::listing) return {};
  if (event.type == Event::Type::error) {
    failed(serial, event.error != nullptr ? *event.error : ApiError(), now);
    return {};
  }
  Step step;
  step.begin = state_ == State::initial_events && !has_event_;
  has_event_ = true;
  if (state_ == State::initial_events) {
    step.stage = event.type != Event::Type::bookmark;
    if (event.type == Event::Type::bookmark && event.initial_events_end) {
      state_ = State::watching;
      finished(event.resource_version, now);
      step.finish = step.fresh = true;
    }
    return step;
  }
  backoff_.succeeded();
  version_expired_ = false;
  last_error_ = {};
  if (!event.resource_version.empty()) resource_version_ = event.resource_version;
  step.apply = event.type != Event::Type::bookmark;
  step.fresh = true;
  fresh_at_ = now;
  return step;
}

void Reflector::ended(std::uint64_t serial, Instant now) {
  if (!current(serial)) return;
  if (state_ == State::initial_events) start_over();
  const bool rejected = !has_event_ && now < call_started_at_ + kWatchMin;
  if (!rejected && state_ == State::watching) backoff_.succeeded();
  wait(rejected || state_ == State::initial_events ? now + backoff_.after_failure(random_) : now);
}

void Reflector::failed(std::uint64_t serial, const ApiError& error, Instant now) {
  if (!current(serial)) return;
  last_error_ = error;
  const State before = state_;
  if (error.expired()) {
    start_over();
  } else if (before == State::initial_events) {
    if (refuses_watch_list(error)) options_.watch_list = false;
    start_over();
  }
  // An answer that the resource version was dropped shows that the server works, so everything is read again at once.
  // After a second such answer in a row, the next read waits.
  const bool first_expiry = error.expired() && !std::exchange(version_expired_, true);
  const bool at_once =
      first_expiry || (before == State::initial_events && refuses_watch_list(error) && backoff_.failures() == 0);
  const Duration pause = backoff_.after_failure(random_);
  wait(at_once ? now : now + std::max(pause, error.retry_after));
}

void Reflector::wait(Instant until) {
  state_ = State::waiting;
  not_before_ = until;
}

void Reflector::start_over() {
  need_all_ = true;
  continue_token_.clear();
  resource_version_.clear();
}

void Reflector::finished(std::string_view resource_version, Instant now) {
  resource_version_ = resource_version;
  fresh_at_ = now;
  continue_token_.clear();
  relists_ += synced_ ? 1 : 0;
  need_all_ = false;
  synced_ = true;
  last_error_ = {};  // the backoff is not reset, because the server may answer lists but refuse every watch
}

}  // namespace capstan::kube
