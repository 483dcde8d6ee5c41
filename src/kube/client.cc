#include "kube/client.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace capstan::kube {
namespace {

/// After 429 without a word on how long to wait.
constexpr Duration kBusyPause = std::chrono::seconds(1);
/// How long a request waits for credentials.
constexpr Duration kCredentialsMax = std::chrono::seconds(40);
/// A server ends a watch at its time; it gets so much more before it counts as silent.
constexpr Duration kWatchGrace = std::chrono::seconds(30);
/// Of a watch's answer that is an error, as much as a Status needs.
constexpr std::size_t kErrorBodyMax = 64u << 10;

ApiError no_answer(std::string message) {
  ApiError error;
  error.message = std::move(message);
  return error;
}

std::string said_by(std::string_view what, const std::string& where) {
  return where.empty() ? std::string() : std::string(what) + where;
}

bool success(int status) { return status >= 200 && status < 300; }

/// Whether a write that was answered so may have been done all the same: the answer is that of a server, or of
/// something between, that gave up waiting.
bool leaves_open(const ApiError& error) { return error.code >= 500 && error.code != 501; }

Outcome::Kind kind_of(Verb verb, const ApiError& error) {
  return is_write(verb) && leaves_open(error) ? Outcome::Kind::unknown : Outcome::Kind::refused;
}

}  // namespace

struct Client::Call {
  CallId id = 0;
  ApiRequest request;
  Handler handler;                    // of a call
  StreamHandler stream;               // of a stream
  std::optional<LineSplitter> lines;  // of a stream
  net::RequestId exchange = 0;        // 0: waits to be sent
  Instant heard_at{};                 // or sent, while nothing was heard
  Instant not_before{};
  Instant give_up_at = Instant::never();  // without credentials
  int busy_retries = 0;
  bool signed_anew = false;
  int status = 0;
  std::string error_body;  // of a stream whose answer is an error
};

Client::Client(net::Transport& transport, Credentials& credentials, net::Clock clock, RandomStream random,
               Options options)
    : transport_(transport),
      credentials_(credentials),
      clock_(std::move(clock)),
      random_(random),
      options_(options),
      bucket_(options.requests_per_second, options.burst) {}

Client::~Client() {
  for (const auto& [id, call] : calls_) {
    if (call->exchange != 0) transport_.cancel(call->exchange);
  }
}

Client::CallId Client::add(std::shared_ptr<Call> call) {
  const CallId id = ++last_id_;
  call->id = id;
  call->give_up_at = clock_() + kCredentialsMax;
  if (call->request.urgent) {
    waiting_.push_front(id);
  } else {
    waiting_.push_back(id);
  }
  calls_.emplace(id, std::move(call));
  return id;
}

Client::CallId Client::call(ApiRequest request, Handler handler) {
  auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->handler = std::move(handler);
  return add(std::move(call));
}

Client::CallId Client::stream(ApiRequest request, StreamHandler handler) {
  auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->stream = std::move(handler);
  call->lines.emplace(options_.event_bytes_max);
  return add(std::move(call));
}

void Client::cancel(CallId id) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  if (found->second->exchange != 0) transport_.cancel(found->second->exchange);
  std::erase(waiting_, id);
  calls_.erase(found);
}

void Client::turn() {
  const Instant now = clock_();
  credentials_.turn(now);
  while (waiting_.size() > options_.queue_max) {
    const CallId last = waiting_.back();
    waiting_.pop_back();
    ++counters_.refused_by_queue;
    finish(last,
           {.kind = Outcome::Kind::unreachable, .error = no_answer("too many requests wait to be sent"), .body = {}});
  }
  // A handler may make calls: those that were there are gone through once, and what cannot be sent yet keeps its place.
  std::deque<CallId> left;
  for (const CallId id : std::exchange(waiting_, {})) {
    const auto found = calls_.find(id);
    if (found == calls_.end()) continue;  // cancelled by a handler
    Call& call = *found->second;
    if (!credentials_.ready() && now >= call.give_up_at) {
      const std::string why = credentials_.error() ? credentials_.error()->text() : "no credentials yet";
      finish(id, {.kind = Outcome::Kind::unreachable, .error = no_answer(why), .body = {}});
    } else if (!send(call, now)) {
      left.push_back(id);
    }
  }
  waiting_.insert(waiting_.begin(), left.begin(), left.end());
}

Instant Client::next_deadline() const {
  Instant next = credentials_.next_deadline();
  for (const CallId id : waiting_) {
    const Call& call = *calls_.at(id);
    if (!credentials_.ready()) {
      next = std::min(next, call.give_up_at);
    } else {
      next = std::min(next, call.request.urgent ? call.not_before : std::max(call.not_before, bucket_.next()));
    }
  }
  return next;
}

/// Whether the request has left the queue.
bool Client::send(Call& call, Instant now) {
  if (!credentials_.ready() || now < call.not_before) return false;
  const CallId id = call.id;
  if (call.request.may_send && !call.request.may_send()) {
    finish(id, {.kind = Outcome::Kind::unreachable, .error = no_answer("not allowed to be sent by then"), .body = {}});
    return true;
  }
  if (!call.request.urgent && !bucket_.take(now)) return false;
  net::Handler handler;
  handler.on_done = [this, id](net::Exchange exchange) { answered(id, std::move(exchange)); };
  if (call.lines) {
    handler.on_headers = [&call](const net::Response& response) { call.status = response.status; };
    handler.on_body = [this, id](std::string_view piece) { line_piece(id, piece); };
  }
  call.heard_at = now;
  call.exchange = transport_.start(http_request(call), std::move(handler));
  return true;
}

net::Request Client::http_request(const Call& call) const {
  net::Request http;
  http.method = call.request.method;
  http.url = credentials_.config().server + call.request.path;
  http.headers.push_back({"Accept", call.request.accept});
  if (!call.request.content_type.empty()) http.headers.push_back({"Content-Type", call.request.content_type});
  http.body = call.request.body;
  http.limits.body_bytes = call.lines ? 0 : options_.body_bytes_max;
  http.limits.total = call.lines                          ? call.request.watch_timeout + kWatchGrace
                      : call.request.timeout > Duration{} ? call.request.timeout
                      : is_write(call.request.verb)       ? options_.write_timeout
                                                          : options_.read_timeout;
  if (call.lines) http.limits.idle = options_.watch_idle;
  credentials_.sign(http);
  return http;
}

void Client::line_piece(CallId id, std::string_view piece) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  const std::shared_ptr<Call> kept = found->second;  // a handler may cancel this call
  Call& call = *kept;
  call.heard_at = clock_();
  if (!success(call.status)) {
    call.error_body += piece.substr(0, kErrorBodyMax - std::min(kErrorBodyMax, call.error_body.size()));
    return;
  }
  bool wanted = true;
  const bool whole = call.lines->take(
      piece, [&](std::string_view line) { return wanted = call.stream.on_line(line) && calls_.contains(id); });
  if (!wanted) {
    cancel(id);
  } else if (!whole) {
    transport_.cancel(call.exchange);
    const ApiError error = no_answer("an event is larger than its bound");
    finish(id, {.kind = Outcome::Kind::unreachable, .error = error, .body = {}});
  }
}

void Client::answered(CallId id, net::Exchange exchange) {
  const auto found = calls_.find(id);
  CAPSTAN_ASSERT(found != calls_.end());
  const std::shared_ptr<Call> kept = found->second;  // a handler may cancel this call
  Call& call = *kept;
  call.exchange = 0;
  const Verb verb = call.request.verb;
  ++counters_.answers[{verb, exchange.ok() ? exchange.response.status : 0}];
  if (call.request.urgent && !exchange.ok()) {  // sent or not: a new connection may not have got through its handshake
    lost_at_ = clock_();
  } else if (exchange.ok()) {
    drop_silent();
    if (!calls_.contains(id)) return;
  }
  if (!exchange.ok()) {
    const bool open = exchange.sent && is_write(verb);
    finish(id, {.kind = open ? Outcome::Kind::unknown : Outcome::Kind::unreachable,
                .error = no_answer(with_trust(std::move(exchange))),
                .body = {}});
    return;
  }
  if (success(exchange.response.status)) {
    finish(id, {.kind = Outcome::Kind::ok, .error = {}, .body = std::move(exchange.response.body)});
    return;
  }
  if (call.lines) exchange.response.body = std::move(call.error_body);
  ApiError error = error_of(exchange.response);
  if (error.code == 401) error.message += said_by("; who we are: ", credentials_.config().identity_from);
  if (!again(call, error, clock_())) finish(id, {.kind = kind_of(verb, error), .error = error, .body = {}});
}

/// The words of an exchange that failed; where the server is not trusted, also where it is said whom to trust.
std::string Client::with_trust(net::Exchange exchange) const {
  if (exchange.failure != net::Failure::tls) return std::move(exchange.message);
  return exchange.message + said_by("; whom to trust: ", credentials_.config().trust_from);
}

/// The server answers again: what was sent before it fell silent, and is silent since, has lost its connection.
void Client::drop_silent() {
  if (!lost_at_) return;
  std::vector<CallId> silent;
  for (const auto& [id, call] : calls_) {
    if (call->exchange != 0 && call->heard_at <= *lost_at_) silent.push_back(id);
  }
  lost_at_.reset();
  for (const CallId id : silent) {
    const auto found = calls_.find(id);
    if (found == calls_.end()) continue;  // cancelled by a handler
    Call& call = *found->second;
    transport_.cancel(std::exchange(call.exchange, 0));
    finish(id, {.kind = is_write(call.request.verb) ? Outcome::Kind::unknown : Outcome::Kind::unreachable,
                .error = no_answer("its connection fell silent"),
                .body = {}});
  }
}

/// Whether the request is sent once more: it did nothing, and the server would take it later, or from somebody whose
/// token is younger.
bool Client::again(Call& call, const ApiError& error, Instant now) {
  if (error.code == 401 && !call.signed_anew) {
    call.signed_anew = true;
    credentials_.refused();
    call.give_up_at = now + kCredentialsMax;
  } else if (error.code == 429 && call.request.retry_when_busy && call.busy_retries < options_.busy_retries_max) {
    call.busy_retries += 1;
    const Duration pause = std::max(error.retry_after, kBusyPause);
    call.not_before = now + pause + Duration(random_.between(0, pause.count() / 8));
  } else {
    return false;
  }
  ++counters_.retries;
  call.error_body.clear();
  call.lines = call.lines ? std::optional<LineSplitter>(options_.event_bytes_max) : std::nullopt;
  waiting_.push_front(call.id);
  return true;
}

void Client::finish(CallId id, Outcome outcome) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  const std::shared_ptr<Call> call = found->second;
  calls_.erase(found);
  if (call->lines) {
    if (call->stream.on_end) call->stream.on_end(outcome.ok() ? nullptr : &outcome.error);
  } else if (call->handler) {
    call->handler(std::move(outcome));
  }
}

}  // namespace capstan::kube
